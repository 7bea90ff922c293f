#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "profile/trace_event.hpp"

namespace hpcboot::train {

/// While it exists, LibTorch does not log warnings. While memory is recorded, it warns of each
/// block that was allocated before.
class LogThreshold {
 public:
  LogThreshold();
  ~LogThreshold();
  LogThreshold(const LogThreshold&) = delete;
  LogThreshold& operator=(const LogThreshold&) = delete;

 private:
  int* glog_;  // null if LibTorch does not use glog
  int glog_before_ = 0;
  int own_;
};

/// Records what LibTorch does on this thread, and on those to which it hands its state: operators
/// with shapes, memory and floating-point operations, marked ranges, and the kernels of a GPU.
class OperatorRecorder {
 public:
  /// Starts to record. One at a time in a process.
  explicit OperatorRecorder(c10::Device device);
  /// Forgets what stop() has not returned.
  ~OperatorRecorder();
  OperatorRecorder(const OperatorRecorder&) = delete;
  OperatorRecorder& operator=(const OperatorRecorder&) = delete;

  /// Ends the recording. @return not sorted
  profile::Recording stop();

 private:
  LogThreshold quiet_;
  bool is_on_ = true;
};

}  // namespace hpcboot::train
