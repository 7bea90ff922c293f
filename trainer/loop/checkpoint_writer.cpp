#include "loop/checkpoint_writer.hpp"

#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "loop/checkpoint_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/output_error.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Reuses the memory of the previous checkpoint if it fits.
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

CheckpointWriter::CheckpointWriter(std::filesystem::path folder, std::size_t keep,
                                   std::filesystem::path metrics)
    : folder_(std::move(folder)), keep_(keep), metrics_(std::move(metrics)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw record::output_error("create the folder", folder_, error.value());
  record::sync_folder(folder_.parent_path());  // this includes the name of metrics.csv
  remove_unfinished_checkpoints(folder_);
  thread_ = std::thread([this] { work(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !kind_; });
}

void CheckpointWriter::save(const TrainingState& state, const std::vector<NamedTensor>& live,
                            Kind kind) {
  const auto begin = Clock::now();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    wait_until_idle(lock);
  }
  check();
  copy_tensors(live, copy_.tensors);
  copy_.state = state;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    kind_ = kind;
  }
  changed_.notify_all();
  waited_ += seconds_since(begin);
}

void CheckpointWriter::check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::finish() {
  const auto begin = Clock::now();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    wait_until_idle(lock);
  }
  waited_ += seconds_since(begin);
  check();
}

double CheckpointWriter::longest_save_seconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return longest_;
}

std::filesystem::path CheckpointWriter::newest() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_;
}

void CheckpointWriter::work() {
  // The training thread handles signals.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return kind_ || stopping_; });
    if (!kind_) return;
    const Kind kind = *kind_;
    lock.unlock();
    const auto begin = Clock::now();
    std::exception_ptr failure;
    try {
      write(kind);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    longest_ = std::max(longest_, seconds_since(begin));
    kind_.reset();
    changed_.notify_all();
  }
}

void CheckpointWriter::write(Kind kind) {
  const TrainingState& state = copy_.state;
  const std::filesystem::path regular = folder_ / checkpoint_name(state.epoch - 1, state.step);
  const std::filesystem::path best = folder_ / kBestCheckpoint;
  if (!metrics_.empty()) record::sync_file(metrics_);
  if (kind.regular) {
    write_checkpoint(copy_, regular);
    const std::lock_guard<std::mutex> lock(mutex_);
    newest_ = regular;
  }
  if (kind.best && !(kind.regular && link_as(regular, best))) write_checkpoint(copy_, best);
  if (kind.regular) keep_newest_checkpoints(regular, keep_);
}

}  // namespace hpcboot::train
