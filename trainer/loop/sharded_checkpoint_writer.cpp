#include "loop/sharded_checkpoint_writer.hpp"

#include <torch/types.h>

#include <chrono>
#include <utility>

#include "loop/checkpoint_file.hpp"
#include "loop/checkpoint_folder.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"

namespace hpcboot::train {

using Clock = std::chrono::steady_clock;

ShardedCheckpointWriter::ShardedCheckpointWriter(std::filesystem::path folder, std::size_t keep,
                                                 std::filesystem::path metrics,
                                                 Communicator& communicator)
    : folder_(std::move(folder)),
      keep_(keep),
      metrics_(std::move(metrics)),
      communicator_(communicator) {
  if (!communicator_.is_first()) return;
  record::make_folders(folder_);
  remove_unfinished_checkpoints(folder_);
}

void ShardedCheckpointWriter::prepare(const TrainingState& state, CheckpointKind kind) {
  const std::filesystem::path folder =
      folder_ / sharded_checkpoint_name(state.epoch - 1, state.step);
  if (communicator_.is_first()) record::begin_folder(folder);
  communicator_.sum(torch::zeros({1}));  // the others write after it
  pending_ = Save{state, kind, record::unfinished_folder(folder), folder};
}

void ShardedCheckpointWriter::write(const CheckpointShare& share) {
  const auto begin = Clock::now();
  copy_tensors(share.model, copy_.model);
  if (!copy_.optimizer) copy_.optimizer.emplace();
  copy_tensors(share.optimizer.value(), *copy_.optimizer);
  copying_ += std::chrono::duration<double>(Clock::now() - begin).count();
  writer_.start([this, written = pending_->written] {
    write_share(copy_, written, communicator_.rank(), communicator_.size());
  });
}

void ShardedCheckpointWriter::complete() {
  const Save save = *std::exchange(pending_, std::nullopt);
  if (communicator_.is_first()) writer_.start([this, save] { complete(save); });
}

std::filesystem::path ShardedCheckpointWriter::newest() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_;
}

void ShardedCheckpointWriter::complete(const Save& save) {
  record::sync_file(metrics_);
  // One of an earlier start, after the same step, is replaced: it may be damaged.
  complete_checkpoint(save.written, save.folder, communicator_.size(), notes_of(save.state));
  if (save.kind.best) mark_as_best(save.folder, save.kind.regular);
  if (!save.kind.regular) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    newest_ = save.folder;
  }
  keep_newest_checkpoints(save.folder, keep_);
}

}  // namespace hpcboot::train
