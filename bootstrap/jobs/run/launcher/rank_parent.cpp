#include "rank_parent.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "jobs/run/ranks/graces.hpp"
#include "jobs/run/ranks/left_behind.hpp"
#include "jobs/run/ranks/oom_kills.hpp"
#include "jobs/run/ranks/process_tree.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/ranks/rank_stacks.hpp"
#include "jobs/run/ranks/silence.hpp"
#include "jobs/run/stage/stage.hpp"
#include "rank_stream.hpp"

namespace hpcboot::run {
namespace {

// A launcher that also signals the ranks does so at most this long before `run`'s own signal or, on
// another host, after it.
constexpr std::chrono::seconds kSameSignal{10};
constexpr std::chrono::milliseconds kTimeForParent{300};
constexpr std::chrono::milliseconds kLookAtParent{500};
// For `run` to tell the ranks to end, after their stacks.
constexpr std::chrono::seconds kTimeForRun{10};
constexpr std::chrono::seconds kTimeForWord = kTimeForStacks + kTimeForRun;

bool is_request_to_end(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL;
}

// Supervises the program, its output and its signals.
class ParentSupervision {
 public:
  ParentSupervision(const RankStart& start, const RankWatch& watch, const LeftBehind& left_behind)
      : start_(start),
        watch_(watch),
        left_behind_(left_behind),
        out_(start, "out", STDOUT_FILENO),
        err_(start, "err", STDERR_FILENO),
        child_(spec()) {}

  RankEnd run() {
    // Signals that arrived before the program started have not reached it.
    take_own_signals();
    if (!start_.is_agent) {
      for (const auto& [number, when] : came_) tell(number);
    }
    if (start_.control != nullptr) start_.control->note_sign();
    while (!is_over()) {
      turn();
      look_after_launcher();
      if (!end_) look_for_end();
      if (end_ && !has_output_ended() && Clock::now() >= last_word_) finish_output();
    }
    child_.reap();
    return *end_;
  }

 private:
  ChildSpec spec() const {
    ChildSpec spec;
    spec.words = start_.words;
    spec.env = start_.env;
    // Signals for its ranks would terminate torchrun; the ranks are in their own sessions anyway.
    spec.own_group = start_.is_agent;
    if (start_.rank == 0) spec.input = STDIN_FILENO;
    return spec;
  }

  bool is_over() const {
    // Otherwise a launcher would end the others before their stacks are written, or while they
    // save.
    if (word_until_ && Clock::now() < *word_until_) return false;
    return end_ && has_output_ended() && out_.is_written() && err_.is_written();
  }

  bool has_output_ended() const { return out_.has_ended() && err_.has_ended(); }

  void turn() {
    PollSet set;
    out_.add_to(set, child_.out_fd());
    err_.add_to(set, child_.err_fd());
    set.add(watch_.signals.fd(), POLLIN);
    if (start_.control != nullptr) set.add(start_.control->fd(), POLLIN);
    auto until = Clock::now() + kLookAtParent;
    if (end_ && !has_output_ended()) until = std::min(until, last_word_);
    if (!due_.empty()) until = std::min(until, due_.front().first);
    for (const auto& time : {out_.next_time(), err_.next_time()})
      until = std::min(until, time.value_or(until));
    if (stacks_) {
      stacks_->add_to(set);
      until = std::min(until, stacks_->next_time());
    }
    set.wait(until);
    if (set.is_ready(child_.out_fd())) out_.pump(child_.out_fd());
    if (set.is_ready(child_.err_fd())) err_.pump(child_.err_fd());
    if (start_.control != nullptr && (out_.take_sign() || err_.take_sign()))
      start_.control->note_sign();
    if (out_.has_ended()) child_.close_out();
    if (err_.has_ended()) child_.close_err();
    out_.flush();
    err_.flush();
    take_own_signals();
    take_signals_of_run();
    tell_what_is_due();
    look_after_stacks(set);
    reap_orphans();
  }

  // The first report names the first failure, so report without waiting for the output.
  void look_for_end() {
    const auto ended = child_.ended();
    if (!ended) return;
    for (int i = 0; i < kMostLastReads && out_.pump(child_.out_fd());) ++i;
    for (int i = 0; i < kMostLastReads && err_.pump(child_.err_fd());) ++i;
    last_word_ = Clock::now() + kTimeForRest;
    RankEnd& end = end_.emplace();
    end.rank = start_.rank;
    end.host = start_.host;
    end.process_id = static_cast<int>(child_.pid());
    end.exit_code = ended->exit_code;
    end.signal = ended->signal;
    end.is_out_of_memory = end.signal == SIGKILL && oom_kills() > oom_kills_before_;
    take_own_signals();
    end.was_told = was_told_;
    end.last_lines = err_.last_lines();
    if (end.last_lines.empty()) end.last_lines = out_.last_lines();
    if (start_.control != nullptr) start_.control->report(end);
    if (start_.control != nullptr && end.has_stopped_in_order() && !was_told_)
      word_until_ = Clock::now() + kMostGraceToStop + kTimeForRun;
  }

  // Does not wait for processes that still hold the pipes.
  void finish_output() {
    child_.close_out();
    child_.close_err();
    if (!out_.has_ended()) out_.pump(-1);
    if (!err_.has_ended()) err_.pump(-1);
    out_.flush();
    err_.flush();
  }

  // The whole group got them too, including the program unless it leads its own group.
  void take_own_signals() {
    while (const auto number = watch_.signals.next()) {
      if (*number == SIGCHLD) continue;
      if (start_.is_agent && !has_just_got(*number)) tell(*number);
      note(*number);
    }
  }

  void take_signals_of_run() {
    if (start_.control == nullptr) return;
    while (const auto number = start_.control->take_signal()) {
      if (*number == kStacksOrder) {
        write_stacks();
      } else if (*number == SIGKILL) {
        tell(SIGKILL);
      } else {
        due_.emplace_back(Clock::now() + kTimeForParent, *number);
      }
    }
  }

  void tell_what_is_due() {
    while (!due_.empty() && Clock::now() >= due_.front().first) {
      take_own_signals();
      const int number = due_.front().second;
      due_.pop_front();
      if (!has_just_got(number)) tell(number);
    }
  }

  void write_stacks() {
    if (end_) return;
    was_told_ = true;  // a later failure is not its own
    word_until_ = Clock::now() + kTimeForWord;
    const std::string name = "rank " + std::to_string(start_.rank) + " on " + start_.host;
    stacks_.emplace(name, child_.pid(), start_.env,
                    [this](const std::string& lines) { err_.add(lines); });
  }

  void look_after_stacks(const PollSet& set) {
    if (!stacks_) return;
    stacks_->handle(set);
    if (!stacks_->is_done() && !end_) return;
    stacks_.reset();
    start_.control->tell_stacks_are_written();
  }

  void reap_orphans() const {
    std::vector<pid_t> own{child_.pid()};
    if (const auto debugger = stacks_ ? stacks_->child() : std::nullopt) own.push_back(*debugger);
    left_behind_.reap(own);
  }

  bool has_just_got(int number) const {
    const auto before = came_.find(number);
    return before != came_.end() && Clock::now() - before->second < kSameSignal;
  }

  void note(int number) {
    came_[number] = Clock::now();
    if (!is_request_to_end(number)) return;
    was_told_ = true;
    word_until_.reset();
  }

  // Signals the program and its descendants. Signals meant for its ranks would terminate torchrun.
  void tell(int number) {
    if (is_request_to_end(number)) note(number);
    if (number == SIGKILL) {
      out_.discard();  // readers are no longer waited for
      err_.discard();
    }
    const std::vector<pid_t> below = descendants_of(child_.pid());
    const bool is_for_ranks = number == SIGUSR1 || number == SIGUSR2;
    if (!(start_.is_agent && is_for_ranks)) kill(child_.pid(), number);
    if (start_.is_agent && !is_for_ranks && number != SIGKILL) return;  // it signals its ranks
    for (const pid_t process : below) kill(process, number);
  }

  // If the launcher's daemon or `run` was killed, this rank is no longer needed.
  void look_after_launcher() {
    const bool is_wanted =
        getppid() == watch_.launcher && (start_.control == nullptr || !start_.control->is_lost());
    if (!is_wanted) word_until_.reset();
    if ((is_wanted && !kill_at_) || end_) return;
    if (!kill_at_) {
      if (!has_just_got(SIGTERM)) tell(SIGTERM);
      kill_at_ = Clock::now() + kGraceToEnd;
    } else if (Clock::now() >= *kill_at_) {
      tell(SIGKILL);
    }
  }

  const RankStart& start_;
  const RankWatch& watch_;
  const LeftBehind& left_behind_;
  RankStream out_;
  RankStream err_;
  std::int64_t oom_kills_before_ = oom_kills();
  RankChild child_;
  std::optional<RankEnd> end_;
  Clock::time_point last_word_;
  std::map<int, Clock::time_point> came_;  // signals that the program received, and when
  std::deque<std::pair<Clock::time_point, int>> due_;  // signals from `run`
  bool was_told_ = false;                              // to end
  std::optional<RankStacks> stacks_;                   // until they are written
  std::optional<Clock::time_point> word_until_;        // wait for a request to end
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

RankEnd run_rank(const RankStart& start, const RankWatch& watch) {
  const LeftBehind left_behind;
  RankEnd end = ParentSupervision(start, watch, left_behind).run();
  left_behind.kill_all({kStageKeeper});
  return end;
}

}  // namespace hpcboot::run
