#pragma once

#include <memory>

namespace hpcboot::rendezvous {

// Reserves a port on all addresses of this host, IPv6 and IPv4, during its lifetime. It does not
// listen: connections are refused, so that an early rank does not reach this program instead of the
// one that will listen.
class HeldPort {
 public:
  // @param port 0: the kernel chooses. @throws Error{exchange_failed}
  explicit HeldPort(int port);
  ~HeldPort();
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  int number() const { return port_; }

 private:
  [[noreturn]] void fail(const char* call) const;

  int socket_ = -1;
  int port_ = 0;
};

// Reserves a port outside the range that the kernel assigns to client sockets, since a program
// under `exec` may take seconds until it listens itself. @throws Error{exchange_failed}
std::unique_ptr<HeldPort> take_a_free_port();

}  // namespace hpcboot::rendezvous
