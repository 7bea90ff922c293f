#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace hpcboot::testing_support {

/// A TCP port of this host, held by listening on it as long as this lives.
class ListeningPort {
 public:
  ListeningPort() : socket_(::socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 1) != 0 ||
        ::getsockname(socket_, generic, &size) != 0) {
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

/// A port that was free a moment ago.
inline int free_port() {
  return ListeningPort().port();
}

}  // namespace hpcboot::testing_support
