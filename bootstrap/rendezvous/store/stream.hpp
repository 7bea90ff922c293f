#pragma once

#include <string>
#include <string_view>

#include "frame_guard.hpp"
#include "place.hpp"

namespace hpcboot::rendezvous {

// Frames and their seals, in both directions, on a non-blocking socket.
class Stream {
 public:
  explicit Stream(Socket socket, FrameGuard guard = {})
      : socket_(std::move(socket)), guard_(std::move(guard)) {}

  int fd() const { return socket_.fd(); }
  // From here on, frames have seals.
  void guard_by(FrameGuard guard) { guard_ = std::move(guard); }

  enum class Progress { some, none, ended };
  // One read of at most 64 KiB.
  Progress read_some();
  // Writes what the socket accepts. @return false if the other end is gone
  bool write_some();

  // Data that has arrived and was not taken. Valid until the next read.
  std::string_view rest() const { return std::string_view(in_).substr(used_); }
  void take(std::size_t size) { used_ += size; }
  enum class Next { frame, incomplete, broken };
  // Takes the next frame, without its length and seal. `broken` if it is too large or its seal is
  // wrong.
  Next next_frame(std::string_view& frame);

  // Queue data to be written; put() without a seal.
  void put(std::string_view bytes) { out_ += bytes; }
  void put_frame(std::string_view frame);
  std::size_t unsent() const { return out_.size() - sent_; }

 private:
  Socket socket_;
  FrameGuard guard_;
  std::string in_;
  std::size_t used_ = 0;  // of `in_`
  std::string out_;
  std::size_t sent_ = 0;  // of `out_`
};

}  // namespace hpcboot::rendezvous
