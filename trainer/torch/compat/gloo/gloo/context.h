#pragma once

// c10d's header of ProcessGroupGloo includes headers of Gloo, which LibTorch packages omit; headers
// of another Gloo version could differ from the one LibTorch was built with. The files in this
// folder declare only what that header needs to compile, and no layout: hpcboot constructs a
// ProcessGroupGloo, which holds pointers to Gloo's objects, and never accesses those objects. For
// compat.cpp only; never installed.

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds getTimeout() const;
};

}  // namespace gloo
