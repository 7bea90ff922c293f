#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "secret.hpp"

struct evp_md_ctx_st;  // libcrypto's EVP_MD_CTX, whose header only this library's own files include

namespace hpcboot::rendezvous {

// The seals of the frames of one connection: an HMAC of each frame, its direction and its number,
// under a key that both ends derive from the secret and from the transcript of the connection's
// start. So nobody between them can change, repeat, omit or add a frame. Without a secret, as on a
// Unix socket, there are no seals.
class FrameGuard {
 public:
  FrameGuard() = default;
  // @throws Error{exchange_failed} if libcrypto has no SHA-256
  FrameGuard(Side own, const Secret& secret, const Transcript& transcript);

  // The number of bytes that follow each frame.
  std::size_t seal_size() const { return inner_ ? kSealSize : 0; }
  // Appends the seal of our next frame.
  void seal(std::string_view frame, std::string& out);
  // Is this the seal of the other end's next frame?
  bool accepts(std::string_view frame, std::string_view seal);

  static constexpr std::size_t kSealSize = 16;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  using Context = std::unique_ptr<evp_md_ctx_st, Free>;

  static Context begun_with(const Proof& key, std::uint8_t pad);
  Proof seal_of(Side side, std::uint64_t number, std::string_view frame) const;

  Side own_ = Side::client;
  // The SHA-256 states after the key's two pads (RFC 2104): libcrypto's HMAC() would look up its
  // algorithms and hash the key for every frame, which took twice as long as everything else that
  // the store does.
  Context inner_;
  Context outer_;
  Context work_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace hpcboot::rendezvous
