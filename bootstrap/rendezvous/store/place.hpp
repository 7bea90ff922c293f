#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace hpcboot::rendezvous {

using Clock = std::chrono::steady_clock;

// Where a store is served: "@NAME", an abstract Unix socket on this host, or an address or host
// name with a port.
struct Place {
  std::string address;
  int port = 0;

  bool is_local() const { return !address.empty() && address.front() == '@'; }
  // "10.0.0.1:20000", "[fd00::1]:20000", "@NAME"
  std::string text() const;
};

// A file descriptor, closed by the destructor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Listens at this place only, without blocking; port 0 is replaced by the kernel's choice.
// @param place all addresses of this host if its address is empty
// @return a closed socket with errno set if the place is taken (EADDRINUSE) or not on this host
//         (EADDRNOTAVAIL, also for a host name, which may resolve differently elsewhere)
Socket listen_at(Place& place);

// The only address to which this host resolves a name, if it is not loopback; nullopt if there is
// none or more than one. An address resolves to itself.
std::optional<std::string> only_address_of(const std::string& name, Clock::time_point end);

// Makes one attempt at each of the place's addresses. Does not wait for name servers beyond `end`.
// @return a closed socket with errno and the reason
Socket connect_to(const Place& place, Clock::time_point end, std::string& reason);

// No delay for small messages (TCP_NODELAY), and keep-alive probes to detect a dead host.
void set_stream_options(const Socket& socket);

// Does the other end of this Unix socket belong to this user, according to the kernel?
bool is_own_user(const Socket& socket);

}  // namespace hpcboot::rendezvous
