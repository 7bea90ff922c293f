#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "hpcboot/error.hpp"

// libFuzzer calls this with one input after another. A crash, a sanitizer's report, a broken
// property, or anything thrown that is not hpcboot::Error is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hpcboot::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Aborts the program if a property does not hold; libFuzzer reports this with the input.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", property);
  std::abort();
}

/// Runs `action`; an Error is a valid answer to an invalid input, and its parts are never empty.
template <typename Action>
void allow_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    require(!error.found().empty() && !error.expected().empty() && !error.remedy().empty(),
            "an error has all its parts");
  }
}

}  // namespace hpcboot::fuzz
