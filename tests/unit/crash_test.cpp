// Power cuts at any moment of a run's saves: its system calls are recorded once, and each state
// that they may have left on disk is created as a folder, from which --resume auto must continue.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_set>

#include "hpcboot/error.hpp"
#include "loop/checkpoint_folder.hpp"
#include "loop/checkpoint_writer.hpp"
#include "loop/resume.hpp"
#include "loop/shared_resume.hpp"
#include "support/crash_states.hpp"
#include "support/saved_run.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using Kind = test::FileOperation::Kind;
using Operations = std::vector<test::FileOperation>;

const record::LockHolder kSelf{"host", 1, ""};

Resolution alone() {
  Resolution resolution;
  resolution.placement = {0, 1, 0, 1, 0, 1};
  return resolution;
}

/// What a run has reported to be on disk.
struct Promise {
  std::int64_t step = 0;  ///< of the newest checkpoint
  std::int64_t best = 0;  ///< of the best one
  int starts = 0;         ///< in run.json, and
  int epochs = 0;
};

struct Recorded {
  Operations operations;
  std::vector<Promise> promises;  ///< one per mark
  test::DiskContent left;         ///< the final content
};

/// A run, and what it reports. It keeps only the newest and the best checkpoint.
class RecordedRun {
 public:
  explicit RecordedRun(const std::filesystem::path& root)
      : recorder_(root),
        runs_(root / "runs"),
        folder_(record::RunFolder::create(runs_, {{}, "single", 1, 1})) {}

  /// The first start of the trainer, with an epoch for each of `are_best`.
  void start(const std::vector<bool>& are_best) {
    const auto lock = record::RunLock::try_take(folder_.path(), kSelf);
    train(0, are_best);
  }

  /// A start that goes back to the best epoch.
  void go_back(const std::vector<bool>& are_best) {
    promise_.step = promise_.best;
    promise_.epochs = saved_run::epochs_after(promise_.best);
    promise();
    Communicator communicator(alone(), std::nullopt);
    TrainOptions options = saved_run::options(runs_, "best");
    options.keep_checkpoints = 1;
    const SharedResume resumed =
        resume_together(options, saved_run::configuration(), kSelf, communicator);
    promise();
    train(resumed.state->step, are_best);
  }

  Recorded recorded(const std::filesystem::path& root) {
    return {recorder_.operations(), promises_, test::content_of(root)};
  }

 private:
  void train(std::int64_t step, const std::vector<bool>& are_best) {
    ++promise_.starts;
    write_record(step);
    record::MetricsCsv metrics(folder_.metrics_csv(), step);
    CheckpointWriter writer(folder_.checkpoints(), 1, folder_.metrics_csv());
    const auto end_step = [&](bool ends_epoch, bool is_best) {
      metrics.append(saved_run::row_of(++step));
      metrics.flush();
      if (ends_epoch) write_record(step);
      writer.save(saved_run::state_after(step), saved_run::tensors_after(step), {true, is_best});
      writer.finish();
      promise_.step = step;
      if (is_best) promise_.best = step;
      promise();
    };
    for (const bool is_best : are_best) {
      end_step(false, false);
      end_step(true, is_best);
    }
  }

  void promise() {
    promises_.push_back(promise_);
    recorder_.mark();
  }

  void write_record(std::int64_t step) {
    record::RunRecord record = saved_run::record_after(step);
    record.resumed.resize(static_cast<std::size_t>(promise_.starts - 1));
    record.write(folder_.run_json());
    promise_.epochs = saved_run::epochs_after(step);
    promise();
  }

  test::FileRecorder recorder_;
  const std::filesystem::path runs_;
  const record::RunFolder folder_;
  Promise promise_;
  std::vector<Promise> promises_;
};

Recorded record_run() {
  const test::TemporaryFolder root;
  RecordedRun run(root.path());
  run.start({true, true, false});
  run.go_back({true, false});  // trains the third epoch again
  return run.recorded(root.path());
}

/// What a disk has kept. @throws Error if a file of the run is incomplete
Promise kept_on(const std::filesystem::path& runs) {
  Promise kept;
  std::error_code absent;
  for (const auto& run : std::filesystem::directory_iterator(runs, absent)) {
    const record::RunFolder folder(run.path());
    if (std::filesystem::exists(folder.run_json())) {
      const auto record = record::RunRecord::read(folder.run_json());
      kept.starts = static_cast<int>(record.resumed.size()) + 1;
      kept.epochs = static_cast<int>(record.epochs.size());
    }
    for (const auto& file : std::filesystem::directory_iterator(folder.checkpoints(), absent)) {
      if (file.path().extension() != ".safetensors") continue;
      const std::int64_t step = read_checkpoint(file.path()).state.step;
      if (file.path().filename() == kBestCheckpoint) kept.best = step;
    }
  }
  return kept;
}

bool has_tensors_after(std::int64_t step, const std::vector<NamedTensor>& found) {
  const auto expected = saved_run::tensors_after(step);
  return std::is_permutation(found.begin(), found.end(), expected.begin(), expected.end(),
                             [](const NamedTensor& a, const NamedTensor& b) {
                               return a.name == b.name && torch::equal(a.tensor, b.tensor);
                             });
}

/// What is wrong with a disk; empty if nothing is.
/// @throws Error if a file of the run is incomplete
std::string fault_of(const std::filesystem::path& disk, const Promise& promise) {
  const std::filesystem::path runs = disk / "runs";
  const Promise kept = kept_on(runs);
  if (kept.starts < promise.starts) return "run.json does not know the last start";
  if (kept.epochs < promise.epochs) return "epochs are missing in run.json";
  if (kept.best < promise.best) return "the best checkpoint is missing";
  if (promise.step == 0) return {};
  std::vector<std::string> notes;
  const auto point =
      find_resume_point(saved_run::options(runs, "auto"), saved_run::configuration(), kSelf, notes);
  if (!point) return "no run to go on with: " + (notes.empty() ? "" : notes.front());
  const std::int64_t step = point->checkpoint.state.step;
  if (step < promise.step) return "an older checkpoint: " + point->file.string();
  if (!has_tensors_after(step, point->checkpoint.tensors)) return "tensors of another step";
  if (static_cast<int>(point->record.epochs.size()) != saved_run::epochs_after(step))
    return "epochs before the checkpoint are missing in run.json";
  const std::filesystem::path metrics = point->folder.metrics_csv();
  record::MetricsCsv(metrics, step).flush();
  if (record::MetricsCsv::last_step(metrics) != step) return "rows of metrics.csv are missing";
  return {};
}

/// Searches for a state from which a run cannot continue. Remembers the states found to be correct.
class Checker {
 public:
  explicit Checker(std::vector<Promise> promises) : promises_(std::move(promises)) {}

  /// A fault and the state that has it; empty if there is none.
  std::string first_fault(const Operations& operations) {
    std::string found;
    test::for_each_crash(operations, [&](const test::CrashState& state) {
      const Promise promise = state.marks == 0 ? Promise{} : promises_.at(state.marks - 1);
      if (!right_.insert(key_of(state.content, promise)).second) return true;
      test::materialise(state.content, folder_.path() / "disk");
      try {
        found = fault_of(folder_.path() / "disk", promise);
      } catch (const Error& error) {
        found = error.found();
      }
      if (found.empty()) return true;
      right_.erase(key_of(state.content, promise));
      found += "\n" + state.description(operations);
      return false;
    });
    return found;
  }

  std::size_t states() const { return right_.size(); }

 private:
  static std::string key_of(const test::DiskContent& content, const Promise& promise) {
    std::string key;
    for (const std::int64_t one :
         {promise.step, promise.best, std::int64_t{promise.starts}, std::int64_t{promise.epochs}})
      key += std::to_string(one) + " ";
    for (const auto& [path, bytes] : content)
      key += "\n" + path + " " + (bytes ? std::to_string(std::hash<std::string>()(*bytes)) : "/");
    return key;
  }

  /// In memory if possible: ext4 flushes each truncated file when it is closed.
  static std::string place() {
    const std::string memory = "/dev/shm/";
    return ::access(memory.c_str(), W_OK) == 0 ? memory : ::testing::TempDir();
  }

  const test::TemporaryFolder folder_{place()};
  const std::vector<Promise> promises_;
  std::unordered_set<std::string> right_;
};

class PowerCut : public ::testing::Test {
 protected:
  static const Recorded& recorded() {
    static const Recorded once = record_run();
    return once;
  }
  /// Shared by the tests of this program, with the states found to be correct.
  static Checker& checker() {
    static Checker one(recorded().promises);
    return one;
  }
};

TEST_F(PowerCut, IsReplayedFromACompleteRecord) {
  EXPECT_EQ(test::content_after(recorded().operations, recorded().operations.size()),
            recorded().left);
  EXPECT_GT(recorded().left.size(), 6U);
}

TEST_F(PowerCut, LeavesACheckpointToGoOnFrom) {
  EXPECT_EQ(checker().first_fault(recorded().operations), "");
  RecordProperty("states", static_cast<int>(checker().states()));
  EXPECT_GT(checker().states(), 1000U);
}

// The remaining tests show that the checks can fail: a run that syncs less would lose something.

TEST_F(PowerCut, FindsEachSyncThatIsLeftOut) {
  ASSERT_EQ(checker().first_fault(recorded().operations), "");
  const Operations& all = recorded().operations;
  std::size_t syncs = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!test::makes_durable(all, i)) continue;
    // If a checkpoint becomes the best one, its folder is synced again before that is reported.
    const auto next = std::find_if(
        all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
        [](const auto& one) { return one.kind == Kind::sync || one.kind == Kind::mark; });
    if (next != all.end() && next->kind == Kind::sync && next->node == all[i].node) continue;
    ++syncs;
    Operations less = all;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(checker().first_fault(less), "") << "operation " << i << ", node " << all[i].node;
  }
  EXPECT_GT(syncs, 20U);
}

TEST_F(PowerCut, FindsACheckpointThatGoesBeforeTheNextHasItsName) {
  Operations wrong = recorded().operations;
  const auto is_checkpoint = [](const std::string& name) { return name.rfind("epoch_", 0) == 0; };
  std::optional<std::size_t> named;  // the last time
  std::size_t moved = 0;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    if (wrong[i].kind == Kind::rename && is_checkpoint(wrong[i].to)) named = i;
    if (wrong[i].kind != Kind::remove || !is_checkpoint(wrong[i].from) || !named) continue;
    const auto begin = wrong.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(*named), begin + static_cast<std::ptrdiff_t>(i),
                begin + static_cast<std::ptrdiff_t>(i) + 1);
    ++*named;
    ++moved;
  }
  EXPECT_GT(moved, 3U);
  EXPECT_NE(checker().first_fault(wrong), "");
}

}  // namespace
}  // namespace hpcboot::train
