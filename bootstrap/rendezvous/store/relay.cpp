#include "relay.hpp"

#include "wire.hpp"

namespace hpcboot::rendezvous {
namespace {

// The same request or answer with another number.
std::string renumbered(std::string_view frame, std::uint32_t id) {
  constexpr std::size_t kNumber = 4;
  FrameWriter head;
  head.u32(static_cast<std::uint32_t>(frame.size()));
  head.u32(id);
  return head.bytes() + std::string(frame.substr(kNumber));
}

}  // namespace

bool Relay::handle(Peer peer, std::string_view frame, Clock::time_point) {
  std::uint32_t id = 0;
  // Rank 0 refuses other invalid frames by number; a frame without one would cost the whole host
  // its connection.
  if (frame.size() < kHeaderSize - 4 || !FrameReader(frame).u32(id)) return false;
  while (!asked_.emplace(++last_id_, Asked{peer, id}).second) {
  }
  upstream_.put_frame(renumbered(frame, last_id_));
  return true;
}

// Its answers may still arrive.
void Relay::forget(Peer peer) {
  for (auto& [id, asked] : asked_) {
    if (asked.peer == peer) asked.peer = 0;
  }
}

bool Relay::move() {
  const Stream::Progress progress = upstream_.read_some();
  std::string_view frame;
  Stream::Next next = upstream_.next_frame(frame);
  for (; next == Stream::Next::frame; next = upstream_.next_frame(frame)) {
    std::uint32_t id = 0;
    if (!FrameReader(frame).u32(id)) return false;
    const auto asked = asked_.find(id);
    if (asked == asked_.end()) return false;
    if (asked->second.peer != 0)
      replies_.push_back({asked->second.peer, renumbered(frame, asked->second.id)});
    asked_.erase(asked);
  }
  return progress != Stream::Progress::ended && next != Stream::Next::broken &&
         upstream_.write_some();
}

}  // namespace hpcboot::rendezvous
