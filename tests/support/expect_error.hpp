#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpcboot/error.hpp"

namespace hpcboot::test {

// Expects that the action throws an Error with this code, and that its text contains every piece.
template <typename Action, typename... Pieces>
void expect_error(ErrorCode code, Action action, const Pieces&... pieces) {
  try {
    action();
    ADD_FAILURE() << "no error; expected " << name_of(code);
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.code()), name_of(code)) << error.what();
    const std::string text = error.what();
    for (const std::string& piece : std::vector<std::string>{pieces...}) {
      EXPECT_NE(text.find(piece), std::string::npos)
          << "'" << piece << "' is missing from: " << text;
    }
  }
}

}  // namespace hpcboot::test
