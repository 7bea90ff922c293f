#include "study.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "hpcboot/error.hpp"
#include "options.hpp"
#include "study_plan.hpp"
#include "trainer_runs.hpp"

extern char** environ;

namespace hpcboot::tool {
namespace {

volatile std::sig_atomic_t child_to_stop = 0;
volatile std::sig_atomic_t stopped_by = 0;

// The run of the study ends as it does on its own. A terminal's Ctrl-C reaches it directly.
extern "C" void pass_on(int signal_number) {
  stopped_by = signal_number;
  if (child_to_stop > 0 && signal_number != SIGINT)
    ::kill(static_cast<pid_t>(child_to_stop), signal_number);
}

class StopSignals {
 public:
  StopSignals() {
    struct sigaction action {};
    action.sa_handler = pass_on;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
};

// Runs hpcboot itself with these arguments. @return its exit code
int run_self(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"hpcboot", "run"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int reason =
      ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
  if (reason != 0) {
    throw Error(ErrorCode::backend_unavailable,
                std::string("cannot start hpcboot again: ") + std::strerror(reason),
                "/proc/self/exe", "mount /proc");
  }
  child_to_stop = child;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_to_stop = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What the study's runs have in common, and how to see its result.
std::string next_step(const std::vector<std::string>& program, Scaling scaling) {
  const std::string runs = runs_dir_of(program);
  if (runs.empty()) return "";
  const std::string kind = scaling == Scaling::weak ? "weak" : "strong";
  return "runtable plot " + kind + "-scaling " + shell_quote(runs) +
         "; runtable report -o report.html " + shell_quote(runs);
}

}  // namespace

int run_study(const Call& call) {
  const StudyPlan plan = study_plan(call.values, call.program);
  const bool submits = call.values.count("submit") != 0;
  std::vector<StudyRun> runs;
  int code = 0;
  const StopSignals signals;
  // Each number of ranks once, and then again: what changes with time affects all of them.
  for (int repeat = 1; repeat <= plan.repeats && stopped_by == 0; ++repeat) {
    for (const int ranks : plan.ranks) {
      if (stopped_by != 0) break;
      std::vector<std::string> arguments = run_arguments(call.arguments, ranks);
      arguments.emplace_back("--");
      for (std::string& word : scaled_program(call.program, ranks))
        arguments.push_back(std::move(word));
      err() << "study: " << ranks << (ranks == 1 ? " rank, run " : " ranks, run ") << repeat
            << " of " << plan.repeats << "\n";
      const auto begin = std::chrono::steady_clock::now();
      const int ended = run_self(arguments);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      runs.push_back({ranks, ended, seconds.count()});
      if (code == 0) code = ended;
    }
  }
  if (stopped_by != 0) return 128 + static_cast<int>(stopped_by);
  // Jobs have only been submitted.
  const bool has_times = !submits && call.values.count("dry-run") == 0;
  if (has_times) err() << "\n" << study_text(plan, runs, look_of(STDERR_FILENO));
  const std::string next = next_step(call.program, plan.scaling);
  if (!next.empty() && call.values.count("dry-run") == 0)
    err() << (submits ? "when the jobs have ended: " : "next: ") << next << "\n";
  return code;
}

}  // namespace hpcboot::tool
