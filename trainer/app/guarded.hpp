#pragma once

#include <functional>

namespace hpcboot::app {

/// Runs main() of the trainer: `body`, whose exceptions become messages and exit codes.
int guarded(const std::function<int()>& body);

}  // namespace hpcboot::app
