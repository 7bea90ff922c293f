#pragma once

#include <chrono>

namespace hpcboot::train {

/// When the kernel started this process, of which loading LibTorch may be a good part; now where
/// /proc does not tell.
std::chrono::steady_clock::time_point start_of_this_process();

}  // namespace hpcboot::train
