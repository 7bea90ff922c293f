#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fuzz.hpp"
#include "rendezvous/store/place.hpp"

namespace hpcboot::fuzz {

/// A server of one connection at a time, in the thread of its client: it runs when the client waits
/// for an answer, and if it sends none, the client times out at once. So nothing depends on clocks,
/// and no input takes long. For this, the program is linked with `--wrap=poll`.
class LocalServer {
 public:
  LocalServer()
      : place_{"@hpcboot-fuzz-" + std::to_string(getpid())},
        listener_(rendezvous::listen_at(place_)) {
    require(listener_.is_open(), "an abstract socket to listen at");
    current = this;
  }
  virtual ~LocalServer() { current = nullptr; }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  const rendezvous::Place& place() const { return place_; }

  /// Reads and answers everything that its client has sent.
  void act() {
    while (true) {
      if (!connection_.is_open()) {
        connection_ = rendezvous::Socket(accept(listener_.fd(), nullptr, nullptr));
        if (!connection_.is_open()) return;
        begin();
      }
      if (!step() && connection_.is_open()) return;
    }
  }

  inline static LocalServer* current = nullptr;

 protected:
  /// Called for a new connection.
  virtual void begin() = 0;
  /// Handles the next message. @return false if there is none yet, or the connection is closed
  virtual bool step() = 0;

  bool take(std::string& bytes) {
    if (bytes.empty()) return true;
    const ssize_t count = recv(connection_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) close();
    require(count <= 0 || count == static_cast<ssize_t>(bytes.size()), "messages arrive complete");
    return count == static_cast<ssize_t>(bytes.size());
  }
  void send(std::string_view bytes) const {
    (void)!::send(connection_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void close() { connection_.close(); }

 private:
  rendezvous::Place place_;
  rendezvous::Socket listener_;
  rendezvous::Socket connection_;
};

}  // namespace hpcboot::fuzz

// Names defined by the linker's --wrap=poll.
extern "C" {
int __real_poll(pollfd* entries, nfds_t count, int timeout);
__attribute__((used)) inline int __wrap_poll(pollfd* entries, nfds_t count, int /*timeout*/) {
  if (auto* server = hpcboot::fuzz::LocalServer::current; server != nullptr) server->act();
  return __real_poll(entries, count, 0);
}
}
