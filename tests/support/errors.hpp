#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "hpcboot/error.hpp"

namespace hpcboot::test {

/// The Error that `action` throws; the test fails if it throws none.
inline std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return std::nullopt;
}

}  // namespace hpcboot::test
