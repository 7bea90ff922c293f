#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <stdexcept>

namespace hpcboot::testing_support {

/// A TCP port of this host, held by listening on it as long as this lives.
class ListeningPort {
 public:
  /// @param port 0 for one that the kernel chooses
  /// @throws std::runtime_error if the port is not available
  explicit ListeningPort(int port = 0) : socket_(::socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 1) != 0 ||
        ::getsockname(socket_, generic, &size) != 0) {
      ::close(socket_);
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin6_port);
  }
  ListeningPort(const ListeningPort&) = delete;
  ListeningPort& operator=(const ListeningPort&) = delete;
  ~ListeningPort() { ::close(socket_); }

  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

/// A port that no process listened on a moment ago, or gets by chance: it is below those that the
/// kernel assigns to connections and those that hpcboot derives from a job ID. (A process that
/// keeps connecting to an ephemeral port of its own host is assigned that port sooner or later, and
/// connects to itself.)
inline int free_port() {
  constexpr int kFirst = 10000;
  constexpr int kLast = 19999;
  std::random_device random;
  std::uniform_int_distribution<int> ports(kFirst, kLast);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    try {
      return ListeningPort(ports(random)).port();
    } catch (const std::runtime_error&) {
    }
  }
  throw std::runtime_error("no free port");
}

}  // namespace hpcboot::testing_support
