#include "app/runtable_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "text/format.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"
#include "watch/run_view.hpp"
#include "watch/view_text.hpp"

namespace hpcboot::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr double kShortestInterval = 0.05;  // seconds
constexpr double kLongestInterval = 3600;
constexpr seconds kSilence{30};  // without a step: worth a line

/// Shows one view after the other: in a terminal at the same place, else one line for each change.
class Screen {
 public:
  void show(const watch::RunView& view) {
    if (view.step() != step_) {
      step_ = view.step();
      last_change_ = Clock::now();
    }
    const auto silence = std::chrono::duration_cast<seconds>(Clock::now() - last_change_);
    const bool is_silent = view.is_running() && silence >= kSilence;
    if (!is_terminal_) return add_line(view, is_silent);
    draw(view, is_silent ? std::optional(silence) : std::nullopt);
  }

 private:
  /// Draws over the view before. The cursor cannot leave the screen, so a view that fills it, and
  /// lines that wrap, would remain; as would what a change of size makes wrap.
  void draw(const watch::RunView& view, std::optional<seconds> silence) {
    const auto columns = static_cast<std::size_t>(redrawn_columns(STDOUT_FILENO));
    const auto rows = static_cast<std::size_t>(std::max(2, terminal_rows(STDOUT_FILENO, 24)));
    const Look look{columns, has_colour(STDOUT_FILENO)};
    const Encoded text = cut_to_screen(watch::view_text(view, look, silence), columns, rows - 1);
    const std::pair size(columns, rows);
    if (lines_ > 0 && size == size_) out() << encoded_format("\x1b[{}F\x1b[J", lines_);
    if (lines_ > 0 && size != size_) out() << "\x1b[H\x1b[J";
    out() << text;
    out().flush();
    lines_ = std::count(text.str().begin(), text.str().end(), '\n');
    size_ = size;
  }

  void add_line(const watch::RunView& view, bool is_silent) {
    Encoded line = watch::view_line(view);
    if (is_silent)
      line = encoded_format("no new step for {} s; is it still running?\n", kSilence.count());
    if (line == last_line_) return;
    out() << line;
    out().flush();
    last_line_ = line;
  }

  bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  std::ptrdiff_t lines_ = 0;                  // on the screen
  std::pair<std::size_t, std::size_t> size_;  // of the screen then
  std::int64_t step_ = -1;
  Clock::time_point last_change_ = Clock::now();
  Encoded last_line_;
};

double interval_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && value >= kShortestInterval && value <= kLongestInterval) return value;
  throw options::UsageError("--interval is '" + text + "'; expected seconds from 0.05 to 3600");
}

}  // namespace

options::Command watch_command() {
  options::Command command{"runtable",
                           "watch",
                           "follow a run: progress, loss, samples/s, each rank",
                           {"runtable watch [OPTIONS] [RUN]"},
                           {{"runtable watch", "the run in progress in runs/, else the newest"},
                            {"runtable watch --once runs/20261120_235901_ddp_2x4", "one look"},
                            {"runtable watch | tee progress.log", "a line for each change"}}};
  command.details = {
      "RUN is a run folder, or a folder of runs, of which the one in progress is followed, else "
      "the newest [runs]. Its files are read, so any host that shares them can follow it, and the "
      "run does not notice. The command ends when the run ends; that a run was killed can be seen "
      "only on its first rank's host, on others only that there is no new step.",
      "\"Own ms\" is a rank's time for a step without the wait for other ranks; a rank is \"slow\" "
      "if that exceeds the median by a fifth at two looks of the monitor. Ranks are shown if the "
      "trainer monitors them "
      "(--monitor SECONDS, 5 on GPUs)."};
  command.operands = {{"run", options::text("RUN", options::Completes::folder), 1}};
  command.groups = {{"Options",
                     {{"interval", options::text_or("SECONDS", "2"), "between two looks"},
                      {"once", options::flag(), "look once, and do not wait for the end"}}}};
  command.exit_codes = {{"0", "the run has finished; with --once, it is shown"},
                        {"1",
                         "the run failed, was stopped or killed; or standard output cannot be "
                         "written"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "there is no run, or its run.json is damaged"}};
  command.more = "runs/README.md of the project";
  return command;
}

int watch(const std::vector<std::string>& arguments) {
  const options::Command command = watch_command();
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  const auto& values = parsed->values;
  const std::chrono::duration<double> interval(interval_of(values["interval"].as<std::string>()));
  const auto folder =
      watch::newest_run(values.count("run") == 0 ? "runs" : values["run"].as<std::string>());
  if (values.count("once") != 0) {
    out() << watch::view_text(watch::look_at(folder), look_of(STDOUT_FILENO));
    return 0;
  }
  for (Screen screen;;) {
    const watch::RunView view = watch::look_at(folder);
    screen.show(view);
    if (!view.is_running()) return view.record.exit_reason == record::kFinished ? 0 : 1;
    if (!out().is_good()) return 1;
    std::this_thread::sleep_for(interval);
  }
}

}  // namespace hpcboot::app
