#pragma once

#include <string_view>

namespace hpcboot {

/// The version of this library, "1.2.3": the one that the project has in its CMakeLists.txt.
std::string_view version() noexcept;

}  // namespace hpcboot
