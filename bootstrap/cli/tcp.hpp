#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace hpcboot::tool {

// A connected stream socket that sends and receives lines.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection();
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False where the other side is gone.
  bool send_line(const std::string& line);
  // Without its end; nullopt where the other side is gone or the deadline passes.
  std::optional<std::string> receive_line(std::chrono::steady_clock::time_point end);
  // As receive_line(), out of what has arrived only; `is_closed` where no more will come.
  std::optional<std::string> take_line(bool& is_closed);

  int socket() const { return socket_; }

 private:
  int socket_;
  std::string received_;
};

// Where a port that is taken may still be waiting for the end of somebody's old connections.
enum class PortUse { again, exclusive };

// A socket on all addresses of this host, IPv6 and IPv4. It has the port from the start; who
// connects before listen() is refused and tries again.
class Listener {
 public:
  // @param port 0 for one that the kernel chooses. @throws Error{exchange_failed}
  explicit Listener(int port, PortUse use = PortUse::again);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  int socket() const { return socket_; }
  // @throws Error{exchange_failed}
  void listen();
  Connection accept() const;

 private:
  [[noreturn]] void fail(const char* call) const;

  int socket_ = -1;
  int port_ = 0;
};

// Tries until the deadline; nullopt then, with the last reason in `reason`.
std::optional<Connection> connect_to(const std::string& address, int port,
                                     std::chrono::steady_clock::time_point end,
                                     std::string& reason);

}  // namespace hpcboot::tool
