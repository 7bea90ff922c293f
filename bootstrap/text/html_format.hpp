#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "hpcboot/encode.hpp"

namespace hpcboot {

namespace detail {

template <typename T>
auto html_argument(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, Encoded>) {
    return value.str();
  } else {
    return html_text(value);
  }
}

template <typename T>
using HtmlArgument = decltype(html_argument(std::declval<const T&>()));

}  // namespace detail

/// fmt::format() for a page: the format is the program's own, and every argument that is neither a
/// number nor Encoded (HTML already) passes through html_text().
template <typename... Args>
Encoded html_format(fmt::format_string<detail::HtmlArgument<Args>...> format,
                    const Args&... arguments) {
  return Encoded::as_is(fmt::format(format, detail::html_argument(arguments)...));
}

}  // namespace hpcboot
