#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hpcboot::data {

/// Runs `work` in a child process first, for a library that bad input may crash. What the work
/// throws is ignored. The child has only this thread: it must not take a lock that another thread
/// may hold.
/// @return why the work must not be done in this process, such as "Segmentation fault"; empty if it
/// ended, or if no child can be started
std::string trouble_in_child(const std::function<void()>& work, std::chrono::seconds limit);

}  // namespace hpcboot::data
