#include "tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "core/bounded_call.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

// One attempt at one address; -1 with errno set.
int connect_once(const addrinfo& info, Clock::time_point end) {
  const int fd =
      ::socket(info.ai_family, info.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, info.ai_protocol);
  if (fd < 0) return -1;
  int error = 0;
  if (::connect(fd, info.ai_addr, info.ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    // A host that drops packets must not eat the whole deadline of a rank 0 that is still to come.
    pollfd entry{fd, POLLOUT, 0};
    const int ready = poll(&entry, 1, std::min(milliseconds_until(end), 5000));
    socklen_t size = sizeof error;
    error = ETIMEDOUT;
    if (ready > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }
  close(fd);
  errno = error;
  return -1;
}

// The addresses of a name, or why there are none. A name server that is silent keeps getaddrinfo()
// longer than any deadline here.
struct Lookup {
  int error = EAI_AGAIN;
  addrinfo* list = nullptr;

  Lookup() = default;
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup() {
    if (list != nullptr) freeaddrinfo(list);
  }
};

std::shared_ptr<const Lookup> look_up(const std::string& address, int port, Clock::time_point end) {
  const auto lookup = std::make_shared<Lookup>();
  const bool in_time = bounded_call(
      [lookup, address, port] {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        lookup->error =
            getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &lookup->list);
      },
      milliseconds(milliseconds_until(end)));
  return in_time ? lookup : std::make_shared<Lookup>();
}

}  // namespace

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

Connection::Connection(Connection&& other) noexcept
    : socket_(other.socket_), received_(std::move(other.received_)) {
  other.socket_ = -1;
}

bool Connection::send_line(const std::string& line) {
  std::string bytes = line + "\n";
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd entry{socket_, POLLOUT, 0};
      if (poll(&entry, 1, milliseconds_until(end)) == 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> Connection::take_line(bool& is_closed) {
  is_closed = false;
  while (true) {
    const std::size_t newline = received_.find('\n');
    if (newline != std::string::npos) {
      std::string line = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) {
      received_.append(bytes, static_cast<std::size_t>(count));
      constexpr std::size_t kLongest = 1 << 20;  // whoever sends this is none of us
      if (received_.size() <= kLongest) continue;
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return std::nullopt;
    }
    is_closed = true;
    return std::nullopt;
  }
}

std::optional<std::string> Connection::receive_line(Clock::time_point end) {
  while (true) {
    bool is_closed = false;
    auto line = take_line(is_closed);
    if (line) return line;
    pollfd entry{socket_, POLLIN, 0};
    if (is_closed || poll(&entry, 1, milliseconds_until(end)) == 0) return std::nullopt;
  }
}

void Listener::fail(const char* call) const {
  throw Error(ErrorCode::exchange_failed,
              std::string(call) + " of port " + std::to_string(port_) + ": " + std::strerror(errno),
              "a port of this host that rank 0 may open",
              "set HPCBOOT_MASTER_PORT to a free port on every rank");
}

Listener::Listener(int port, PortUse use)
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
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // a kernel without IPv6
    if (socket_ < 0) fail("socket");
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *v4;
  }
  // Two sockets that both reuse addresses may have one port while neither listens.
  const int reuses = use == PortUse::again ? 1 : 0;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &reuses, sizeof reuses);
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

Listener::~Listener() {
  if (socket_ >= 0) close(socket_);
}

void Listener::listen() {
  if (::listen(socket_, SOMAXCONN) != 0) fail("listen");
}

Connection Listener::accept() const {
  const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Connection(fd);
}

std::optional<Connection> connect_to(const std::string& address, int port, Clock::time_point end,
                                     std::string& reason) {
  auto pause = milliseconds(5);
  while (true) {
    const auto lookup = look_up(address, port, end);
    if (lookup->error != 0) reason = gai_strerror(lookup->error);
    for (const addrinfo* info = lookup->list; info != nullptr; info = info->ai_next) {
      const int fd = connect_once(*info, end);
      if (fd >= 0) return Connection(fd);
      reason = std::strerror(errno);
    }
    std::this_thread::sleep_for(std::min(pause, milliseconds(milliseconds_until(end))));
    pause = std::min(2 * pause, milliseconds(250));
    // Another look would end at once, and say that the name was not resolved.
    if (milliseconds_until(end) == 0) return std::nullopt;
  }
}

}  // namespace hpcboot::tool
