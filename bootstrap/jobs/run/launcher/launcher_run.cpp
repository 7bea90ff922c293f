#include "launcher_run.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include "control.hpp"
#include "first_rank.hpp"
#include "hpcboot/error.hpp"
#include "input_pipe.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/graces.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/ranks/stop_requests.hpp"
#include "launcher_end.hpp"
#include "lone_launcher.hpp"
#include "private_file.hpp"
#include "silence_of_ranks.hpp"

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

// Launchers end the other ranks after a failure themselves. A rank that they have signalled is not
// signalled again.
constexpr seconds kTimeForLauncher{2};
// Nothing notifies a process that has moved to the foreground of its terminal and may now read it.
constexpr seconds kLook{1};
constexpr auto kNever = Clock::time_point::max();

std::map<std::string, std::string> environment_of(
    const Plan& plan, const std::map<std::string, std::string>& handed_over,
    const std::string& hostfile) {
  std::map<std::string, std::string> variables;
  const Env own = Env::from_process();
  for (const auto& [name, value] : own.variables()) variables[name] = value;
  for (const std::string& name : plan.unset) variables.erase(name);
  for (const auto& [name, value] : plan.set) variables[name] = value;
  if (!plan.hostfile.empty() && plan.hostfile_word == 0) variables[kHostfileVariable] = hostfile;
  for (const auto& [name, value] : handed_over) variables[name] = value;
  return variables;
}

class Supervision {
 public:
  Supervision(const LauncherRun& run, Control& control, RankChild& launcher,
              const BlockedSignals& signals, InputPipe& input, SilenceOfRanks& silence,
              Terminal& err)
      : run_(run),
        control_(control),
        launcher_(launcher),
        signals_(signals),
        input_(input),
        silence_(silence),
        first_(control, run.timeout),
        alone_(control, run.plan.layout.world_size(), run.timeout),
        clock_(run.clock),
        err_(err) {}

  ChildEnd run() {
    std::optional<ChildEnd> end;
    while (!(end = launcher_.ended())) turn();
    return has_outlived_ranks_ ? ChildEnd{} : *end;  // the ranks' ends count
  }

  // @throws Error{deadline_exceeded} if the launcher was ended because it started no rank
  void require_ranks() const {
    if (!is_without_ranks_ || asked_by_ != 0) return;
    throw Error(ErrorCode::deadline_exceeded,
                std::string(name_of(run_.plan.launcher)) + " has started no rank within " +
                    std::to_string(run_.timeout.count()) + " s",
                "the first rank by then",
                "see what it wrote above: other steps may hold the job's CPUs or GPUs; if hosts "
                "are slow to start ranks, raise --timeout");
  }

  // Everything except the exit code.
  RunEnd heard() const { return {0, was_warned_, asked_by_, ""}; }

 private:
  void turn() {
    PollSet set;
    set.add(signals_.fd(), POLLIN);
    if (!has_failure_) set.add(control_.fd(), POLLIN);
    if (can_be_warned()) set.add(clock_->fd(), POLLIN);
    input_.add_to(set);
    set.wait(std::min(next_, Clock::now() + kLook));
    while (const auto number = signals_.next()) take(*number);
    input_.handle(set);
    if (!has_failure_) look_for_failure();
    if (stage_ == Stage::stopped && control_.await_ranks(seconds(0))) next_ = Clock::now();
    if (can_be_warned() && clock_->is_due()) warn();
    if (stage_ == Stage::running && silence_.look(Clock::now(), err_))
      end_ranks(SIGTERM, kGraceToEnd);
    if (stage_ == Stage::running && first_.is_overdue(Clock::now())) {
      is_without_ranks_ = true;
      end_launcher();
    }
    if (stage_ == Stage::running && alone_.is_overdue(Clock::now())) end_lone_launcher();
    if (Clock::now() >= next_) insist();
  }

  void look_for_failure() {
    const auto first = control_.first_failure();
    if (!first) return;
    has_failure_ = true;
    if (asked_by_ != 0) return;
    // Parents of ranks that have stopped wait until all are told to end, as launchers would
    // otherwise end the other ranks at once.
    const bool may_others_save = first->has_stopped_in_order();
    stage_ = may_others_save ? Stage::stopped : Stage::failed;
    next_ = Clock::now() + (may_others_save ? grace_to_stop(clock_) : kTimeForLauncher);
  }

  bool can_be_warned() const { return clock_ != nullptr && !was_warned_ && asked_by_ == 0; }

  void warn() {
    say_warning(err_, *clock_);
    was_warned_ = true;
    control_.send(SIGUSR1);
  }

  void take(int number) {
    switch (number) {
      case SIGCHLD:
        return;
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
        take_request(number);
        return;
      case SIGTSTP:
        control_.send(SIGTSTP);
        raise(SIGSTOP);
        return;
      default:
        was_warned_ = was_warned_ || number == SIGUSR1;
        control_.send(number);
    }
  }

  void take_request(int number) {
    switch (requests_.take(number, Clock::now())) {
      case StopMeaning::first:
        asked_by_ = number;
        if (!control_.has_ranks() || alone_.have_ranks_ended()) {
          end_launcher();
          return;
        }
        err_ << "hpcboot run: signal " << number << " (" << strsignal(number)
             << "): forwarded to every rank, which has " << kGraceOfRun.count()
             << " s to end; a second signal kills the ranks\n";
        end_ranks(number, kGraceOfRun);
        return;
      case StopMeaning::repeated:
        return;
      case StopMeaning::second:
        err_ << "hpcboot run: second signal: killing the ranks\n";
        if (stage_ != Stage::launcher_asked) stage_ = Stage::asked;
        insist();
        return;
    }
  }

  enum class Stage { running, failed, stopped, asked, killed, launcher_asked, launcher_killed };

  void end_ranks(int number, seconds grace) {
    control_.send(number);
    stage_ = Stage::asked;
    next_ = Clock::now() + grace;
  }

  void end_lone_launcher() {
    err_ << "hpcboot run: all ranks have ended, but " << name_of(run_.plan.launcher)
         << " has not ended " << run_.timeout.count() << " s later: it is terminated\n";
    has_outlived_ranks_ = true;
    end_launcher();
  }

  // It has no rank.
  void end_launcher() {
    launcher_.signal(SIGTERM);
    stage_ = Stage::launcher_asked;
    next_ = Clock::now() + kGraceToEnd;
  }

  // Escalates by one step.
  void insist() {
    next_ = Clock::now() + kGraceToEnd;
    switch (stage_) {
      case Stage::running:
        next_ = kNever;
        return;
      case Stage::failed:
      case Stage::stopped:
        end_ranks(SIGTERM, kGraceToEnd);
        return;
      case Stage::asked:
        control_.send(SIGKILL);
        stage_ = Stage::killed;
        return;
      case Stage::killed:
        end_launcher();
        return;
      case Stage::launcher_asked:
        launcher_.signal(SIGKILL);
        stage_ = Stage::launcher_killed;
        return;
      case Stage::launcher_killed:
        return;
    }
  }

  const LauncherRun& run_;
  Control& control_;
  RankChild& launcher_;
  const BlockedSignals& signals_;
  InputPipe& input_;
  SilenceOfRanks& silence_;
  FirstRank first_;
  LoneLauncher alone_;
  const WalltimeClock* clock_;
  Terminal& err_;
  Stage stage_ = Stage::running;
  Clock::time_point next_ = kNever;
  StopRequests requests_;
  int asked_by_ = 0;
  bool has_failure_ = false;
  bool was_warned_ = false;
  bool has_outlived_ranks_ = false;  // the launcher
  bool is_without_ranks_ = false;    // likewise, for too long
};

}  // namespace

RunEnd run_launcher(const LauncherRun& run, Terminal& err) {
  open_standard_streams();
  // Before the threads of Control start, which would receive them.
  const BlockedSignals signals(
      {SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGTSTP, SIGCONT});
  Control control(run.handover, run.address);
  std::optional<PrivateFile> hostfile;
  if (!run.plan.hostfile.empty()) hostfile.emplace(run.plan.hostfile);
  const std::string path = hostfile ? hostfile->path() : "";
  auto handed_over = run.handover.variables();
  handed_over.merge(control.variables());
  ChildSpec spec;
  spec.words = run.plan.words;
  if (run.plan.hostfile_word != 0) spec.words[run.plan.hostfile_word] = path;
  spec.env = environment_of(run.plan, handed_over, path);
  spec.own_session = run.plan.own_session;
  // If this process is killed, the launcher ends its ranks cleanly, as after a SIGTERM.
  spec.death_signal = SIGTERM;
  InputPipe input;
  spec.input = input.for_launcher();
  spec.output = STDOUT_FILENO;
  spec.error = STDERR_FILENO;
  try {
    RankChild launcher(spec);
    input.hand_over();
    SilenceOfRanks silence(control, run.silence);
    Supervision supervision(run, control, launcher, signals, input, silence, err);
    const ChildEnd end = supervision.run();
    launcher.reap();
    supervision.require_ranks();
    return end_of_launcher(run.plan, control, end, supervision.heard(), silence, err);
  } catch (const CannotExecute& failure) {
    throw Error(ErrorCode::backend_unavailable, failure.reason,
                std::string("the launcher ") + name_of(run.plan.launcher),
                "load its module, or choose another with --launcher");
  }
}

}  // namespace hpcboot::run
