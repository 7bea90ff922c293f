#pragma once

#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot {

/// A model, an optimizer or a layout that cannot be used in this way: throws
/// Error{invalid_model_use}.
[[noreturn]] inline void refuse(const std::string& found, const std::string& expected,
                                const std::string& remedy = "change one of them") {
  throw Error(ErrorCode::invalid_model_use, found, expected, remedy);
}

}  // namespace hpcboot
