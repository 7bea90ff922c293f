#pragma once

#include <string_view>

namespace hpcboot {

/// The version of this library, "1.2.3", as set in the project's CMakeLists.txt.
std::string_view version() noexcept;

}  // namespace hpcboot
