#include "frames.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "hpcboot/error.hpp"
#include "jobs/run/ranks/rank_child.hpp"

namespace hpcboot::run {
namespace {

constexpr std::size_t kHead = 5;
constexpr std::string_view kKinds = "SGKIBRHDoetnbECF.";

[[noreturn]] void refuse(std::string_view bytes) {
  throw Error(
      ErrorCode::exchange_failed,
      "not a message of hpcboot run: '" +
          std::string(bytes.substr(0, std::min<std::size_t>(bytes.size(), 60))) + "'",
      "only messages of hpcboot run-agent on its standard output",
      "keep the shell on that host from printing at startup: check ~/.bashrc and ~/.profile");
}

}  // namespace

std::string to_bytes(FrameKind kind, std::string_view payload) {
  std::string bytes(1, static_cast<char>(kind));
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(payload.size() >> static_cast<unsigned>(shift) & 0xffU);
  return bytes.append(payload);
}

std::optional<Frame> FrameReader::next() {
  if (bytes_.empty()) return std::nullopt;
  if (kKinds.find(bytes_.front()) == std::string_view::npos) refuse(bytes_);
  if (bytes_.size() < kHead) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 1; i < kHead; ++i)
    length = length << 8U | static_cast<std::uint8_t>(bytes_[i]);
  if (length > kMaxPayload) refuse(bytes_);
  if (bytes_.size() < kHead + length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(bytes_.front()), bytes_.substr(kHead, length)};
  bytes_.erase(0, kHead + length);
  return frame;
}

FrameChannel::FrameChannel(int in, int out) : in_(in), out_(out) {
  set_nonblocking(in);
  set_nonblocking(out);
}

FrameChannel::~FrameChannel() {
  close(in_);
  if (out_ != in_) close(out_);
}

bool FrameChannel::receive() {
  char buffer[std::size_t{64} << 10U];
  const ssize_t size = read(in_, buffer, sizeof buffer);
  if (size > 0) reader_.take({buffer, static_cast<std::size_t>(size)});
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

void FrameChannel::send(FrameKind kind, std::string_view payload) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unsent_ += to_bytes(kind, payload);
  write_unsent();
}

void FrameChannel::flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  write_unsent();
}

std::size_t FrameChannel::unsent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return unsent_.size();
}

void FrameChannel::write_unsent() {
  std::size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t size = write(out_, unsent_.data() + sent, unsent_.size() - sent);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    // The reading side notices that the other end is gone.
    sent = size < 0 ? unsent_.size() : sent + static_cast<std::size_t>(size);
  }
  unsent_.erase(0, sent);
}

}  // namespace hpcboot::run
