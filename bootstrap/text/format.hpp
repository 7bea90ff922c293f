#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "hpcboot/encode.hpp"

namespace hpcboot {

namespace detail {

// How an argument appears in the text: numbers unchanged, other text made safe.
template <typename T>
auto safe_argument(const T& value) {
  if constexpr (std::is_same_v<T, char>) {
    return terminal_text(std::string_view(&value, 1)).str();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, Encoded>) {
    return value.str();
  } else {
    return terminal_text(value).str();
  }
}

template <typename T>
using SafeArgument = decltype(safe_argument(std::declval<const T&>()));

}  // namespace detail

/// fmt::format() for a terminal: the format is the program's own, and every argument that is
/// neither a number nor Encoded passes through terminal_text().
template <typename... Args>
Encoded encoded_format(fmt::format_string<detail::SafeArgument<Args>...> format,
                       const Args&... arguments) {
  return Encoded::as_is(fmt::format(format, detail::safe_argument(arguments)...));
}

}  // namespace hpcboot
