#pragma once

#include <memory>

namespace hpcboot::rendezvous {

// A port of all addresses of this host, IPv6 and IPv4, that nobody else can have while this lives.
// Nobody listens there: who connects is refused, so that a rank that is early does not reach this
// program instead of the one that is to listen.
class HeldPort {
 public:
  // @param port 0 for one that the kernel chooses. @throws Error{exchange_failed}
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

// A port that no client socket is given: not one of those that the kernel chooses, since seconds
// pass until a program under `exec` listens itself. @throws Error{exchange_failed}
std::unique_ptr<HeldPort> take_a_free_port();

}  // namespace hpcboot::rendezvous
