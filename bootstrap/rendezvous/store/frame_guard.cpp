#include "frame_guard.hpp"

#include <array>
#include <cstring>

#include "crypto.hpp"
#include "wire.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr std::size_t kBlock = 64;  // of SHA-256, in bytes

}  // namespace

void FrameGuard::Free::operator()(evp_md_ctx_st* context) const {
  crypto().free_context(context);
}

FrameGuard::Context FrameGuard::begun_with(const Proof& key, std::uint8_t pad) {
  std::array<std::uint8_t, kBlock> block{};
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<std::uint8_t>((i < key.size() ? key[i] : 0) ^ pad);
  Context context(crypto().new_context());
  const bool is_begun = context && crypto().init(context.get(), crypto().sha256(), nullptr) == 1 &&
                        crypto().update(context.get(), block.data(), block.size()) == 1;
  explicit_bzero(block.data(), block.size());
  if (!is_begun) fail_without_sha();
  return context;
}

FrameGuard::FrameGuard(Side own, const Secret& secret, const Transcript& transcript) : own_(own) {
  if (secret.empty()) return;
  Proof key = proof_of(Side::session, secret, transcript);
  inner_ = begun_with(key, 0x36);
  outer_ = begun_with(key, 0x5c);
  work_ = Context(crypto().new_context());
  explicit_bzero(key.data(), key.size());
  if (!work_) fail_without_sha();
}

Proof FrameGuard::seal_of(Side side, std::uint64_t number, std::string_view frame) const {
  FrameWriter head;
  head.u8(static_cast<std::uint8_t>(side));
  head.i64(static_cast<std::int64_t>(number));
  Proof hash{};
  EVP_MD_CTX* work = work_.get();
  const bool is_done = crypto().copy(work, inner_.get()) == 1 &&
                       crypto().update(work, head.bytes().data(), head.bytes().size()) == 1 &&
                       crypto().update(work, frame.data(), frame.size()) == 1 &&
                       crypto().final(work, hash.data(), nullptr) == 1 &&
                       crypto().copy(work, outer_.get()) == 1 &&
                       crypto().update(work, hash.data(), hash.size()) == 1 &&
                       crypto().final(work, hash.data(), nullptr) == 1;
  if (!is_done) fail_without_sha();
  return hash;
}

void FrameGuard::seal(std::string_view frame, std::string& out) {
  if (!inner_) return;
  const Proof seal = seal_of(own_, sent_++, frame);
  out.append(reinterpret_cast<const char*>(seal.data()), kSealSize);
}

bool FrameGuard::accepts(std::string_view frame, std::string_view seal) {
  if (!inner_) return seal.empty();
  const Side other = own_ == Side::client ? Side::server : Side::client;
  const Proof right = seal_of(other, received_++, frame);
  return seal.size() == kSealSize && crypto().differ(seal.data(), right.data(), kSealSize) == 0;
}

}  // namespace hpcboot::rendezvous
