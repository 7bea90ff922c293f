#include "agent.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "agent_messages.hpp"
#include "core/descriptor_limit.hpp"
#include "frames.hpp"
#include "hpcboot/version.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/graces.hpp"
#include "jobs/run/ranks/left_behind.hpp"
#include "jobs/run/stage/stage.hpp"
#include "local_ranks.hpp"
#include "output_queue.hpp"
#include "rendezvous/handover.hpp"
#include "rendezvous/store/held_port.hpp"
#include "rendezvous/store/rendezvous.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kSpecDeadline{60};  // for the spec to arrive
constexpr std::chrono::seconds kLastWords{5};
// With this much unsent, output of the ranks is no longer read, and they block.
constexpr std::size_t kMostUnsent = std::size_t{1} << 20U;

class Agent {
 public:
  Agent(FrameChannel& channel, const LeftBehind& left_behind)
      : channel_(channel), left_behind_(left_behind) {}

  // Runs until all ranks have ended and everything has been reported.
  // @return whether any rank was started
  bool run(const BlockedSignals& signals) {
    const auto spec_until = Clock::now() + kSpecDeadline;
    while (!is_done()) {
      if (!ranks_ && Clock::now() > spec_until) break;
      const auto now = Clock::now();
      look_for_silence(now);
      beat(now);
      PollSet set;
      set.add(signals.fd(), POLLIN);
      if (!is_lost_) set.add(channel_.in(), POLLIN);
      if (channel_.unsent() > 0 && !is_lost_) set.add(channel_.out(), POLLOUT);
      auto until = next_heartbeat_;
      if (ranks_) {
        ranks_->add_to(set, has_room());
        until = std::min(until, ranks_->next_time());
      }
      if (stage_) set.add(stage_->fd(), POLLIN);
      if (kill_at_) until = std::min(until, *kill_at_);
      set.wait(until);
      turn(signals, set);
    }
    return has_started_;
  }

 private:
  bool is_done() const {
    const bool has_ended = has_started_ ? ranks_->have_ended() : is_lost_;
    return has_ended && (is_lost_ || (output_.is_empty() && channel_.unsent() == 0));
  }

  void beat(Clock::time_point now) {
    if (now < next_heartbeat_) return;
    next_heartbeat_ = now + kHeartbeat;
    if (channel_.unsent() < kMostUnsent) send(FrameKind::heartbeat, "");
  }

  bool has_room() const { return is_lost_ || output_.size() < kMostUnsent; }

  void send(FrameKind kind, const std::string& payload) {
    if (is_lost_) return;
    if (OutputQueue::takes(kind)) {
      output_.add(kind, payload);
      output_.send_to(channel_);
    } else {
      channel_.send(kind, payload);
    }
  }

  void turn(const BlockedSignals& signals, const PollSet& set) {
    // A scheduler signals all processes at once; forwarding is up to `hpcboot run`.
    while (signals.next()) {
    }
    if (!is_lost_ && set.is_ready(channel_.in())) {
      const bool is_there = channel_.receive();
      last_heard_ = Clock::now();
      while (const auto frame = channel_.next()) take(*frame);
      if (!is_there) lose();
    }
    if (!is_lost_) channel_.flush();
    if (ranks_) ranks_->handle(set);
    if (stage_ && set.is_ready(stage_->fd())) take_stage();
    left_behind_.reap(ranks_ ? ranks_->children() : std::vector<pid_t>{});
    if (has_started_ && !is_clean_ && ranks_->have_ended()) {
      is_clean_ = true;
      left_behind_.kill_all({kStageKeeper});
    }
    if (kill_at_ && Clock::now() >= *kill_at_) {
      kill_at_.reset();
      ranks_->signal(SIGKILL);
    }
  }

  void lose() {
    is_lost_ = true;
    if (has_started_) obey({SIGTERM, kGraceToEnd});
  }

  void look_for_silence(Clock::time_point now) {
    // `run` only seems silent while this process is stopped.
    if (now > last_turn_ + 3 * kHeartbeat) last_heard_ = now;
    last_turn_ = now;
    if (!silence_ || !has_started_ || is_lost_ || is_run_stopped_) return;
    if (now < last_heard_ + *silence_) return;
    send(FrameKind::note, "no message from hpcboot run for " +
                              std::to_string(silence_->count() / 1000) + " s: ending the ranks");
    lose();
  }

  void take(const Frame& frame) {
    switch (frame.kind) {
      case FrameKind::heartbeat:
        return;
      case FrameKind::spec:
        prepare(frame.payload);
        return;
      case FrameKind::start:
        if (!ranks_ || has_started_) break;
        port_.reset();
        // It takes long if there are many, or if their program is on a slow file system.
        ranks_->start(read_master(frame.payload), [this] { beat(Clock::now()); });
        has_started_ = true;
        return;
      case FrameKind::signal:
        if (!has_started_) break;
        obey(read_order(frame.payload));
        return;
      case FrameKind::input:
        if (!has_started_) break;
        ranks_->give_input(frame.payload);
        return;
      case FrameKind::stacks:
        if (!has_started_) break;
        ranks_->write_stacks();
        return;
      case FrameKind::room:
        output_.note_room(static_cast<std::size_t>(read_room(frame.payload).bytes));
        output_.send_to(channel_);
        return;
      case FrameKind::hello:
      case FrameKind::staged:
      case FrameKind::output:
      case FrameKind::error_output:
      case FrameKind::input_taken:
      case FrameKind::note:
      case FrameKind::stacks_written:
      case FrameKind::ended:
      case FrameKind::complete:
      case FrameKind::failed:
        break;
    }
    throw Error(ErrorCode::exchange_failed,
                std::string("message '") + static_cast<char>(frame.kind) + "' out of order",
                "messages of hpcboot run in protocol order",
                "use the same version of hpcboot on all hosts");
  }

  void prepare(std::string_view payload) {
    AgentSpec spec = read_spec(payload);
    silence_ = spec.silence;
    const bool is_first = spec.first_rank == 0;
    const bool is_alone = spec.num_nodes == 1;
    const auto source = spec.stage;
    const std::string launch_id = spec.handover[rendezvous::kHandoverId];
    ranks_ = std::make_unique<LocalRanks>(
        std::move(spec), [this](FrameKind kind, const std::string& text) { send(kind, text); });
    const Resolution& r = ranks_->resolution();
    AgentHello hello;
    hello.version = version();
    hello.hostname = own_hostname();
    if (is_first && rendezvous::is_chosen_by_user(r, "master_addr")) {
      hello.address = *r.master_addr;
    } else {
      hello.address = is_alone ? "127.0.0.1" : r.interface_address.value_or("");
    }
    if (is_first && rendezvous::is_chosen_by_user(r, "master_port")) {
      hello.port = *r.master_port;
    } else if (is_first) {
      port_ = rendezvous::take_a_free_port();
      hello.port = port_->number();
    }
    send(FrameKind::hello, to_payload(hello));
    if (source) stage_.emplace(*source, ranks_->env(), launch_id);
  }

  void take_stage() {
    const auto staged = stage_->result();
    if (!staged) return;
    ranks_->set_staged(staged->path);
    if (!staged->note.empty()) send(FrameKind::note, staged->note);
    send(FrameKind::staged, "");
  }

  void obey(const SignalOrder& order) {
    // `run` stops together with the ranks.
    if (order.signal == SIGTSTP || order.signal == SIGCONT)
      is_run_stopped_ = order.signal == SIGTSTP;
    ranks_->signal(order.signal);
    if (!order.kill_after) return;
    // A stopped rank could not end.
    ranks_->signal(SIGCONT);
    const auto at = Clock::now() + *order.kill_after;
    kill_at_ = kill_at_ ? std::min(*kill_at_, at) : at;
  }

  FrameChannel& channel_;
  OutputQueue output_;
  const LeftBehind& left_behind_;
  std::unique_ptr<LocalRanks> ranks_;
  std::optional<Stage> stage_;
  std::unique_ptr<rendezvous::HeldPort> port_;
  bool has_started_ = false;
  bool is_lost_ = false;
  bool is_clean_ = false;  // no process of the ranks is left
  Clock::time_point next_heartbeat_ = Clock::now() + kHeartbeat;
  std::optional<std::chrono::milliseconds> silence_;  // of `run`, the longest
  bool is_run_stopped_ = false;
  Clock::time_point last_heard_ = Clock::now();
  Clock::time_point last_turn_ = Clock::now();
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

int agent_main(int in, int out) {
  raise_descriptor_limit();
  const BlockedSignals signals(
      {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGTSTP});
  const LeftBehind left_behind;
  FrameChannel channel(in, out);
  try {
    return Agent(channel, left_behind).run(signals) ? 0 : 1;
  } catch (const Error& error) {
    left_behind.kill_all({kStageKeeper});
    channel.send(FrameKind::failed, to_payload(error));
    const auto until = Clock::now() + kLastWords;
    while (channel.unsent() > 0 && Clock::now() < until) {
      PollSet set;
      set.add(channel.out(), POLLOUT);
      set.wait(until);
      channel.flush();
    }
    return error.exit_code();
  }
}

}  // namespace hpcboot::run
