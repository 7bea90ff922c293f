#pragma once

#include <cstdint>
#include <functional>

namespace hpcboot::app {

// What the verbs that draw a data set have in common.

/// @throws UsageError unless both numbers of images are at least 1, and few enough for memory
void check_drawn(std::int64_t train, std::int64_t test);

/// Shows the share that is done on stderr; empty if that is not a terminal.
/// @param what is drawn, such as "digits"
std::function<void(std::int64_t done, std::int64_t total)> drawing_progress(const char* what);

}  // namespace hpcboot::app
