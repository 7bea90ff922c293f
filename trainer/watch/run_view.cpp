#include "watch/run_view.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/median.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "monitor/read_monitor.hpp"
#include "monitor/stragglers.hpp"
#include "record/csv_reader.hpp"
#include "record/read_runs.hpp"
#include "record/run_folder.hpp"
#include "record/run_lock.hpp"
#include "record/run_work.hpp"

namespace hpcboot::watch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTailOfMetrics = 1 << 17;  // bytes: about a thousand steps
constexpr std::size_t kTailOfMonitor = 1 << 16;
constexpr std::size_t kRow = 512;  // bytes of a row of monitor.csv, at most about
constexpr std::size_t kLooks = 4;  // of each rank: stragglers are recognised by several

/// Whether the process that holds the run ran on this host, and is gone without an end.
bool is_killed(const fs::path& folder) {
  const auto holder = record::RunLock::last_holder(folder);
  if (!holder || !holder->damage.empty() || holder->host != own_hostname()) return false;
  return ::kill(static_cast<pid_t>(holder->pid), 0) != 0 && errno == ESRCH;
}

/// When the run was started or resumed last.
std::string last_start(const record::RunRecord& run) {
  std::string time = run.started;
  for (const record::ResumedRecord& one : run.resumed) time = std::max(time, one.time);
  return time;
}

/// Whether the run may be in progress: of one that was killed on another host only the age of its
/// files tells.
bool may_run(const fs::path& folder, const record::RunRecord& run) {
  constexpr std::chrono::hours kLongestSilence{24};
  if (run.exit_reason != record::kRunning || is_killed(folder)) return false;
  const record::RunFolder files(folder);
  for (const fs::path& file : {files.metrics_csv(), files.run_json()}) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    if (!error && fs::file_time_type::clock::now() - written < kLongestSilence) return true;
  }
  return false;
}

/// Steps of an epoch: of one that is done, else of as many global batches as the samples fill.
std::optional<std::int64_t> steps_per_epoch(const record::RunRecord& run) {
  for (const record::EpochRecord& epoch : run.epochs) {
    if (epoch.steps && *epoch.steps > 0) return epoch.steps;
  }
  const Json batch = record::config_value(run, "batch_size");
  if (!run.train_samples || !batch.is_number_integer() || batch.get<std::int64_t>() < 1)
    return std::nullopt;
  const auto size = batch.get<std::int64_t>();
  return *run.train_samples < 1 ? 0 : (*run.train_samples - 1) / size + 1;
}

std::optional<std::int64_t> total_steps(const record::RunRecord& run) {
  const Json epochs = record::config_value(run, "epochs");
  const auto steps = steps_per_epoch(run);
  if (!steps || !epochs.is_number_integer()) return std::nullopt;
  const auto number = epochs.get<std::int64_t>();
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (number < 1 || number > kMost || *steps > kMost) return std::nullopt;
  return number * *steps;
}

/// The steps that are left by the time of the last ones, and the validations that are left.
std::optional<double> remaining_seconds(const RunView& view) {
  constexpr std::size_t kLast = 50;
  std::vector<double> times;
  for (auto step = view.steps.rbegin(); step != view.steps.rend() && times.size() < kLast; ++step) {
    if (std::isfinite(step->step_seconds)) times.push_back(step->step_seconds);
  }
  if (!view.total_steps || times.empty()) return std::nullopt;
  const auto left = std::max<std::int64_t>(0, *view.total_steps - view.step());
  double seconds = static_cast<double>(left) * median(times);
  const auto& done = view.record.epochs;
  const Json epochs = record::config_value(view.record, "epochs");
  if (!done.empty() && done.back().validation_seconds && epochs.is_number_integer()) {
    const double validations =
        static_cast<double>(epochs.get<std::int64_t>()) - static_cast<double>(done.size());
    seconds += std::max(0.0, validations) * *done.back().validation_seconds;
  }
  constexpr double kMost = 1e9;  // 30 years: an estimate from hostile or absurd numbers
  return seconds < kMost ? std::optional(seconds) : std::nullopt;
}

void add_ranks(RunView& view, const fs::path& file) {
  const std::size_t ranks = std::max<std::size_t>(1, view.record.ranks.size());
  const std::string text = record::csv_tail(file, std::max(kTailOfMonitor, ranks * kLooks * kRow));
  if (text.empty()) return;
  std::istringstream in(text);
  std::map<std::pair<int, std::string>, monitor::MonitorRow> last;
  monitor::Stragglers stragglers(static_cast<int>(ranks));
  for (const monitor::MonitorRow& row : monitor::read_monitor(in, file.string())) {
    // Before it was resumed, the run may have had more ranks.
    if (row.rank < 0 || static_cast<std::size_t>(row.rank) >= ranks) continue;
    stragglers.add(row);
    last[{row.rank, row.device}] = row;
  }
  for (const auto& [key, row] : last) {
    view.ranks.push_back(row);
    if (stragglers.is_slow(row.rank)) view.slow.insert(row.rank);
  }
}

}  // namespace

RunView look_at(const fs::path& path) {
  const record::RunFolder folder(path);
  RunView view;
  // Before the record: a run that ends between the two is not taken for killed.
  const bool was_killed = is_killed(path);
  view.record = record::RunRecord::read(folder.run_json());
  view.is_killed = was_killed && view.record.exit_reason == record::kRunning;
  std::istringstream steps(record::csv_tail(folder.metrics_csv(), kTailOfMetrics));
  view.steps = record::read_metrics(steps);
  try {
    add_ranks(view, folder.monitor_csv());
  } catch (const Error& problem) {
    view.monitor_problem = problem.found();
  }
  view.total_steps = total_steps(view.record);
  if (view.is_running()) view.remaining_seconds = remaining_seconds(view);
  return view;
}

fs::path newest_run(const fs::path& place) {
  std::tuple<bool, std::string, fs::path> newest;
  const record::SkippedRuns skipped = record::read_runs(
      {place}, record::Runs::all, [&](const fs::path& folder, const record::RunRecord& run) {
        newest = std::max(newest, std::tuple(may_run(folder, run), last_start(run), folder));
      });
  const fs::path& found = std::get<fs::path>(newest);
  if (found.empty() && skipped.first_problem) {
    throw Error(*skipped.first_problem, skipped.lines.front(), "the run.json of a run",
                "name another run; a trainer that runs replaces its run.json after each epoch");
  }
  if (found.empty()) {
    throw Error(ErrorCode::unreadable_file, "there is no run in '" + place.string() + "'",
                "a run folder, or a folder of runs",
                "start the trainer, or name the folder that it writes to (--runs-dir)");
  }
  return found;
}

}  // namespace hpcboot::watch
