#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace hpcboot::rendezvous {

using Clock = std::chrono::steady_clock;

// Where a store is served: "@NAME", an abstract Unix socket of this host, or an address or host
// name with a port.
struct Place {
  std::string address;
  int port = 0;

  bool is_local() const { return !address.empty() && address.front() == '@'; }
  // "10.0.0.1:20000", "[fd00::1]:20000", "@NAME"
  std::string text() const;
};

// A file descriptor that is closed when it goes.
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

// Listens there alone, without waiting for anybody; port 0 becomes the kernel's choice.
// @param place every address if its address is empty
// @return a closed socket with errno set if the place is taken (EADDRINUSE) or not of this host
//         (EADDRNOTAVAIL, also for a host name: who knows what it means elsewhere?)
Socket listen_at(Place& place);

// The one address that this host knows a name by, if it is not loopback; nullopt if there are none
// or several. An address is its own.
std::optional<std::string> only_address_of(const std::string& name, Clock::time_point end);

// One attempt at each of the place's addresses. Name servers are not waited for beyond `end`.
// @return a closed socket with errno and the reason
Socket connect_to(const Place& place, Clock::time_point end, std::string& reason);

// No delay for small messages, and a look now and then whether the other host is still there.
void set_stream_options(const Socket& socket);

// Does the kernel say that the other end of this Unix socket is of our user?
bool is_own_user(const Socket& socket);

}  // namespace hpcboot::rendezvous
