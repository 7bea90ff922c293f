#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent_link.hpp"
#include "agents.hpp"
#include "console.hpp"
#include "heartbeats.hpp"
#include "jobs/run/ranks/run_input.hpp"
#include "jobs/run/ranks/silence.hpp"
#include "jobs/run/ranks/stop_requests.hpp"

namespace hpcboot::run {

// Supervises the agents for `hpcboot run`.
class Coordinator {
 public:
  Coordinator(const AgentRun& run, Console& console, const BlockedSignals& signals);

  // Returns when all ranks have ended. @return the exit code
  // @throws Error if they could not be started
  int run();

  // As in RunEnd.
  bool was_warned() const { return was_warned_; }
  int asked_by() const { return end_signal_ != 0 ? end_signal_ : stop_signal_; }
  const std::string& lost_host() const { return lost_host_; }

 private:
  void start_links();
  void turn();
  void take_signals();
  void hand_on(int number);
  bool can_be_warned() const;
  void warn_in_time();
  void stop_with_the_ranks();
  void take_frames(AgentLink& link);
  void take(AgentLink& link, const Frame& frame);
  void take_end(AgentLink& link, const Frame& frame);
  void look_at(AgentLink& link);
  void show_messages(AgentLink& link);
  bool have_answered() const;
  bool are_ready() const;
  void start_ranks();
  void lose(AgentLink& link, const std::string& why);
  // Ends the run because this agent is gone. @throws `why` before the ranks are started
  void end_without(AgentLink& link, const Error& why);
  void order(const SignalOrder& order);
  void end_others();
  void ask_to_end(int number);
  void take_out_error();
  void check_deadlines();
  void look_for_silence();
  bool are_stacks_written() const;
  [[noreturn]] void fail_to_start(const AgentLink& link, const std::string& reason) const;
  bool have_ranks_ended() const;
  void look_for_readers();
  std::optional<Error> error_at_end() const;
  void say_failure();
  bool have_ended() const;
  void close_links();
  int end_of_run();
  int exit_code() const;

  const AgentRun& run_;
  Console& console_;
  const BlockedSignals& signals_;
  RunInput input_;
  std::vector<AgentLink> links_;
  std::optional<Heartbeats> heartbeats_;
  bool has_started_ = false;
  StopRequests stop_requests_;
  int stop_signal_ = 0;             // ended the run before its ranks started
  int end_signal_ = 0;              // the first one that asked the ranks to end
  bool is_stopping_ = false;        // later failures are not reported
  bool was_warned_ = false;         // by SIGUSR1
  bool has_failed_itself_ = false;  // a rank or host, before any request to end
  bool is_out_lost_ = false;        // standard output cannot be written
  int out_error_ = 0;               // errno, if this ended the run
  std::optional<RankEnd> first_failure_;
  std::optional<Error> first_loss_;  // of an agent
  std::string lost_host_;
  Clock::time_point last_turn_ = Clock::now();
  Clock::time_point start_until_;
  std::optional<Clock::time_point> discard_at_;
  std::optional<Clock::time_point> leave_at_;
  std::optional<Clock::time_point> end_others_at_;  // one has stopped cleanly
  SilenceWatch silence_;
  std::optional<Clock::time_point> stacks_until_;  // all ranks were silent
  std::optional<Clock::time_point> ranks_ended_at_;
  bool is_failure_named_ = false;
  SilenceWatch readers_{std::nullopt};  // of the output, once the ranks have ended
  std::chrono::seconds reader_patience_{0};
  std::uint64_t written_ = 0;  // to them
};

}  // namespace hpcboot::run
