#pragma once

#include <functional>

#include "support/errors.hpp"

namespace hpcboot {

/// The Error that the action throws. Without one, the test fails, and goes on: the other ranks of
/// the launch do, too.
inline Error error_of(const std::function<void()>& action) {
  return test::error_of(action).value_or(Error(ErrorCode::malformed_value, "-", "-", "-"));
}

}  // namespace hpcboot
