#pragma once

// c10d's header of ProcessGroupGloo includes headers of Gloo, which packages of LibTorch leave out;
// those of another version of Gloo could differ from what LibTorch was built with. The files in this
// folder declare what that header needs to be read, and nothing of a layout: hpcboot makes a
// ProcessGroupGloo, which holds pointers to Gloo's objects, and never touches one of those. For
// compat.cpp alone; never installed.

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds getTimeout() const;
};

}  // namespace gloo
