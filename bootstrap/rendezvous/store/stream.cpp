#include "stream.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "wire.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr std::size_t kOneRead = std::size_t{64} << 10U;

bool must_wait(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Stream::Progress Stream::read_some() {
  char bytes[kOneRead];
  const ssize_t count = recv(socket_.fd(), bytes, sizeof bytes, 0);
  if (count < 0) return must_wait(errno) || errno == EINTR ? Progress::none : Progress::ended;
  if (count == 0) return Progress::ended;
  in_.erase(0, used_);
  used_ = 0;
  in_.append(bytes, static_cast<std::size_t>(count));
  return Progress::some;
}

Stream::Next Stream::next_frame(std::string_view& frame) {
  constexpr std::size_t kLength = 4;
  const std::string_view all = rest();
  if (all.size() < kLength) return Next::incomplete;
  std::uint32_t size = 0;
  FrameReader(all).u32(size);
  if (size > kLargestFrame) return Next::broken;
  const std::size_t whole = kLength + size;
  const std::size_t seal_size = guard_.seal_size();
  if (all.size() < whole + seal_size) return Next::incomplete;
  if (!guard_.accepts(all.substr(0, whole), all.substr(whole, seal_size))) return Next::broken;
  frame = all.substr(kLength, size);
  used_ += whole + seal_size;
  return Next::frame;
}

void Stream::put_frame(std::string_view frame) {
  out_ += frame;
  guard_.seal(frame, out_);
}

bool Stream::write_some() {
  while (unsent() > 0) {
    const ssize_t count = send(socket_.fd(), out_.data() + sent_, unsent(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && !must_wait(errno)) return false;
    if (count < 0) break;
    sent_ += static_cast<std::size_t>(count);
  }
  // Not for each piece: that would move the rest of a large answer every time.
  if (sent_ > out_.size() / 2) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  return true;
}

}  // namespace hpcboot::rendezvous
