#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "parallel_calls.hpp"

namespace hpcboot {

/// Calls on the replicas' threads, with the caller's gradient mode and autocast, and the replica's
/// device.
void on_devices(ParallelCalls& calls, const std::vector<c10::Device>& devices, std::size_t count,
                const std::function<void(std::size_t)>& call);

}  // namespace hpcboot
