#include "link_speed.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "rendezvous/store/secret.hpp"

// Both sides push bytes in turn. A push: the number of bytes (8 bytes, big-endian), the bytes, and
// one byte back once they have arrived.
namespace hpcboot::tool {
namespace {

using rendezvous::Clock;
using rendezvous::Socket;

constexpr std::size_t kBlock = std::size_t{1} << 20U;
constexpr double kSeconds = 0.2;
constexpr std::uint64_t kProbe = kBlock;  // bytes, to estimate how many take kSeconds
constexpr std::uint64_t kMost = std::uint64_t{1} << 34U;

[[noreturn]] void fail_lost(const char* what) {
  throw Error(ErrorCode::peer_lost, std::string("the link was cut: ") + what,
              "both ranks to stay until the link is measured", "check the output of that rank");
}

// Waits until the socket is ready.
void await(const Socket& socket, short events, Clock::time_point end) {
  pollfd one{socket.fd(), events, 0};
  while (true) {
    const int count = ::poll(&one, 1, static_cast<int>(time_left(end).count()));
    if (count > 0) return;
    if (count == 0 || Clock::now() >= end) {
      throw Error(ErrorCode::deadline_exceeded, "a link passed no bytes in time",
                  "a link that answers", "check the network between the two hosts");
    }
    if (errno != EINTR) fail_lost(std::strerror(errno));
  }
}

void send_all(const Socket& socket, const char* bytes, std::uint64_t size, Clock::time_point end) {
  while (size > 0) {
    const ssize_t count = ::send(socket.fd(), bytes, size, MSG_NOSIGNAL);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::uint64_t>(count);
    } else if (errno == EAGAIN) {
      await(socket, POLLOUT, end);
    } else if (errno != EINTR) {
      fail_lost(std::strerror(errno));
    }
  }
}

void receive_all(const Socket& socket, char* bytes, std::uint64_t size, Clock::time_point end) {
  while (size > 0) {
    const ssize_t count = ::recv(socket.fd(), bytes, size, 0);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::uint64_t>(count);
    } else if (count == 0) {
      fail_lost("the other end closed it");
    } else if (errno == EAGAIN) {
      await(socket, POLLIN, end);
    } else if (errno != EINTR) {
      fail_lost(std::strerror(errno));
    }
  }
}

void send_number(const Socket& socket, std::uint64_t number, Clock::time_point end) {
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(number >> 8U * (7 - i) & 0xffU);
  send_all(socket, bytes.data(), bytes.size(), end);
}

std::uint64_t receive_number(const Socket& socket, Clock::time_point end) {
  std::array<char, 8> bytes{};
  receive_all(socket, bytes.data(), bytes.size(), end);
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

// @return seconds until all bytes have arrived
double push(const Socket& socket, std::uint64_t size, Clock::time_point end) {
  static const std::vector<char> block(kBlock, 'x');
  const auto begin = Clock::now();
  send_number(socket, size, end);
  for (std::uint64_t left = size; left > 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, block.size());
    send_all(socket, block.data(), part, end);
    left -= part;
  }
  char arrived = 0;
  receive_all(socket, &arrived, 1, end);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void take_push(const Socket& socket, Clock::time_point end) {
  std::vector<char> block(kBlock);
  const std::uint64_t size = receive_number(socket, end);
  if (size > kMost) fail_lost("the other end sends more than it may");
  for (std::uint64_t left = size; left > 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, block.size());
    receive_all(socket, block.data(), part, end);
    left -= part;
  }
  send_all(socket, "!", 1, end);
}

// @return bytes per second
double push_for_a_while(const Socket& socket, Clock::time_point end) {
  push(socket, kProbe, end);  // TCP begins slowly
  const double rate = static_cast<double>(kProbe) / push(socket, kProbe, end);
  const auto size = static_cast<std::uint64_t>(
      std::clamp(rate * kSeconds, static_cast<double>(kProbe), static_cast<double>(kMost)));
  return static_cast<double>(size) / push(socket, size, end);
}

constexpr int kPushes = 3;

std::string bytes_of_token(const rendezvous::Token& token) {
  return rendezvous::hex_of({reinterpret_cast<const char*>(token.data()), token.size()});
}

}  // namespace

LinkEnd::LinkEnd(const std::string& address)
    : place_{address, 0}, token_(bytes_of_token(rendezvous::random_token())) {
  listener_ = rendezvous::listen_at(place_);
  if (!listener_.is_open()) {
    throw Error(ErrorCode::exchange_failed,
                "cannot listen at " + address + ": " + std::strerror(errno),
                "an address of this host", "set HPCBOOT_INTERFACE to another interface");
  }
}

bool LinkEnd::serve(std::chrono::milliseconds wait, LinkDeadline end) {
  pollfd one{listener_.fd(), POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(wait.count())) <= 0) return false;
  const Socket peer(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!peer.is_open()) return false;
  rendezvous::set_stream_options(peer);
  try {
    // A stranger that sends nothing delays the measurement by this at most.
    const auto soon = std::min(end, Clock::now() + std::chrono::milliseconds(500));
    std::string token(token_.size(), '\0');
    receive_all(peer, token.data(), token.size(), soon);
    if (token != token_) return false;
    for (int i = 0; i < kPushes; ++i) take_push(peer, end);
    const double rate = push_for_a_while(peer, end);
    send_number(peer, static_cast<std::uint64_t>(rate), end);
    return true;
  } catch (const Error&) {
    return false;  // the other side reports it
  }
}

double measure_link(const rendezvous::Place& place, const std::string& token, LinkDeadline end) {
  std::string reason;
  const Socket peer = rendezvous::connect_to(place, end, reason);
  if (!peer.is_open()) {
    throw Error(ErrorCode::peer_lost, "cannot connect to " + place.text() + ": " + reason,
                "every rank to be reachable from every other one",
                "check firewalls between the hosts, or set HPCBOOT_INTERFACE");
  }
  rendezvous::set_stream_options(peer);
  send_all(peer, token.data(), token.size(), end);
  const double there = push_for_a_while(peer, end);
  for (int i = 0; i < kPushes; ++i) take_push(peer, end);
  const auto back = static_cast<double>(receive_number(peer, end));
  return std::min(there, back);
}

}  // namespace hpcboot::tool
