#include "place.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "core/name_lookup.hpp"
#include "core/time_left.hpp"
#include "hpcboot/endpoint.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

// A host that drops packets must not use up the deadline: rank 0 may start there later.
constexpr milliseconds kOneAttempt = std::chrono::seconds(5);

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// nullptr if the name does not fit.
std::shared_ptr<Address> local_address(const std::string& name) {
  const auto address = std::make_shared<Address>();
  auto* local = reinterpret_cast<sockaddr_un*>(&address->storage);
  if (name.size() > sizeof local->sun_path) return nullptr;
  local->sun_family = AF_UNIX;
  // A leading NUL byte makes it abstract (unix(7)).
  std::copy(name.begin() + 1, name.end(), local->sun_path + 1);
  address->size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return address;
}

Socket connect_once(const sockaddr* address, socklen_t size, Clock::time_point end, int& error) {
  Socket socket(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error = errno;
  if (!socket.is_open()) return {};
  error = ::connect(socket.fd(), address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    const auto last = std::min(end, Clock::now() + kOneAttempt);
    pollfd entry{socket.fd(), POLLOUT, 0};
    int ready = 0;
    do {
      ready = poll(&entry, 1, static_cast<int>(time_left(last, milliseconds(0)).count()));
    } while (ready < 0 && errno == EINTR);
    socklen_t length = sizeof error;
    error = ETIMEDOUT;
    if (ready > 0) getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error != 0) return {};
  if (address->sa_family != AF_UNIX) set_stream_options(socket);
  return socket;
}

// A silent name server must not use up the deadline; the next attempt asks again.
std::shared_ptr<const NameLookup> look_up(const Place& place, Clock::time_point end) {
  return look_up_name(place.address, place.port,
                      std::min(time_left(end, milliseconds(0)), kLongestLookup));
}

bool has_ipv6() {
  return Socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)).is_open();
}

Address every_address_of_both(int port) {
  Address address;
  auto* any = reinterpret_cast<sockaddr_in6*>(&address.storage);
  any->sin6_family = AF_INET6;
  any->sin6_port = htons(static_cast<std::uint16_t>(port));
  address.size = sizeof *any;
  return address;
}

// For a kernel without IPv6.
Address every_ipv4_address(int port) {
  Address address;
  auto* any = reinterpret_cast<sockaddr_in*>(&address.storage);
  any->sin_family = AF_INET;
  any->sin_port = htons(static_cast<std::uint16_t>(port));
  address.size = sizeof *any;
  return address;
}

}  // namespace

std::string Place::text() const {
  if (is_local()) return address;
  const bool is_ipv6 = address.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Socket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Socket listen_at(Place& place) {
  Address address;
  if (place.is_local()) {
    const auto local = local_address(place.address);
    errno = ENAMETOOLONG;
    if (!local) return {};
    address = *local;
  } else if (place.address.empty()) {
    address = has_ipv6() ? every_address_of_both(place.port) : every_ipv4_address(place.port);
  } else {
    const auto numeric = look_up_address(place.address, place.port);
    errno = EADDRNOTAVAIL;
    if (numeric->error != 0) return {};
    std::memcpy(&address.storage, numeric->list->ai_addr, numeric->list->ai_addrlen);
    address.size = numeric->list->ai_addrlen;
  }
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return {};
  const int on = 1;
  const int off = 0;
  if (!place.is_local()) setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.address.empty() && address.storage.ss_family == AF_INET6)
    setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  auto* generic = reinterpret_cast<sockaddr*>(&address.storage);
  if (bind(socket.fd(), generic, address.size) != 0 || listen(socket.fd(), SOMAXCONN) != 0) {
    const int reason = errno;
    socket.close();
    errno = reason;
    return {};
  }
  getsockname(socket.fd(), generic, &address.size);
  if (generic->sa_family == AF_INET)
    place.port = ntohs(reinterpret_cast<sockaddr_in*>(generic)->sin_port);
  if (generic->sa_family == AF_INET6)
    place.port = ntohs(reinterpret_cast<sockaddr_in6*>(generic)->sin6_port);
  return socket;
}

std::optional<std::string> only_address_of(const std::string& name, Clock::time_point end) {
  if (name.empty()) return std::nullopt;
  const auto addresses = look_up({name, 0}, end)->addresses();
  if (addresses.size() != 1 || is_loopback(addresses.front())) return std::nullopt;
  return addresses.front();
}

Socket connect_to(const Place& place, Clock::time_point end, std::string& reason) {
  int error = 0;
  if (place.is_local()) {
    const auto local = local_address(place.address);
    error = ENAMETOOLONG;
    Socket socket = local ? connect_once(reinterpret_cast<const sockaddr*>(&local->storage),
                                         local->size, end, error)
                          : Socket();
    if (!socket.is_open()) reason = std::strerror(error);
    errno = error;
    return socket;
  }
  const auto lookup = look_up(place, end);
  error = EAGAIN;
  if (lookup->error != 0) reason = gai_strerror(lookup->error);
  for (const addrinfo* info = lookup->list; info != nullptr; info = info->ai_next) {
    Socket socket = connect_once(info->ai_addr, info->ai_addrlen, end, error);
    if (socket.is_open()) return socket;
    reason = std::strerror(error);
  }
  errno = error;
  return {};
}

void set_stream_options(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  // Detects a dead host within a minute, and keeps idle connections alive across a NAT.
  const int idle = 30;
  const int pause = 10;
  const int probes = 3;
  const unsigned unacknowledged = 60'000;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
}

bool is_own_user(const Socket& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
}

}  // namespace hpcboot::rendezvous
