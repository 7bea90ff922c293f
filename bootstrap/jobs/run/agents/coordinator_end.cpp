#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "coordinator.hpp"
#include "jobs/run/ranks/graces.hpp"

// How a run ends: signals, lost hosts, deadlines.
namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kStopPatience{1};  // for the order to reach the agents
constexpr std::chrono::seconds kAfterKill{10};    // for agents to report the end of their ranks
constexpr std::chrono::milliseconds kLookAtEnd{20};
constexpr std::chrono::seconds kLastOutput{2};  // for slow readers, once the run was ended

// "rank 3" or "ranks 0-3, 8, 9": a host may have thousands.
std::string joined(const std::set<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (auto first = ranks.begin(); first != ranks.end();) {
    int last = *first;
    auto next = std::next(first);
    while (next != ranks.end() && *next == last + 1) last = *next++;
    const bool is_range = last > *first + 1;
    if (!is_range) next = std::next(first);
    text += (first == ranks.begin() ? "" : ", ") + std::to_string(*first);
    if (is_range) text += "-" + std::to_string(last);
    first = next;
  }
  return text;
}

bool asks_for_the_end(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

}  // namespace

void Coordinator::lose(AgentLink& link, const std::string& why) {
  show_messages(link);
  if (!link.hello) fail_to_start(link, why);
  // This host is alive: only its agent was killed.
  const bool is_first = !first_failure_ && !first_loss_;
  if (is_first && !is_stopping_ && !link.is_here()) lost_host_ = link.host();
  end_without(link,
              Error(ErrorCode::peer_lost,
                    "host " + link.host() + " was lost: " + joined(link.ranks()) + "; " + why,
                    "an agent on every host until its ranks end",
                    link.is_here() ? "find out what killed it: `dmesg` reports out-of-memory kills"
                                   : "check " + link.host() + ", or start the run without it"));
}

void Coordinator::end_without(AgentLink& link, const Error& why) {
  if (!has_started_) throw Error(why);
  if (!first_failure_ && !first_loss_) {
    first_loss_ = why;
    has_failed_itself_ = !is_stopping_;
  }
  link.close();
  end_others();
}

void Coordinator::fail_to_start(const AgentLink& link, const std::string& reason) const {
  throw Error(
      ErrorCode::backend_unavailable, "no agent on " + link.host() + ": " + reason,
      "hpcboot run-agent on every host, started by " + std::string(name_of(run_.plan.launcher)),
      "make sure that " + run_.self + " can be started there without a password");
}

void Coordinator::order(const SignalOrder& order) {
  for (AgentLink& link : links_) link.send(FrameKind::signal, to_payload(order));
}

void Coordinator::end_others() {
  end_others_at_.reset();
  order({SIGTERM, kGraceToEnd});
  if (!leave_at_) leave_at_ = Clock::now() + kGraceToEnd + kAfterKill;
}

void Coordinator::ask_to_end(int number) {
  is_stopping_ = true;
  end_others_at_.reset();
  order({number, run_.grace});
  discard_at_ = Clock::now() + run_.grace + kLastOutput;
  leave_at_ = Clock::now() + run_.grace + kAfterKill;
}

void Coordinator::take_out_error() {
  const int error = console_.out_error();
  if (error == 0 || is_out_lost_) return;
  is_out_lost_ = true;
  if (error != EPIPE) {
    console_.say([&](Terminal& to) {
      to << "hpcboot run: standard output cannot be written: " << std::strerror(error) << "\n";
    });
  }
  // Ctrl-C also ends the `tee` that reads the output: ranks that were already told to end, and may
  // be saving, get no further signal, and their exit code counts.
  if (leave_at_) return;
  out_error_ = error;
  // If the output was a terminal that has closed, its SIGHUP is the same request.
  stop_requests_.take(SIGHUP, Clock::now());
  ask_to_end(SIGTERM);
}

void Coordinator::check_deadlines() {
  const auto now = Clock::now();
  if (!have_answered() && now >= start_until_ && stop_signal_ == 0) {
    std::string missing;
    for (AgentLink& link : links_) {
      if (!link.hello)
        missing += (missing.empty() ? "" : "; ") + link.host() + ": " + link.reason();
    }
    throw Error(
        ErrorCode::deadline_exceeded,
        "no agent within " + std::to_string(run_.request.timeout.count()) + " s: " + missing,
        "an agent on every host before the timeout",
        "try the connection by hand, as in `ssh HOST true`, or raise --timeout");
  }
  if (end_others_at_ && now >= *end_others_at_) end_others();
  if (discard_at_ && now >= *discard_at_) console_.discard();
  if (!leave_at_ || now < *leave_at_) return;
  for (AgentLink& link : links_) {
    if (link.fd() >= 0 && !link.running().empty())
      lose(link, "its ranks were sent SIGKILL but have not ended");
  }
}

void Coordinator::take_signals() {
  while (const auto number = signals_.next()) {
    if (*number == SIGCHLD) continue;
    if (*number == SIGTSTP) {
      stop_with_the_ranks();
    } else if (has_started_) {
      hand_on(*number);
    } else if (asks_for_the_end(*number) || *number == SIGQUIT || *number == SIGXCPU) {
      stop_requests_.take(*number, Clock::now());
      stop_signal_ = *number;
    }
  }
}

void Coordinator::hand_on(int number) {
  if (!asks_for_the_end(number)) {
    was_warned_ = was_warned_ || number == SIGUSR1;
    order({number, std::nullopt});
    return;
  }
  const StopMeaning meaning = stop_requests_.take(number, Clock::now());
  if (meaning == StopMeaning::repeated) return;
  if (end_signal_ == 0) end_signal_ = number;
  if (meaning == StopMeaning::second) {
    console_.say([](Terminal& to) { to << "hpcboot run: second signal: killing the ranks\n"; });
    order({SIGKILL, std::nullopt});
    discard_at_ = Clock::now() + kLastOutput;
    leave_at_ = Clock::now() + kAfterKill;
    return;
  }
  ask_to_end(number);
}

bool Coordinator::can_be_warned() const {
  return run_.clock != nullptr && !was_warned_ && has_started_ && !is_stopping_;
}

void Coordinator::warn_in_time() {
  if (!can_be_warned() || !run_.clock->is_due()) return;
  console_.say([&](Terminal& to) { say_warning(to, *run_.clock); });
  hand_on(SIGUSR1);
}

// The ranks are in their own process groups, which the terminal does not signal.
void Coordinator::stop_with_the_ranks() {
  if (has_started_) order({SIGTSTP, std::nullopt});
  const auto until = Clock::now() + kStopPatience;
  const auto has_unsent = [](AgentLink& link) {
    if (link.channel() != nullptr) link.channel()->flush();
    return link.channel() != nullptr && link.channel()->unsent() > 0;
  };
  while (std::any_of(links_.begin(), links_.end(), has_unsent) && Clock::now() < until) {
    PollSet set;
    for (const AgentLink& link : links_) link.add_to(set, false);
    set.wait(until);
  }
  kill(getpid(), SIGSTOP);
}

// Agents remove their staged copies first. Without --stage they end when the links are destroyed.
void Coordinator::close_links() {
  if (!run_.request.stage) return;
  for (AgentLink& link : links_) link.close();
  const auto has_ended = [](AgentLink& link) { return link.has_ended(); };
  while (!std::all_of(links_.begin(), links_.end(), has_ended)) {
    PollSet set;
    set.wait(Clock::now() + kLookAtEnd);
  }
}

int Coordinator::end_of_run() {
  for (AgentLink& link : links_) link.close();
  while (!console_.is_written() ||
         !std::all_of(links_.begin(), links_.end(), [](AgentLink& l) { return l.has_ended(); })) {
    PollSet set;
    set.add(signals_.fd(), POLLIN);
    console_.add_to(set);
    for (const AgentLink& link : links_) link.add_to(set, false);
    set.wait(Clock::now() + kLookAtEnd);
    while (const auto number = signals_.next()) {
      if (!asks_for_the_end(*number)) continue;
      // A repetition of the signal that ended the ranks does not count.
      if (stop_requests_.take(*number, Clock::now()) != StopMeaning::repeated) console_.discard();
    }
    if (discard_at_ && Clock::now() >= *discard_at_) console_.discard();
    for (AgentLink& link : links_) look_at(link);
    console_.flush();
    take_out_error();
    look_for_readers();
  }
  say_failure();
  return exit_code();
}

std::optional<Error> Coordinator::error_at_end() const {
  if (stop_signal_ != 0) return std::nullopt;
  if (stacks_until_) return silence_error(*run_.request.silence);
  // In a cancelled job ssh may end before the ranks.
  const bool was_asked = end_signal_ != 0 || out_error_ != 0;
  return was_asked && !has_failed_itself_ ? std::nullopt : first_loss_;
}

void Coordinator::say_failure() {
  if (is_failure_named_) return;
  const auto error = error_at_end();
  is_failure_named_ = error || (first_failure_ && has_failed_itself_);
  if (!is_failure_named_) return;
  console_.say([&](Terminal& to) {
    if (error) {
      to << terminal_lines(format_error("hpcboot run", *error));
    } else {
      print_first_failure(to, *first_failure_, run_.plan.layout.world_size());
    }
  });
}

int Coordinator::exit_code() const {
  if (stop_signal_ != 0) return 128 + stop_signal_;
  if (const auto error = error_at_end()) return error->exit_code();
  if (out_error_ != 0 && !has_failed_itself_) return out_error_ == EPIPE ? 128 + SIGPIPE : 1;
  if (first_loss_) return 128 + end_signal_;
  return first_failure_ ? first_failure_->exit_code : 0;
}

}  // namespace hpcboot::run
