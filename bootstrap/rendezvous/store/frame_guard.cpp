#include "frame_guard.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire.hpp"

namespace hpcboot::rendezvous {

FrameGuard::FrameGuard(Side own, const Secret& secret, const Transcript& transcript) : own_(own) {
  if (secret.empty()) return;
  const Proof key = proof_of(Side::session, secret, transcript);
  key_ = Secret(std::string(reinterpret_cast<const char*>(key.data()), key.size()));
}

// The HMAC is of the frame's hash, so that a large one need not be copied behind its number.
Proof FrameGuard::seal_of(Side side, std::uint64_t number, std::string_view frame) const {
  Proof hash{};
  EVP_Digest(frame.data(), frame.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  FrameWriter text;
  text.u8(static_cast<std::uint8_t>(side));
  text.i64(static_cast<std::int64_t>(number));
  text.raw(hash);
  Proof seal{};
  HMAC(EVP_sha256(), key_.bytes().data(), static_cast<int>(key_.bytes().size()),
       reinterpret_cast<const unsigned char*>(text.bytes().data()), text.bytes().size(),
       seal.data(), nullptr);
  return seal;
}

void FrameGuard::seal(std::string_view frame, std::string& out) {
  if (key_.empty()) return;
  const Proof seal = seal_of(own_, sent_++, frame);
  out.append(reinterpret_cast<const char*>(seal.data()), kSealSize);
}

bool FrameGuard::accepts(std::string_view frame, std::string_view seal) {
  if (key_.empty()) return seal.empty();
  const Side other = own_ == Side::client ? Side::server : Side::client;
  const Proof right = seal_of(other, received_++, frame);
  return seal.size() == kSealSize && CRYPTO_memcmp(seal.data(), right.data(), kSealSize) == 0;
}

}  // namespace hpcboot::rendezvous
