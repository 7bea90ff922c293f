#include "server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <set>
#include <thread>

#include "hpcboot/error.hpp"
#include "service.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kStrangers = 256;
constexpr milliseconds kTimeForProof = std::chrono::seconds(2);
constexpr milliseconds kLinger = std::chrono::seconds(1);
// A peer that asks and does not read.
constexpr std::size_t kLongestQueue = std::size_t{256} << 20U;
constexpr std::size_t kOneRead = std::size_t{64} << 10U;

// So that a flood of connections does not keep the loop from those that it has.
constexpr int kAcceptedAtOnce = 64;
// How soon it looks again whether there is a descriptor for the next connection.
constexpr milliseconds kTryAgain(100);

constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kWake = 1;

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorCode::exchange_failed, std::string(call) + ": " + std::strerror(errno),
              "what a server of the ranks needs from the system",
              "look at the limits of this job (ulimit -n)");
}

// Every rank is a descriptor here. The program that follows keeps the higher limit, as it would
// after `ulimit -n` in its script.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct Connection {
  Socket socket;
  Admission admission;
  Clock::time_point since;
  bool is_admitted = false;
  FrameGuard guard{};
  bool awaits_room = false;  // registered for EPOLLOUT
  std::string in{};
  std::string out{};
  std::size_t sent = 0;  // of `out`

  std::size_t unsent() const { return out.size() - sent; }
};

}  // namespace

class Server::Loop {
 public:
  Loop(Socket listener, Place place, World world, const std::optional<Token>& rank0)
      : listener_(std::move(listener)),
        place_(std::move(place)),
        world_(std::move(world)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!epoll_.is_open() || !wake_.is_open()) fail("epoll");
    if (rank0) members_.enter(0, *rank0);
    const bool can_watch = watch(listener_.fd(), EPOLLIN, kListener, EPOLL_CTL_ADD) &&
                           watch(wake_.fd(), EPOLLIN, kWake, EPOLL_CTL_ADD);
    if (!can_watch) fail("epoll_ctl");
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() {
    is_stopping_ = true;
    const std::uint64_t one = 1;
    (void)!write(wake_.fd(), &one, sizeof one);
    thread_.join();
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const Place& place() const { return place_; }

 private:
  bool watch(int fd, std::uint32_t events, std::uint64_t id, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    return epoll_ctl(epoll_.fd(), operation, fd, &event) == 0;
  }

  void run();
  bool is_done(Clock::time_point& end) const;
  int milliseconds_to_next(Clock::time_point end) const;
  void accept_some();
  void stop_listening();
  void listen_again();
  void dispatch(const epoll_event& event);
  void serve_guarded(std::uint64_t id, std::uint32_t events);
  void turn_away_late(Clock::time_point now);
  void serve(std::uint64_t id, std::uint32_t events);
  bool read_from(std::uint64_t id, Connection& connection);
  bool take_messages(std::uint64_t id, Connection& connection);
  bool admit(std::uint64_t id, Connection& connection, std::size_t& used);
  bool write_to(std::uint64_t id, Connection& connection) const;
  void deliver();
  void end(std::uint64_t id);

  Socket listener_;
  Place place_;
  World world_;
  Socket epoll_;
  Socket wake_;
  std::atomic<bool> is_stopping_{false};
  // Beyond now if there was no descriptor for the next connection.
  Clock::time_point listens_again_ = Clock::time_point::max();
  std::uint64_t last_id_ = kWake;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::set<std::uint64_t> strangers_;  // numbers rise: the oldest stands first
  Members members_;
  Service service_;
  std::thread thread_;
};

void Server::Loop::run() {
  std::array<epoll_event, 256> events{};
  Clock::time_point end = Clock::time_point::max();
  while (!is_done(end)) {
    const int count =
        epoll_wait(epoll_.fd(), events.data(), events.size(), milliseconds_to_next(end));
    try {
      for (int i = 0; i < count; ++i) dispatch(events[static_cast<std::size_t>(i)]);
      const auto now = Clock::now();
      turn_away_late(now);
      service_.expire(now);
      deliver();
      if (now >= listens_again_) listen_again();
    } catch (const std::exception&) {
      // No memory for the next connection or answer: who waits for it gives up at its deadline.
    }
  }
}

void Server::Loop::dispatch(const epoll_event& event) {
  if (event.data.u64 == kListener) {
    accept_some();
  } else if (event.data.u64 == kWake) {
    stop_listening();
  } else {
    serve_guarded(event.data.u64, event.events);
  }
}

// After the word to stop: what has been answered still leaves.
bool Server::Loop::is_done(Clock::time_point& end) const {
  if (!is_stopping_) return false;
  const auto now = Clock::now();
  if (end == Clock::time_point::max()) end = now + kLinger;
  return now >= end || std::none_of(connections_.begin(), connections_.end(),
                                    [](const auto& entry) { return entry.second.unsent() > 0; });
}

int Server::Loop::milliseconds_to_next(Clock::time_point end) const {
  Clock::time_point next = end;
  if (const auto deadline = service_.next_deadline()) next = std::min(next, *deadline);
  if (!strangers_.empty())
    next = std::min(next, connections_.at(*strangers_.begin()).since + kTimeForProof);
  next = std::min(next, listens_again_);
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Server::Loop::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce && !is_stopping_; ++i) {
    Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (strangers_.empty()) {
        // Would be told again and again of a connection that it cannot take.
        watch(listener_.fd(), 0, kListener, EPOLL_CTL_MOD);
        listens_again_ = Clock::now() + kTryAgain;
        return;
      }
      end(*strangers_.begin());
      continue;
    }
    if (place_.is_local() && !is_own_user(socket)) continue;
    if (!place_.is_local()) set_stream_options(socket);
    // What the oldest has to say may have come meanwhile.
    if (strangers_.size() >= kStrangers) serve_guarded(*strangers_.begin(), EPOLLIN);
    if (strangers_.size() >= kStrangers) end(*strangers_.begin());
    const std::uint64_t id = ++last_id_;
    if (!watch(socket.fd(), EPOLLIN, id, EPOLL_CTL_ADD)) continue;
    const auto port = static_cast<std::uint16_t>(place_.port);
    connections_.emplace(
        id, Connection{std::move(socket), Admission(world_, port, members_), Clock::now()});
    strangers_.insert(id);
  }
}

// The word to stop has come: only what is under way goes on.
void Server::Loop::stop_listening() {
  std::uint64_t count = 0;
  (void)!read(wake_.fd(), &count, sizeof count);
  watch(listener_.fd(), 0, kListener, EPOLL_CTL_MOD);
  listens_again_ = Clock::time_point::max();
}

void Server::Loop::listen_again() {
  watch(listener_.fd(), EPOLLIN, kListener, EPOLL_CTL_MOD);
  listens_again_ = Clock::time_point::max();
}

// Without memory, or without random bytes for a nonce, one connection ends and not the program.
void Server::Loop::serve_guarded(std::uint64_t id, std::uint32_t events) {
  try {
    serve(id, events);
  } catch (const std::exception&) {
    if (connections_.count(id) != 0) end(id);
  }
}

void Server::Loop::turn_away_late(Clock::time_point now) {
  while (!strangers_.empty()) {
    const std::uint64_t oldest = *strangers_.begin();
    if (connections_.at(oldest).since + kTimeForProof > now) return;
    end(oldest);
  }
}

void Server::Loop::serve(std::uint64_t id, std::uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;  // ended earlier in this round
  Connection& connection = found->second;
  const bool can_write = (events & EPOLLOUT) != 0U;
  const bool can_read = (events & ~EPOLLOUT) != 0U;
  if ((can_write && !write_to(id, connection)) || (can_read && !read_from(id, connection))) end(id);
}

bool Server::Loop::read_from(std::uint64_t id, Connection& connection) {
  std::array<char, kOneRead> bytes;
  const ssize_t count = recv(connection.socket.fd(), bytes.data(), bytes.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (count == 0) return false;
  connection.in.append(bytes.data(), static_cast<std::size_t>(count));
  return take_messages(id, connection);
}

bool Server::Loop::take_messages(std::uint64_t id, Connection& connection) {
  std::size_t used = 0;
  const std::string_view in = connection.in;
  while (!connection.is_admitted) {
    const std::size_t before = used;
    if (!admit(id, connection, used)) return false;
    if (used == before) break;
  }
  while (connection.is_admitted && in.size() - used >= 4) {
    std::uint32_t size = 0;
    FrameReader(in.substr(used)).u32(size);
    if (size > kLargestFrame) return false;
    const std::size_t seal_size = connection.guard.seal_size();
    if (in.size() - used - 4 < size + seal_size) break;
    const std::string_view frame = in.substr(used, 4 + size);
    if (!connection.guard.accepts(frame, in.substr(used + 4 + size, seal_size))) return false;
    if (!service_.handle(id, frame.substr(4), Clock::now())) return false;
    used += 4 + size + seal_size;
  }
  connection.in.erase(0, used);
  return write_to(id, connection);
}

// One message of a connection's start, if it has arrived whole.
bool Server::Loop::admit(std::uint64_t id, Connection& connection, std::size_t& used) {
  const std::string_view rest = std::string_view(connection.in).substr(used);
  const std::size_t size = connection.admission.expects();
  if (rest.size() < size) return true;
  const Admission::State state = connection.admission.take(rest.substr(0, size), connection.out);
  used += size;
  if (state == Admission::State::turned_away) {
    write_to(id, connection);  // the reason, as far as there is one
    return false;
  }
  if (state == Admission::State::admitted) {
    connection.is_admitted = true;
    connection.guard = connection.admission.guard();
    strangers_.erase(id);
  }
  return true;
}

bool Server::Loop::write_to(std::uint64_t id, Connection& connection) const {
  while (connection.unsent() > 0) {
    const ssize_t count = send(connection.socket.fd(), connection.out.data() + connection.sent,
                               connection.unsent(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (count < 0) break;
    connection.sent += static_cast<std::size_t>(count);
  }
  // Not at each piece: that would move the rest of a large answer every time.
  if (connection.sent > connection.out.size() / 2) {
    connection.out.erase(0, connection.sent);
    connection.sent = 0;
  }
  const bool awaits_room = connection.unsent() > 0;
  if (awaits_room != connection.awaits_room) {
    connection.awaits_room = awaits_room;
    const std::uint32_t events = awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
    return watch(connection.socket.fd(), events, id, EPOLL_CTL_MOD);
  }
  return true;
}

void Server::Loop::deliver() {
  std::set<std::uint64_t> peers;
  for (Service::Reply& reply : service_.take_replies()) {
    const auto found = connections_.find(reply.peer);
    if (found == connections_.end()) continue;
    Connection& connection = found->second;
    if (connection.unsent() > 0 && connection.unsent() + reply.frame.size() > kLongestQueue) {
      end(reply.peer);
      continue;
    }
    connection.out += reply.frame;
    connection.guard.seal(reply.frame, connection.out);
    peers.insert(reply.peer);
  }
  for (const std::uint64_t peer : peers) {
    const auto found = connections_.find(peer);
    if (found == connections_.end() || found->second.awaits_room) continue;
    if (!write_to(peer, found->second)) end(peer);
  }
}

void Server::Loop::end(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found->second.is_admitted) service_.forget(id);
  strangers_.erase(id);
  connections_.erase(found);
}

std::unique_ptr<Server> Server::start(Place place, World world, const std::optional<Token>& rank0) {
  raise_descriptor_limit();
  Socket listener = listen_at(place);
  if (!listener.is_open()) return nullptr;
  auto loop =
      std::make_unique<Loop>(std::move(listener), std::move(place), std::move(world), rank0);
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;

const Place& Server::place() const {
  return loop_->place();
}

}  // namespace hpcboot::rendezvous
