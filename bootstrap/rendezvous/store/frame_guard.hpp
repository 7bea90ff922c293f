#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "secret.hpp"

namespace hpcboot::rendezvous {

// The seals of the frames of one connection: an HMAC of each, its direction and its number, under a
// key that both ends have derived from the secret and from what they have seen of the connection's
// start. So nobody between them can change, repeat, leave out or add a frame. Without a secret, as
// on a Unix socket, there are none.
class FrameGuard {
 public:
  FrameGuard() = default;
  FrameGuard(Side own, const Secret& secret, const Transcript& transcript);

  // How many bytes follow each frame.
  std::size_t seal_size() const { return key_.empty() ? 0 : kSealSize; }
  // Appends the seal of the next frame of ours.
  void seal(std::string_view frame, std::string& out);
  // Is this the seal of the other end's next frame?
  bool accepts(std::string_view frame, std::string_view seal);

  static constexpr std::size_t kSealSize = 16;

 private:
  Proof seal_of(Side side, std::uint64_t number, std::string_view frame) const;

  Side own_ = Side::client;
  Secret key_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace hpcboot::rendezvous
