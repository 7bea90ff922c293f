#include "output_queue.hpp"

#include <algorithm>
#include <utility>

namespace hpcboot::run {

bool OutputQueue::takes(FrameKind kind) {
  return kind == FrameKind::output || kind == FrameKind::error_output ||
         kind == FrameKind::complete;
}

void OutputQueue::add(FrameKind kind, std::string payload) {
  size_ += payload.size();
  frames_.push_back({kind, std::move(payload)});
}

void OutputQueue::note_room(std::size_t bytes) {
  sent_ -= std::min(bytes, sent_);
}

void OutputQueue::send_to(FrameChannel& channel) {
  while (!frames_.empty() && sent_ < kOutputWindow) {
    const Frame& frame = frames_.front();
    channel.send(frame.kind, frame.payload);
    sent_ += frame.payload.size();
    size_ -= frame.payload.size();
    frames_.pop_front();
  }
}

}  // namespace hpcboot::run
