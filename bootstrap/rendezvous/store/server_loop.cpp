#include "server_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/start_thread.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kStrangers = 256;
constexpr milliseconds kTimeForProof = std::chrono::seconds(2);
constexpr milliseconds kLinger = std::chrono::seconds(1);
// Limits for a peer that sends requests but does not read the answers. Its requests wait; but waits
// that it has begun may end and add answers.
constexpr std::size_t kFullQueue = kLargestFrame;
constexpr std::size_t kLongestQueue = 4 * kLargestFrame;
constexpr milliseconds kTimeToTake = std::chrono::seconds(10);

// A flood of connections must not keep the loop from serving the existing ones.
constexpr int kAcceptedAtOnce = 64;
// Delay before it tries again to accept, after it ran out of descriptors.
constexpr milliseconds kTryAgain(100);

[[noreturn]] void fail(const char* call) {
  throw Error(ErrorCode::exchange_failed, std::string(call) + ": " + std::strerror(errno),
              "system resources for the store's server",
              "check the limits of this job (ulimit -n)");
}

}  // namespace

ServerLoop::ServerLoop(Socket listener, Place place, World world, const std::optional<Token>& rank0,
                       std::unique_ptr<Handler> handler)
    : handler_(std::move(handler)),
      listener_(std::move(listener)),
      place_(std::move(place)),
      world_(std::move(world)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.is_open() || !wake_.is_open()) fail("epoll");
  if (rank0) members_.enter(0, *rank0);
  const bool can_watch = watch(listener_.fd(), EPOLLIN, kListener, EPOLL_CTL_ADD) &&
                         watch(wake_.fd(), EPOLLIN, kWake, EPOLL_CTL_ADD) && watch_handler();
  if (!can_watch) fail("epoll_ctl");
  thread_ = start_thread([this] { run(); });
}

ServerLoop::~ServerLoop() {
  is_stopping_ = true;
  const std::uint64_t one = 1;
  (void)!write(wake_.fd(), &one, sizeof one);
  thread_.join();
}

bool ServerLoop::watch(int fd, std::uint32_t events, std::uint64_t id, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return epoll_ctl(epoll_.fd(), operation, fd, &event) == 0;
}

bool ServerLoop::watch_handler() const {
  return handler_->fd() < 0 || watch(handler_->fd(), EPOLLIN, kUpstream, EPOLL_CTL_ADD);
}

void ServerLoop::run() {
  std::array<epoll_event, 256> events{};
  Clock::time_point end = Clock::time_point::max();
  while (!is_done(end)) {
    const int count =
        epoll_wait(epoll_.fd(), events.data(), events.size(), milliseconds_to_next(end));
    try {
      for (int i = 0; i < count; ++i) dispatch(events[static_cast<std::size_t>(i)]);
      go_on();
    } catch (const std::exception&) {
      // No memory for the next connection or answer: its peer times out.
    }
  }
}

void ServerLoop::go_on() {
  const auto now = Clock::now();
  turn_away_late(now);
  handler_->expire(now);
  if (!lost_until_ && !move_handler()) {
    // Accept no more connections; existing ones end once they have their answers.
    listener_.close();
    if (handler_->fd() >= 0) watch(handler_->fd(), 0, kUpstream, EPOLL_CTL_DEL);
    listens_again_ = Clock::time_point::max();
    lost_until_ = now + kLinger;
  }
  deliver();
  if (lost_until_) end_lost(now);
  if (now >= listens_again_) listen_again();
}

// @return false also if there was no memory for what was read, since it would be lost
bool ServerLoop::move_handler() {
  try {
    if (!handler_->move()) return false;
    if (handler_->fd() < 0 || handler_->has_unsent() == handler_awaits_room_) return true;
    handler_awaits_room_ = !handler_awaits_room_;
    return watch(handler_->fd(), handler_awaits_room_ ? EPOLLIN | EPOLLOUT : EPOLLIN, kUpstream,
                 EPOLL_CTL_MOD);
  } catch (const std::exception&) {
    return false;
  }
}

void ServerLoop::dispatch(const epoll_event& event) {
  if (event.data.u64 == kListener) {
    accept_some();
  } else if (event.data.u64 == kWake) {
    stop_listening();
  } else if (event.data.u64 != kUpstream) {
    serve_guarded(event.data.u64, event.events);
  }
}

// After a stop request: pending answers are still sent, and peers may be waited for.
bool ServerLoop::is_done(Clock::time_point& end) const {
  if (!is_stopping_) return false;
  const auto now = Clock::now();
  const milliseconds farewell = handler_->farewell();
  if (end == Clock::time_point::max()) end = now + std::max(kLinger, farewell);
  return now >= end ||
         std::none_of(connections_.begin(), connections_.end(), [&](const auto& entry) {
           const Connection& connection = entry.second;
           return connection.stream.unsent() > 0 ||
                  (connection.is_admitted && farewell > milliseconds(0));
         });
}

int ServerLoop::milliseconds_to_next(Clock::time_point end) const {
  Clock::time_point next = end;
  if (const auto deadline = handler_->next_deadline()) next = std::min(next, *deadline);
  if (!strangers_.empty())
    next = std::min(next, connections_.at(*strangers_.begin()).since + kTimeForProof);
  next = std::min(next, std::min(listens_again_, lost_until_.value_or(next)));
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void ServerLoop::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce && !is_stopping_; ++i) {
    Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (strangers_.empty()) {
        // Otherwise epoll would report the connection again and again.
        watch(listener_.fd(), 0, kListener, EPOLL_CTL_MOD);
        listens_again_ = Clock::now() + kTryAgain;
        return;
      }
      end(*strangers_.begin());
      continue;
    }
    if (place_.is_local() && !is_own_user(socket)) continue;
    if (!place_.is_local()) set_stream_options(socket);
    // The message of the oldest one may have arrived in the meantime.
    if (strangers_.size() >= kStrangers) serve_guarded(*strangers_.begin(), EPOLLIN);
    if (strangers_.size() >= kStrangers) end(*strangers_.begin());
    const std::uint64_t id = ++last_id_;
    if (!watch(socket.fd(), EPOLLIN, id, EPOLL_CTL_ADD)) continue;
    const auto port = static_cast<std::uint16_t>(place_.port);
    Connection connection{Stream(std::move(socket)), Admission(world_, port, members_),
                          Clock::now()};
    connection.events = EPOLLIN;
    connections_.emplace(id, std::move(connection));
    strangers_.insert(id);
  }
}

// A stop was requested: only what is in progress continues.
void ServerLoop::stop_listening() {
  std::uint64_t count = 0;
  (void)!read(wake_.fd(), &count, sizeof count);
  watch(listener_.fd(), 0, kListener, EPOLL_CTL_MOD);
  listens_again_ = Clock::time_point::max();
}

void ServerLoop::listen_again() {
  watch(listener_.fd(), EPOLLIN, kListener, EPOLL_CTL_MOD);
  listens_again_ = Clock::time_point::max();
}

// Without memory, or without random bytes for a nonce, only one connection ends, not the program.
void ServerLoop::serve_guarded(std::uint64_t id, std::uint32_t events) {
  try {
    serve(id, events);
  } catch (const std::exception&) {
    if (connections_.count(id) != 0) end(id);
  }
}

void ServerLoop::turn_away_late(Clock::time_point now) {
  while (!strangers_.empty()) {
    const std::uint64_t oldest = *strangers_.begin();
    if (connections_.at(oldest).since + kTimeForProof > now) return;
    end(oldest);
  }
}

void ServerLoop::serve(std::uint64_t id, std::uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;  // ended earlier in this round
  Connection& connection = found->second;
  const bool can_write = (events & EPOLLOUT) != 0U;
  const bool can_read = (events & ~EPOLLOUT) != 0U;
  const bool goes_on =
      (!can_write || (write_to(id, connection) && take_messages(id, connection))) &&
      (!can_read || read_from(id, connection));
  if (!goes_on) end(id);
}

bool ServerLoop::read_from(std::uint64_t id, Connection& connection) {
  const Stream::Progress progress = connection.stream.read_some();
  if (progress != Stream::Progress::some) return progress == Stream::Progress::none;
  return take_messages(id, connection);
}

bool ServerLoop::take_messages(std::uint64_t id, Connection& connection) {
  Stream& stream = connection.stream;
  while (!connection.is_admitted) {
    if (stream.rest().size() < connection.admission.expects()) return write_to(id, connection);
    if (!admit(id, connection)) return false;
  }
  std::string_view frame;
  Stream::Next next = Stream::Next::frame;
  while (true) {
    connection.is_full = stream.unsent() > kFullQueue;
    if (connection.is_full) break;
    next = stream.next_frame(frame);
    if (next != Stream::Next::frame) break;
    if (!handler_->handle(id, frame, Clock::now())) return false;
    queue_answers();
  }
  return next != Stream::Next::broken && write_to(id, connection);
}

// Takes one message of the start of a connection.
bool ServerLoop::admit(std::uint64_t id, Connection& connection) {
  Stream& stream = connection.stream;
  std::string answer;
  const std::size_t size = connection.admission.expects();
  const Admission::State state = connection.admission.take(stream.rest().substr(0, size), answer);
  stream.take(size);
  stream.put(answer);
  if (state == Admission::State::turned_away) {
    write_to(id, connection);  // the reason, if there is one
    return false;
  }
  if (state == Admission::State::admitted) {
    connection.is_admitted = true;
    stream.guard_by(connection.admission.guard());
    strangers_.erase(id);
  }
  return true;
}

bool ServerLoop::write_to(std::uint64_t id, Connection& connection) const {
  const std::size_t before = connection.stream.unsent();
  if (!connection.stream.write_some()) return false;
  if (connection.stream.unsent() < before) connection.moved = Clock::now();
  // If it is full, EPOLLOUT also says when to go on with the requests that have arrived.
  std::uint32_t events = 0;
  if (!connection.is_full) events |= EPOLLIN;
  if (connection.is_full || connection.stream.unsent() > 0) events |= EPOLLOUT;
  if (events == connection.events) return true;
  connection.events = events;
  return watch(connection.stream.fd(), events, id, EPOLL_CTL_MOD);
}

void ServerLoop::queue_answers() {
  for (const Handler::Reply& reply : handler_->take_replies()) {
    const auto found = connections_.find(reply.peer);
    if (found == connections_.end()) continue;
    Connection& connection = found->second;
    if (connection.stream.unsent() == 0) connection.moved = Clock::now();
    connection.stream.put_frame(reply.frame);
    answered_.insert(reply.peer);
  }
}

void ServerLoop::deliver() {
  queue_answers();
  const auto now = Clock::now();
  for (const std::uint64_t peer : std::exchange(answered_, {})) {
    const auto found = connections_.find(peer);
    if (found == connections_.end()) continue;
    Connection& connection = found->second;
    // The peer may be the relay of a whole host: a long queue is not an error as long as it reads.
    const bool is_stuck =
        connection.stream.unsent() > kLongestQueue && now - connection.moved > kTimeToTake;
    const bool awaits_room = (connection.events & EPOLLOUT) != 0U;
    if (is_stuck || (!awaits_room && !write_to(peer, connection))) end(peer);
  }
}

void ServerLoop::end(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found->second.is_admitted) handler_->forget(id);
  strangers_.erase(id);
  connections_.erase(found);
}

// Ends connections, so that every peer notices.
void ServerLoop::end_lost(Clock::time_point now) {
  std::vector<std::uint64_t> done;
  for (const auto& [id, connection] : connections_) {
    if (now >= *lost_until_ || connection.stream.unsent() == 0) done.push_back(id);
  }
  for (const std::uint64_t id : done) end(id);
  if (connections_.empty()) lost_until_ = Clock::time_point::max();
}

}  // namespace hpcboot::rendezvous
