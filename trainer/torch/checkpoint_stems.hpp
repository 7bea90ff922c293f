#pragma once

namespace hpcboot {

/// What the names of a sharded checkpoint's files start with.
inline constexpr const char* kModelStem = "model";
inline constexpr const char* kOptimizerStem = "optimizer";

}  // namespace hpcboot
