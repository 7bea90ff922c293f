#pragma once

#include <csignal>
#include <initializer_list>

namespace hpcboot {

// Those of the signals that this process does not ignore: under nohup, SIGHUP is to stay ignored.
sigset_t not_ignored(std::initializer_list<int> signals);

}  // namespace hpcboot
