#pragma once

#include <string>

#include "hpcboot/error.hpp"

namespace hpcboot::estimate {

/// A model or layout that cannot be.
[[noreturn]] inline void refuse(const std::string& found, const std::string& expected,
                                const std::string& remedy = "change one of them") {
  throw Error(ErrorCode::invalid_model_use, found, expected, remedy);
}

}  // namespace hpcboot::estimate
