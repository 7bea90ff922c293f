#include "study.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>

#include "hpcboot/error.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "options.hpp"
#include "process/signal_set.hpp"
#include "study_plan.hpp"
#include "trainer_runs.hpp"

namespace hpcboot::tool {
namespace {

constexpr int kUsage = 2;

// The study's signals, which are taken by wait() instead of ending it. Those that were ignored
// stay ignored, as under nohup, also in the runs.
class StudySignals {
 public:
  StudySignals()
      : taken_(not_ignored({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU})) {
    // Ignored, children would leave no exit code.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_before_);
    sigaddset(&taken_, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &taken_, &before_);
  }
  ~StudySignals() {
    sigaction(SIGCHLD, &child_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StudySignals(const StudySignals&) = delete;
  StudySignals& operator=(const StudySignals&) = delete;

  // The signal by which the study is to end, if one has arrived.
  std::optional<int> stopped_by() const { return stopped_by_; }

  // Takes the next signal, for at most half a second, and passes it on to the child.
  void wait(const run::RankChild& child) {
    siginfo_t info{};
    const timespec limit{0, 500'000'000};
    const int number = sigtimedwait(&taken_, &info, &limit);
    if (number <= 0 || number == SIGCHLD) return;
    if (number != SIGUSR1 && number != SIGUSR2 && number != SIGXCPU) stopped_by_ = number;
    // A terminal's Ctrl-C has reached the child, which has the same process group.
    const bool is_of_terminal = info.si_code == SI_KERNEL;
    if (!is_of_terminal) child.signal(number);
  }

  // Takes what has arrived between two runs.
  void take_pending() {
    sigset_t pending;
    sigpending(&pending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      if (sigismember(&pending, number) == 1 && sigismember(&taken_, number) == 1)
        stopped_by_ = number;
    }
  }

 private:
  sigset_t taken_;
  sigset_t before_{};
  struct sigaction child_before_ {};
  std::optional<int> stopped_by_;
};

// Starts hpcboot itself with these arguments, and no standard input, which the first run would take
// from the others. It ends in order if the study is killed.
// @param output its standard output and error; nullopt: those of the study
run::RankChild start_self(const std::vector<std::string>& arguments, std::optional<int> output) {
  const Env env = Env::from_process();
  run::ChildSpec spec;
  spec.words = {"/proc/self/exe", "run"};
  spec.words.insert(spec.words.end(), arguments.begin(), arguments.end());
  spec.env = {env.variables().begin(), env.variables().end()};
  spec.own_group = false;
  spec.death_signal = SIGTERM;
  spec.output = output.value_or(STDOUT_FILENO);
  spec.error = output.value_or(STDERR_FILENO);
  try {
    return run::RankChild(spec);
  } catch (const run::CannotExecute& failure) {
    throw Error(ErrorCode::backend_unavailable, "cannot start hpcboot again: " + failure.reason,
                "/proc/self/exe", "mount /proc");
  }
}

// Runs hpcboot itself. @return its exit code
int run_self(const std::vector<std::string>& arguments, StudySignals& signals,
             std::optional<int> output = std::nullopt) {
  run::RankChild child = start_self(arguments, output);
  while (true) {
    if (const auto end = child.ended()) {
      child.reap();
      return end->exit_code;
    }
    signals.wait(child);
  }
}

// Whether a run that has ended with 2 did so before it started the program, which may end with 2,
// too: then its plan does.
bool is_usage_error(std::vector<std::string> arguments, StudySignals& signals) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  arguments.insert(arguments.begin(), "--dry-run");
  const int ended = run_self(arguments, signals, nowhere);
  close(nowhere);
  return ended == kUsage;
}

// How to see the result of the trainer's runs; empty for other programs.
std::string next_step(const Call& call, Scaling scaling) {
  std::filesystem::path runs = runs_dir_of(call.program);
  if (runs.empty()) return "";
  if (call.values.count("chdir") != 0)
    runs = std::filesystem::path(call.values["chdir"].as<std::string>()) / runs;
  const std::string kind = scaling == Scaling::weak ? "weak" : "strong";
  return "  runtable plot " + kind + "-scaling " + bash_quote(runs.string()) +
         "\n  runtable report -o report.html " + bash_quote(runs.string()) + "\n";
}

// The options of the runs, without those that differ from run to run.
std::vector<std::string> arguments_of_run(const Call& call, const std::vector<std::string>& options,
                                          const std::vector<std::string>& program, int ranks,
                                          int repeat) {
  std::vector<std::string> words = options;
  words.insert(words.end(), {"--ranks", std::to_string(ranks)});
  if (call.values.count("output-dir") != 0) {
    const std::string folder = call.values["output-dir"].as<std::string>();
    words.insert(words.end(), {"--output-dir", folder + "/ranks_" + std::to_string(ranks) +
                                                   "_run_" + std::to_string(repeat)});
  }
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace

int run_study(const Call& call, const std::vector<std::string>& options) {
  const StudyPlan plan = study_plan(call.values, call.program);
  std::map<int, std::vector<std::string>> programs;
  for (const int ranks : plan.ranks) programs[ranks] = scaled_program(call.program, ranks);
  const bool is_plan = call.values.count("dry-run") != 0;
  const bool submits = call.values.count("submit") != 0 && call.values.count("wait") == 0 &&
                       call.values.count("follow") == 0;
  std::vector<StudyRun> runs;
  int code = 0;
  run::open_standard_streams();
  StudySignals signals;
  // Each number of ranks once, and then again: what changes with time affects all of them.
  for (int repeat = 1; repeat <= plan.repeats; ++repeat) {
    for (const int ranks : plan.ranks) {
      signals.take_pending();
      if (signals.stopped_by()) break;
      err() << "study: " << ranks << (ranks == 1 ? " rank, run " : " ranks, run ") << repeat
            << " of " << plan.repeats << "\n";
      const auto begin = std::chrono::steady_clock::now();
      const auto arguments = arguments_of_run(call, options, programs[ranks], ranks, repeat);
      const int ended = run_self(arguments, signals);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (signals.stopped_by()) break;
      // The others would say the same.
      if (ended == kUsage && runs.empty() && (is_plan || is_usage_error(arguments, signals)))
        return kUsage;
      runs.push_back({ranks, ended, seconds.count()});
      if (code == 0) code = ended;
    }
  }
  if (!submits && !is_plan && !runs.empty())
    err() << "\n" << study_text(plan, runs, look_of(STDERR_FILENO));
  if (signals.stopped_by()) return 128 + *signals.stopped_by();
  const std::string next = next_step(call, plan.scaling);
  if (!next.empty() && !is_plan)
    err() << (submits ? "when the jobs have ended" : "next") << ":\n" << terminal_lines(next);
  return code;
}

}  // namespace hpcboot::tool
