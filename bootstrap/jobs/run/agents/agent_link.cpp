#include "agent_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agent.hpp"
#include "output_queue.hpp"

namespace hpcboot::run {
namespace {

constexpr std::size_t kLongestMessage = 4096;

FdPair make_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorCode::backend_unavailable, std::string("socketpair: ") + std::strerror(errno),
                "two more file descriptors", "check ulimit -n");
  }
  return {ends[0], ends[1]};
}

std::string way_of(const std::vector<std::string>& words) {
  if (words.empty()) return "agent";
  return words.front().substr(words.front().rfind('/') + 1);
}

void require_rank(const std::set<int>& ranks, int rank) {
  if (ranks.count(rank) != 0) return;
  throw Error(
      ErrorCode::malformed_file,
      "message from an agent about rank " + std::to_string(rank) + ", which it does not run",
      "a rank that this agent was told to start and that has not ended",
      "use the same version of hpcboot on all hosts");
}

}  // namespace

AgentLink::AgentLink(std::string host, const std::vector<std::string>& words, std::set<int> ranks,
                     const std::vector<int>& foreign)
    : host_(std::move(host)),
      is_here_(words.empty()),
      way_(way_of(words)),
      ranks_(std::move(ranks)),
      running_(ranks_) {
  const FdPair ends = make_sockets();
  channel_ = std::make_shared<FrameChannel>(ends.first, ends.first);
  ChildSpec spec;
  spec.words = words;
  spec.input = ends.second;
  spec.output = ends.second;
  spec.death_signal = SIGTERM;
  // PBS and others signal the whole session of a job: the ranks must get such a signal once, and
  // ssh not at all. Without a terminal ssh cannot ask for a password either and fails at once.
  spec.own_session = true;
  if (words.empty()) {
    spec.words = {"run-agent"};
    spec.body = [&] {
      for (const int fd : foreign) ::close(fd);
      ::close(ends.first);
      ::close(ends.second);
      return agent_main(STDIN_FILENO, STDOUT_FILENO);
    };
  } else {
    const Env env = Env::from_process();
    spec.env = {env.variables().begin(), env.variables().end()};
  }
  try {
    process_.emplace(spec);
  } catch (const CannotExecute& error) {
    ::close(ends.second);
    throw Error(ErrorCode::backend_unavailable,
                "cannot start the agent for " + host_ + ": " + error.reason,
                "a command that starts programs on other hosts", "choose another --launcher");
  }
  ::close(ends.second);
}

void AgentLink::note_output(int rank, std::size_t bytes) {
  require_rank(ranks_, rank);
  taken_ += bytes;
}

void AgentLink::note_end(int rank) {
  require_rank(running_, rank);
  running_.erase(rank);
}

void AgentLink::note_complete(int rank, std::size_t bytes) {
  require_rank(ranks_, rank);
  taken_ += bytes;
  ranks_.erase(rank);
  running_.erase(rank);
}

void AgentLink::give_room() {
  if (taken_ < kOutputWindow / 4) return;  // few bytes do not block the agent
  send(FrameKind::room, to_payload(OutputRoom{static_cast<int>(taken_)}));
  taken_ = 0;
}

void AgentLink::send(FrameKind kind, const std::string& payload) {
  if (channel_) channel_->send(kind, payload);
}

void AgentLink::close() {
  if (channel_) kill_at_ = Clock::now() + time_to_end;
  channel_.reset();
}

bool AgentLink::has_ended() {
  if (!process_) return true;
  if (!process_->ended() && (!kill_at_ || Clock::now() < *kill_at_)) return false;
  if (channel_) return false;
  process_.reset();
  return true;
}

std::vector<std::string> AgentLink::new_messages() {
  read_messages();
  return std::exchange(messages_, {});
}

void AgentLink::read_messages() {
  char buffer[4096];
  while (process_ && process_->err_fd() >= 0) {
    const ssize_t size = read(process_->err_fd(), buffer, sizeof buffer);
    if (size < 0) return;
    if (size == 0) {
      process_->close_err();
      if (!unfinished_.empty()) unfinished_ += '\n';
    }
    unfinished_.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = unfinished_.find('\n')) != std::string::npos;) {
      add_message(unfinished_.substr(0, end));
      unfinished_.erase(0, end + 1);
    }
    if (unfinished_.size() > kLongestMessage) add_message(std::exchange(unfinished_, ""));
  }
}

void AgentLink::add_message(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();  // ssh ends its own lines with one
  if (line.empty()) return;
  last_message_ = line;
  messages_.push_back(std::move(line));
}

std::string AgentLink::reason(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (process_ && !process_->ended() && Clock::now() < until) usleep(1000);
  read_messages();
  std::string reason = hello ? "its connection closed" : "no answer";
  if (const auto end = process_ ? process_->ended() : std::nullopt) {
    reason = end->signal != 0
                 ? "its " + way_ + " was terminated by signal " + std::to_string(end->signal) +
                       " (" + strsignal(end->signal) + ")"
                 : "its " + way_ + " ended with exit code " + std::to_string(end->exit_code);
  }
  return last_message_.empty() ? reason : reason + ": " + last_message_;
}

void AgentLink::add_to(PollSet& set, bool reads) const {
  if (process_) set.add(process_->err_fd(), POLLIN);
  if (!channel_) return;
  if (reads) set.add(channel_->in(), POLLIN);
  if (channel_->unsent() > 0) set.add(channel_->out(), POLLOUT);
}

}  // namespace hpcboot::run
