#include "study.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "hpcboot/error.hpp"
#include "options.hpp"
#include "process/signal_set.hpp"
#include "study_plan.hpp"
#include "trainer_runs.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): passed on, never read

namespace hpcboot::tool {
namespace {

// The study's signals, which are taken by wait() instead of ending it. Those that were ignored
// stay ignored, as under nohup, also in the runs.
class StudySignals {
 public:
  StudySignals() : taken_(not_ignored({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})) {
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

  const sigset_t& before() const { return before_; }
  // The signal by which the study is to end, if one has arrived.
  std::optional<int> stopped_by() const { return stopped_by_; }

  // Takes the next signal, for at most half a second, and passes it on to the child.
  void wait(pid_t child) {
    siginfo_t info{};
    const timespec limit{0, 500'000'000};
    const int number = sigtimedwait(&taken_, &info, &limit);
    if (number <= 0 || number == SIGCHLD) return;
    if (number != SIGUSR1 && number != SIGUSR2) stopped_by_ = number;
    // A terminal's Ctrl-C has reached the child, which has the same process group.
    const bool is_of_terminal = info.si_code == SI_KERNEL;
    if (child > 0 && !is_of_terminal) ::kill(child, number);
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
// from the others.
pid_t start_self(const std::vector<std::string>& arguments, const StudySignals& signals) {
  std::vector<std::string> words{"hpcboot", "run"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  pid_t child = 0;
  const int reason =
      posix_spawn(&child, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (reason == 0) return child;
  throw Error(ErrorCode::backend_unavailable,
              std::string("cannot start hpcboot again: ") + std::strerror(reason), "/proc/self/exe",
              "mount /proc");
}

// Runs hpcboot itself. @return its exit code
int run_self(const std::vector<std::string>& arguments, StudySignals& signals) {
  const pid_t child = start_self(arguments, signals);
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) {
      throw Error(ErrorCode::backend_unavailable,
                  std::string("the end of a run is unknown: ") + std::strerror(errno),
                  "a run that this study has started", "start the study again");
    }
    signals.wait(child);
  }
}

// How to see the result of the trainer's runs; empty for other programs.
std::string next_step(const Call& call, Scaling scaling) {
  std::filesystem::path runs = runs_dir_of(call.program);
  if (runs.empty()) return "";
  if (call.values.count("chdir") != 0)
    runs = std::filesystem::path(call.values["chdir"].as<std::string>()) / runs;
  const std::string kind = scaling == Scaling::weak ? "weak" : "strong";
  return "  runtable plot " + kind + "-scaling " + shell_quote(runs.string()) +
         "\n  runtable report -o report.html " + shell_quote(runs.string()) + "\n";
}

// The options of the runs, without those that differ from run to run.
std::vector<std::string> arguments_of_run(const Call& call, const std::vector<std::string>& options,
                                          int ranks, int repeat) {
  std::vector<std::string> words = options;
  words.insert(words.end(), {"--ranks", std::to_string(ranks)});
  if (call.values.count("output-dir") != 0) {
    const std::string folder = call.values["output-dir"].as<std::string>();
    words.insert(words.end(), {"--output-dir", folder + "/ranks_" + std::to_string(ranks) +
                                                   "_run_" + std::to_string(repeat)});
  }
  words.emplace_back("--");
  for (std::string& word : scaled_program(call.program, ranks)) words.push_back(std::move(word));
  return words;
}

}  // namespace

int run_study(const Call& call, const std::vector<std::string>& options) {
  constexpr int kUsage = 2;
  const StudyPlan plan = study_plan(call.values, call.program);
  const bool submits = call.values.count("submit") != 0 && call.values.count("wait") == 0 &&
                       call.values.count("follow") == 0;
  std::vector<StudyRun> runs;
  int code = 0;
  StudySignals signals;
  // Each number of ranks once, and then again: what changes with time affects all of them.
  for (int repeat = 1; repeat <= plan.repeats; ++repeat) {
    for (const int ranks : plan.ranks) {
      signals.take_pending();
      if (signals.stopped_by()) break;
      err() << "study: " << ranks << (ranks == 1 ? " rank, run " : " ranks, run ") << repeat
            << " of " << plan.repeats << "\n";
      const auto begin = std::chrono::steady_clock::now();
      const int ended = run_self(arguments_of_run(call, options, ranks, repeat), signals);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (signals.stopped_by()) break;
      if (ended == kUsage && runs.empty()) return kUsage;  // the others would say the same
      runs.push_back({ranks, ended, seconds.count()});
      if (code == 0) code = ended;
    }
  }
  const bool is_plan = call.values.count("dry-run") != 0;
  if (!submits && !is_plan && !runs.empty())
    err() << "\n" << study_text(plan, runs, look_of(STDERR_FILENO));
  if (signals.stopped_by()) return 128 + *signals.stopped_by();
  const std::string next = next_step(call, plan.scaling);
  if (!next.empty() && !is_plan)
    err() << (submits ? "when the jobs have ended" : "next") << ":\n" << terminal_lines(next);
  return code;
}

}  // namespace hpcboot::tool
