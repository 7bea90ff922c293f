#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hpcboot::data {

/// Does `work` in a child process first, for a library that bad input may crash. What the work
/// throws does not matter. The child has this thread alone: no lock that another one may hold is to
/// be taken.
/// @return why it must not be done here: "Segmentation fault"; empty if it came to an end, and if
/// there can be no child
std::string trouble_in_child(const std::function<void()>& work, std::chrono::seconds limit);

}  // namespace hpcboot::data
