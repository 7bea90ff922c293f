#include "loop/best_at_resume.hpp"

#include <optional>
#include <system_error>

#include "hpcboot/error.hpp"
#include "loop/checkpoint_file.hpp"
#include "loop/checkpoint_folder.hpp"

namespace hpcboot::train {
namespace {

namespace fs = std::filesystem;

/// Empty if there is no such checkpoint, or if it is damaged.
std::optional<std::int64_t> step_of(const fs::path& best) {
  std::error_code absent;
  if (fs::is_directory(best, absent)) return step_of_checkpoint(best);
  try {
    return read_state(best).step;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_end_of_best_epoch(const TrainingState& state) {
  return state.best && state.best->epoch == state.epoch - 1 && state.progress.images_seen == 0;
}

void make_best(const Checkpoint& checkpoint, const fs::path& folder) {
  if (!checkpoint.folder.empty()) {
    mark_as_best(checkpoint.folder, true);
    return;
  }
  write_checkpoint(checkpoint, folder / kBestCheckpoint);
  forget_best_mark(folder);
}

}  // namespace

void agree_on_best(ResumePoint& point) {
  TrainingState& state = point.checkpoint.state;
  const fs::path folder = point.folder.checkpoints();
  const fs::path best = checkpoint_path(folder, kBestCheckpoint);
  std::optional<std::int64_t> step = step_of(best);
  if (point.goes_back && step.value_or(0) > state.step) {
    fs::remove(best);  // a folder has been removed with the later checkpoints
    step.reset();
  }
  std::error_code absent;
  if (is_end_of_best_epoch(state) && step.value_or(-1) < state.step) {
    make_best(point.checkpoint, folder);
  } else if (!step && !fs::exists(best, absent)) {
    state.best.reset();
  }
}

}  // namespace hpcboot::train
