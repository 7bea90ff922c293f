#include "loop/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "loop/checkpoint_folder.hpp"
#include "loop/resume_request.hpp"
#include "loop/run_identity.hpp"
#include "loop/usable_checkpoint.hpp"
#include "record/metrics_csv.hpp"

namespace hpcboot::train {
namespace {

using record::RunFolder;
using record::RunLock;
using record::RunRecord;

/// How long a file server may take to release the lock of a host that crashed.
constexpr std::chrono::seconds kLockPatience{90};
constexpr std::chrono::milliseconds kLockInterval{200};

struct Candidate {
  RunFolder folder;
  RunRecord record;
};

// Empty if a damaged record has another type there.
std::string config_text(const RunRecord& run, const char* key) {
  const auto value = run.config.find(key);
  return value != run.config.end() && value->is_string() ? value->get<std::string>() : "";
}

std::int64_t epochs_of(const RunRecord& run) {
  const auto value = run.config.find("epochs");
  return value != run.config.end() && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

/// A text as run.json has it, which replaces bytes that are not UTF-8.
std::string as_recorded(const std::string& text) {
  return parse_json(json_text(text).str()).get<std::string>();
}

/// Compares the options as given: `mode` alone is recorded as resolved.
bool is_same_kind(const TrainOptions& options, const RunRecord& run) {
  return config_text(run, "requested_mode") == options.mode &&
         config_text(run, "comment") == as_recorded(options.comment) &&
         epochs_of(run) == options.epochs;
}

/// Waits for a lock that this same job held before it was requeued.
RunLock::Attempt take_lock(const RunFolder& folder, const record::LockHolder& self) {
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  while (true) {
    auto attempt = RunLock::try_take(folder.path(), self);
    if (attempt.lock) return attempt;
    const auto holder = RunLock::last_holder(folder.path());
    const bool was_ours = holder && !self.job_id.empty() && holder->job_id == self.job_id &&
                          holder->host != self.host;
    if (!was_ours || std::chrono::steady_clock::now() > deadline) return attempt;
    std::this_thread::sleep_for(kLockInterval);
  }
}

bool has_candidate(const RunFolder& folder, const ResumeRequest& request) {
  std::error_code absent;
  return std::filesystem::exists(checkpoint_path(folder.checkpoints(), kBestCheckpoint), absent) ||
         (request.checkpoint.empty() && !checkpoints_in(folder.checkpoints()).empty());
}

/// The checkpoint that this start takes from the run. A requeued job repeats its options: it must
/// not lose again what it has trained since it went back.
std::string checkpoint_wanted(const Candidate& run, const ResumeRequest& request,
                              const record::LockHolder& self, std::vector<std::string>& notes) {
  const auto& starts = run.record.resumed;
  const bool is_done = std::any_of(starts.begin(), starts.end(), [&](const auto& start) {
    return !self.job_id.empty() && start.job_id == self.job_id &&
           start.went_back_to == request.checkpoint;
  });
  if (!is_done) return request.checkpoint;
  notes.push_back(fmt::format(
      "job {} has already gone back to {}: the run continues from its newest checkpoint",
      self.job_id, request.checkpoint));
  return {};
}

std::optional<UsableCheckpoint> find_checkpoint(const RunFolder& folder, const std::string& wanted,
                                                const Configuration& own,
                                                std::vector<std::string>& notes) {
  return wanted.empty() ? first_usable(checkpoints_in(folder.checkpoints()), own, notes)
                        : first_usable({checkpoint_path(folder.checkpoints(), wanted)}, own, notes);
}

ResumePoint point_of(Candidate run, RunLock::Attempt taken, UsableCheckpoint from,
                     const std::string& wanted) {
  auto& epochs = run.record.epochs;
  epochs.erase(std::remove_if(epochs.begin(), epochs.end(),
                              [&](const record::EpochRecord& epoch) {
                                return epoch.epoch >= from.checkpoint.state.epoch;
                              }),
               epochs.end());
  std::optional<std::int64_t> again;
  if (const auto last = record::MetricsCsv::last_step(run.folder.metrics_csv())) {
    again = std::max<std::int64_t>(0, *last - from.checkpoint.state.step);
  }
  const auto all = checkpoints_in(run.folder.checkpoints());
  const bool goes_back = all.empty() || all.front() != from.file;
  return {run.folder,
          std::move(*taken.lock),
          taken.has_locks,
          std::move(run.record),
          std::move(from.file),
          std::move(from.checkpoint),
          goes_back,
          wanted,
          again};
}

std::string who(const std::optional<record::LockHolder>& holder) {
  if (!holder) return "another process";
  if (!holder->damage.empty()) return "an unknown process: " + holder->damage;
  return fmt::format("process {} on {}{}", holder->pid, holder->host,
                     holder->job_id.empty() ? "" : ", job " + holder->job_id);
}

/// How to free a folder whose holder cannot be checked; empty if the file system frees it itself.
std::string how_to_free(const RunFolder& folder, bool has_locks) {
  if (has_locks) return {};
  return fmt::format("; the file system does not support locks: if that process is gone, remove {}",
                     RunLock::file(folder.path()).string());
}

std::vector<Candidate> runs_to_choose_from(const TrainOptions& options,
                                           const ResumeRequest& request, const Configuration& own,
                                           const record::LockHolder& self,
                                           std::vector<std::string>& notes) {
  std::vector<Candidate> found;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(options.runs_dir, absent)) {
    const RunFolder folder(entry.path());
    // A dangling link counts as damage, and is reported when it is read.
    if (!std::filesystem::exists(std::filesystem::symlink_status(folder.run_json(), absent)))
      continue;
    try {
      RunRecord run = RunRecord::read(folder.run_json());
      if (run.exit_reason != record::kFinished && differences(own.identity, run.identity).empty() &&
          is_same_kind(options, run) && has_candidate(folder, request)) {
        found.push_back({folder, std::move(run)});
      }
    } catch (const Error& problem) {
      // It does not keep other runs from being resumed, but may be the one the user expects.
      notes.push_back(fmt::format("run {} is skipped: {}", folder.name(), problem.found()));
    }
  }
  const auto is_ours = [&](const Candidate& one) {
    return !self.job_id.empty() && one.record.job_id == self.job_id;
  };
  std::sort(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) {
    if (is_ours(a) != is_ours(b)) return is_ours(a);
    return std::make_pair(a.record.started, a.record.run) >
           std::make_pair(b.record.started, b.record.run);
  });
  return found;
}

std::optional<ResumePoint> find_newest(const TrainOptions& options, const ResumeRequest& request,
                                       const Configuration& own, const record::LockHolder& self,
                                       std::vector<std::string>& notes) {
  for (Candidate& run : runs_to_choose_from(options, request, own, self, notes)) {
    RunLock::Attempt taken;
    try {
      taken = take_lock(run.folder, self);
      record::MetricsCsv::require_usable(run.folder.metrics_csv());
    } catch (const Error& problem) {
      notes.push_back(fmt::format("run {} is skipped: {}", run.folder.name(), problem.found()));
      continue;
    }
    if (!taken.lock) {
      notes.push_back(fmt::format("run {} is skipped: in use by {}{}", run.folder.name(),
                                  who(RunLock::last_holder(run.folder.path())),
                                  how_to_free(run.folder, taken.has_locks)));
      continue;
    }
    const std::string wanted = checkpoint_wanted(run, request, self, notes);
    auto from = find_checkpoint(run.folder, wanted, own, notes);
    if (from) return point_of(std::move(run), std::move(taken), std::move(*from), wanted);
    const std::string best = wanted.empty() ? how_to_take_best(run.folder, own) : "";
    if (!best.empty()) {
      notes.push_back(
          fmt::format("run {} has no other usable checkpoint: {}", run.folder.name(), best));
    }
  }
  if (!request.checkpoint.empty()) {
    throw Error(ErrorCode::unreadable_file,
                fmt::format("no unfinished run of this configuration in {} with a usable {}{}{}",
                            options.runs_dir, request.checkpoint, notes.empty() ? "" : "; ",
                            notes.empty() ? "" : notes.back()),
                "an unfinished run with these options and a usable checkpoint",
                "give a run folder, or --resume auto for the newest checkpoint");
  }
  notes.push_back(fmt::format("no unfinished run of this configuration in {}: starting a new run",
                              options.runs_dir));
  return std::nullopt;
}

void require_resumable(const TrainOptions& options, const Candidate& run, const Json& identity) {
  const std::int64_t epochs = epochs_of(run.record);
  if (run.record.exit_reason == record::kFinished && options.epochs <= epochs) {
    throw UsageError(
        fmt::format("run {} is finished, after {}; to continue it, give a larger --epochs",
                    run.folder.name(), counted(epochs, "epoch")));
  }
  std::vector<std::string> texts = differences(identity, run.record.identity);
  if (options.epochs < epochs) {
    texts.push_back(fmt::format("--epochs is {}, but {} in the run", options.epochs, epochs));
  }
  if (texts.empty()) return;
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : "; ") + text;
  throw UsageError(
      fmt::format("run {} was configured differently ({}); give the run's options, or omit "
                  "--resume to start a new run",
                  run.folder.name(), list));
}

Error no_checkpoint(const RunFolder& folder, const std::string& wanted, const Configuration& own,
                    const std::vector<std::string>& notes) {
  if (!wanted.empty()) {
    return Error(ErrorCode::malformed_file, notes.back(), "a complete checkpoint",
                 "give another checkpoint, or the run folder for the newest one");
  }
  const std::string best = how_to_take_best(folder, own);
  return Error(ErrorCode::malformed_file,
               notes.empty() ? fmt::format("no checkpoint in '{}'", folder.checkpoints().string())
                             : fmt::format("no usable checkpoint in '{}'; {}",
                                           folder.checkpoints().string(), notes.front()),
               "a complete checkpoint",
               best.empty() ? "start a new run" : best + "; or start a new run");
}

ResumePoint open_named(const TrainOptions& options, const ResumeRequest& request,
                       const Configuration& own, const record::LockHolder& self,
                       std::vector<std::string>& notes) {
  const RunFolder& folder = *request.run;
  auto taken = take_lock(folder, self);
  if (!taken.lock) {
    throw Error(ErrorCode::run_in_use,
                fmt::format("run {} is in use by {}", folder.name(),
                            who(RunLock::last_holder(folder.path()))),
                "a run that no other process is training",
                "wait for it, or end it; then resume again" + how_to_free(folder, taken.has_locks));
  }
  Candidate run{folder, RunRecord::read(folder.run_json())};
  require_resumable(options, run, own.identity);
  const std::string wanted = checkpoint_wanted(run, request, self, notes);
  auto from = find_checkpoint(folder, wanted, own, notes);
  if (!from) throw no_checkpoint(folder, wanted, own, notes);
  return point_of(std::move(run), std::move(taken), std::move(*from), wanted);
}

}  // namespace

std::optional<ResumePoint> find_resume_point(const TrainOptions& options, const Configuration& own,
                                             const record::LockHolder& self,
                                             std::vector<std::string>& notes) {
  const ResumeRequest request = request_of(options);
  return request.run ? open_named(options, request, own, self, notes)
                     : find_newest(options, request, own, self, notes);
}

}  // namespace hpcboot::train
