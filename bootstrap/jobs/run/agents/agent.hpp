#pragma once

namespace hpcboot::run {

// The agent of one host: starts the ranks that `hpcboot run`, at the other end of `in` and `out`,
// tells of, and is their parent. They end with that connection, at the latest. What is wrong is
// told there. Both descriptors are closed.
// @return the exit code
int agent_main(int in, int out);

}  // namespace hpcboot::run
