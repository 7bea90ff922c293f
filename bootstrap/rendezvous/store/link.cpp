#include "link.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// A process that listens at one of our ports and stays silent must not keep us from the real store.
constexpr milliseconds kTimeForProof = std::chrono::seconds(2);

bool wait_for(int fd, short event, Clock::time_point end) {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
    pollfd entry{fd, event, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready > 0) return true;  // also on error, which the next call reports
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::optional<Secret> find_secret(const Member& member, SecretKind kind, const std::string& sealed,
                                  std::string& reason) {
  if (member.find_secret) return member.find_secret(kind, sealed, reason);
  if (member.world.kind == kind) return member.world.secret;
  reason = "the store there authenticates with " + std::string(name_of(kind)) +
           ", this rank with " + std::string(name_of(member.world.kind));
  return std::nullopt;
}

}  // namespace

bool Link::send(std::string_view frame, Clock::time_point end) {
  if (guard_.seal_size() == 0) return send_bytes(frame, end);
  // Send both in one segment if they are small, since the server needs both.
  std::string sealed(frame);
  guard_.seal(frame, sealed);
  return send_bytes(sealed, end);
}

bool Link::is_quiet() const {
  char byte = 0;
  return recv(socket_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool Link::send_bytes(std::string_view bytes, Clock::time_point end) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_.fd(), POLLOUT, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Link::receive_exactly(char* bytes, std::size_t size, Clock::time_point end) {
  while (size > 0) {
    const ssize_t count = recv(socket_.fd(), bytes, size, 0);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
    } else if (count == 0) {
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_.fd(), POLLIN, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Link::receive(std::string& frame, Clock::time_point end) {
  constexpr std::size_t kLength = 4;
  frame.resize(kLength);
  if (!receive_exactly(frame.data(), kLength, end)) return false;
  std::uint32_t size = 0;
  FrameReader(frame).u32(size);
  if (size > kLargestFrame) return false;
  const std::size_t whole = kLength + size;
  frame.resize(whole + guard_.seal_size());
  if (!receive_exactly(frame.data() + kLength, frame.size() - kLength, end)) return false;
  const std::string_view all = frame;
  if (!guard_.accepts(all.substr(0, whole), all.substr(whole))) return false;
  frame.resize(whole);
  frame.erase(0, kLength);
  return true;
}

Link::Attempt Link::open(const Place& place, Member& member, Clock::time_point end) {
  Attempt attempt;
  attempt.link.socket_ = connect_to(place, end, attempt.reason);
  if (!attempt.link.socket_.is_open()) {
    const int error = errno;
    if (error == ECONNREFUSED) attempt.outcome = Outcome::nobody_there;
    // connect_to() reports EAGAIN for a name that does not resolve.
    if (error == EHOSTUNREACH || error == ENETUNREACH || (error == EAGAIN && !place.is_local()))
      attempt.outcome = Outcome::unreachable;
    return attempt;
  }
  attempt.outcome = attempt.link.introduce(
      place, member, std::min(end, Clock::now() + kTimeForProof), attempt.reason);
  return attempt;
}

Link::Outcome Link::introduce(const Place& place, Member& member, Clock::time_point end,
                              std::string& reason) {
  if (place.is_local() && !is_own_user(socket_)) {
    reason = "another user listens there";
    return Outcome::not_ours;
  }
  const Nonce own = random_nonce();
  FrameWriter hello;
  hello.u8(kVersion);
  hello.u32(member.rank);
  hello.raw(member.token);
  hello.raw(own);
  std::array<char, kChallengeSize> challenge{};
  reason = "the process listening there does not answer like an hpcboot store";
  if (!send_bytes(std::string(kMagic) + hello.bytes(), end) ||
      !receive_exactly(challenge.data(), challenge.size(), end))
    return Outcome::not_ours;
  FrameReader reader({challenge.data(), challenge.size()});
  std::uint8_t version = 0;
  Nonce theirs{};
  std::uint8_t kind = 0;
  std::uint16_t sealed_size = 0;
  if (!reader.magic() || !reader.u8(version) || !reader.raw(theirs) || !reader.u8(kind) ||
      !reader.u16(sealed_size))
    return Outcome::not_ours;
  if (version != kVersion) {
    // Before its proof nothing that it says ends this rank.
    reason = "the process there speaks version " + std::to_string(version) +
             " of the protocol, this program version " + std::to_string(kVersion) +
             " (install one version of hpcboot everywhere)";
    return Outcome::not_ours;
  }
  if (sealed_size > kLongestSeal || kind > static_cast<std::uint8_t>(kLastSecretKind))
    return Outcome::not_ours;
  std::string sealed(sealed_size, '\0');
  if (!receive_exactly(sealed.data(), sealed.size(), end)) return Outcome::not_ours;
  const auto secret = find_secret(member, static_cast<SecretKind>(kind), sealed, reason);
  if (!secret) return Outcome::not_ours;
  const World& world = member.world;
  const Transcript transcript{
      world.identity, world.size,   member.rank, static_cast<std::uint16_t>(place.port),
      kind,           member.token, own,         theirs};
  const Proof proof = proof_of(Side::client, *secret, transcript);
  std::array<char, kVerdictSize> verdict{};
  reason = "the store there belongs to another launch, or has another secret";
  if (!send_bytes({reinterpret_cast<const char*>(proof.data()), proof.size()}, end) ||
      !receive_exactly(verdict.data(), verdict.size(), end))
    return Outcome::not_ours;
  Proof given{};
  std::copy_n(verdict.data() + 1, given.size(), reinterpret_cast<char*>(given.data()));
  if (!are_equal(given, proof_of(Side::server, *secret, transcript))) return Outcome::not_ours;
  if (verdict[0] == static_cast<char>(Verdict::welcome)) {
    guard_ = FrameGuard(Side::client, *secret, transcript);
    member.world.secret = *secret;
    member.world.kind = static_cast<SecretKind>(kind);
    member.find_secret = nullptr;
    return Outcome::ours;
  }
  reason = "another process is already rank " + std::to_string(member.rank) + " there";
  return Outcome::rank_is_taken;
}

}  // namespace hpcboot::rendezvous
