#pragma once

namespace hpcboot {

/// The range in which a profiler shows that the program waits for a collective: a user scope of
/// LibTorch (ATen/record_function.h).
constexpr const char* kCollectiveWait = "wait for ranks";

}  // namespace hpcboot
