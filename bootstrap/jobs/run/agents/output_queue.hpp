#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "frames.hpp"

namespace hpcboot::run {

// Bytes of output that an agent sends before `run` has room for more.
constexpr std::size_t kOutputWindow = std::size_t{128} << 10U;

// Output of an agent's ranks that waits until `run` has room for it. Everything else, such as the
// end of a rank, is sent at once and overtakes it.
class OutputQueue {
 public:
  // Is it output, or does it have to follow output?
  static bool takes(FrameKind kind);

  void add(FrameKind kind, std::string payload);
  // `run` has room for that many more bytes.
  void note_room(std::size_t bytes);
  void send_to(FrameChannel& channel);
  // Bytes that wait.
  std::size_t size() const { return size_; }
  bool is_empty() const { return frames_.empty(); }

 private:
  std::deque<Frame> frames_;
  std::size_t size_ = 0;
  std::size_t sent_ = 0;  // bytes for which `run` may not have room
};

}  // namespace hpcboot::run
