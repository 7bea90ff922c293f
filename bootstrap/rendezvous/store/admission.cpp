#include "admission.hpp"

#include <algorithm>

namespace hpcboot::rendezvous {

bool Members::enter(std::uint32_t rank, const Token& token) {
  return of_rank_.emplace(rank, token).first->second == token;
}

bool Admission::greet(std::string_view message, std::string& out) {
  FrameReader reader(message);
  std::uint8_t version = 0;
  if (!reader.magic() || !reader.u8(version)) return false;
  // The fields that follow are those of version 1. A client of another version still receives our
  // version number, so that its user learns of the mismatch.
  if (version == kVersion &&
      (!reader.u32(rank_) || !reader.raw(token_) || !reader.raw(client_) || rank_ >= world_->size))
    return false;
  server_ = random_nonce();
  FrameWriter challenge;
  out += kMagic;
  challenge.u8(kVersion);
  challenge.raw(server_);
  challenge.u8(static_cast<std::uint8_t>(world_->kind));
  challenge.u16(static_cast<std::uint16_t>(world_->sealed.size()));
  out += challenge.bytes();
  out += world_->sealed;
  return version == kVersion;
}

Transcript Admission::transcript() const {
  return {world_->identity, world_->size, rank_,  port_, static_cast<std::uint8_t>(world_->kind),
          token_,           client_,      server_};
}

Admission::State Admission::take(std::string_view message, std::string& out) {
  if (!has_greeted_) {
    has_greeted_ = true;
    return greet(message, out) ? State::asking : State::turned_away;
  }
  const Transcript transcript = this->transcript();
  Proof given{};
  std::copy_n(message.data(), given.size(), reinterpret_cast<char*>(given.data()));
  // No reply: an unauthenticated peer must not learn anything.
  if (!are_equal(given, proof_of(Side::client, world_->secret, transcript)))
    return State::turned_away;
  const bool has_place = world_->holders == Holders::many || members_->enter(rank_, token_);
  FrameWriter verdict;
  verdict.u8(static_cast<std::uint8_t>(has_place ? Verdict::welcome : Verdict::rank_is_taken));
  verdict.raw(proof_of(Side::server, world_->secret, transcript));
  out += verdict.bytes();
  return has_place ? State::admitted : State::turned_away;
}

}  // namespace hpcboot::rendezvous
