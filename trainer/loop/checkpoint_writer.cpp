#include "loop/checkpoint_writer.hpp"

#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "loop/checkpoint_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/output_error.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

/// Creates a hard link to a file, replacing what had that name. False if the file system does not
/// support hard links.
bool link_as(const std::filesystem::path& file, const std::filesystem::path& name) {
  const std::filesystem::path temporary =
      name.parent_path() / ("." + name.filename().string() + ".link.tmp");
  ::unlink(temporary.c_str());
  if (::link(file.c_str(), temporary.c_str()) != 0) return false;
  if (::rename(temporary.c_str(), name.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return false;
  }
  // If both names already were the same file, rename(2) leaves the temporary one.
  ::unlink(temporary.c_str());
  record::sync_folder(name.parent_path());
  return true;
}

}  // namespace

void copy_tensors(const std::vector<NamedTensor>& live, std::vector<NamedTensor>& copy) {
  const torch::NoGradGuard no_grad;
  copy.resize(live.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    const torch::Tensor& from = live[i].tensor;
    torch::Tensor& to = copy[i].tensor;
    if (!to.defined() || to.sizes() != from.sizes() || to.scalar_type() != from.scalar_type()) {
      to = torch::empty(from.sizes(), from.options().device(torch::kCPU),
                        torch::MemoryFormat::Contiguous);
    }
    to.copy_(from);
    copy[i].name = live[i].name;
  }
}

CheckpointWriter::CheckpointWriter(std::filesystem::path folder, std::size_t keep,
                                   std::filesystem::path metrics)
    : folder_(std::move(folder)), keep_(keep), metrics_(std::move(metrics)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw record::output_error("create the folder", folder_, error.value());
  record::sync_folder(folder_.parent_path());  // this includes the name of metrics.csv
  remove_unfinished_checkpoints(folder_);
}

void CheckpointWriter::save(const TrainingState& state, const std::vector<NamedTensor>& live,
                            CheckpointKind kind) {
  finish();
  const auto begin = Clock::now();
  copy_tensors(live, copy_.tensors);
  copy_.state = state;
  copying_ += std::chrono::duration<double>(Clock::now() - begin).count();
  writer_.start([this, kind] { write(kind); });
}

std::filesystem::path CheckpointWriter::newest() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_;
}

void CheckpointWriter::write(CheckpointKind kind) {
  const TrainingState& state = copy_.state;
  const std::filesystem::path regular = folder_ / checkpoint_name(state.epoch - 1, state.step);
  const std::filesystem::path best = folder_ / kBestCheckpoint;
  if (!metrics_.empty()) record::sync_file(metrics_);
  if (kind.regular) {
    write_checkpoint(copy_, regular);
    const std::lock_guard<std::mutex> lock(mutex_);
    newest_ = regular;
  }
  if (kind.best) {
    if (!kind.regular || !link_as(regular, best)) write_checkpoint(copy_, best);
    forget_best_mark(folder_);
  }
  if (kind.regular) keep_newest_checkpoints(regular, keep_);
}

}  // namespace hpcboot::train
