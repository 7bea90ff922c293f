#pragma once

namespace hpcboot::run {

// The agent of one host: starts the ranks that `hpcboot run`, at the other end of `in` and `out`,
// asks for, and is their parent. They end with that connection at the latest, or once it is silent.
// Errors are reported over it. Both descriptors are closed.
// @return the exit code
int agent_main(int in, int out);

}  // namespace hpcboot::run
