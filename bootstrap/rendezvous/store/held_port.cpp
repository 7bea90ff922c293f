#include "held_port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::rendezvous {

void HeldPort::fail(const char* call) const {
  throw Error(
      ErrorCode::exchange_failed,
      "cannot reserve port " + std::to_string(port_) + ": " + call + ": " + std::strerror(errno),
      "a port of this host that rank 0 can bind",
      "set HPCBOOT_MASTER_PORT to a free port on every rank");
}

HeldPort::HeldPort(int port)
    : socket_(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(port) {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (socket_ >= 0) {
    const int off = 0;
    setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *v6;
  } else {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // kernel without IPv6
    if (socket_ < 0) fail("socket");
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *v4;
  }
  // Without SO_REUSEADDR: two sockets with it could hold the same port while neither listens.
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0) {
    const int reason = errno;
    close(socket_);
    errno = reason;
    fail("bind");
  }
  getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = address.ss_family == AF_INET6
              ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
              : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

HeldPort::~HeldPort() {
  if (socket_ >= 0) close(socket_);
}

std::unique_ptr<HeldPort> take_a_free_port() {
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    try {
      return std::make_unique<HeldPort>(derive_port(std::to_string(random())));
    } catch (const Error&) {
      // Taken by another server: try the next one.
    }
  }
  return std::make_unique<HeldPort>(0);
}

}  // namespace hpcboot::rendezvous
