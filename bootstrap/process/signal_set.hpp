#pragma once

#include <csignal>
#include <initializer_list>

namespace hpcboot {

// Those of the signals that this process does not ignore: under nohup, SIGHUP is to stay ignored.
sigset_t not_ignored(std::initializer_list<int> signals);

// At the limit of the size of files (ulimit -f), writes of this process fail with EFBIG instead of
// ending it. SIGXFSZ is blocked, not ignored: children that are started with a signal mask of their
// own do not inherit it.
void block_size_signal();
// Restores what was before, for exec() in this process.
void restore_size_signal();

}  // namespace hpcboot
