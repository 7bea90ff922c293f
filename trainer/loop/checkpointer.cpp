#include "loop/checkpointer.hpp"

#include <torch/types.h>

#include <algorithm>
#include <utility>

#include "loop/stop_request.hpp"

namespace hpcboot::train {
namespace {

using Unit = CheckpointInterval::Unit;

/// The part of --time-limit reserved after the last save, for the ranks to shut down.
constexpr double kSpareSeconds = 2;
/// A slow disk, assumed for the first save.
constexpr double kBytesPerSecond = 100e6;

}  // namespace

Checkpointer::Checkpointer(const TrainOptions& options, const record::RunFolder& folder,
                           const Json& identity, EpochTrainer& trainer, Communicator& communicator,
                           Clock::time_point begin, double runtime_before,
                           std::function<Clock::time_point()> now)
    : options_(options),
      interval_(parse_checkpoint_interval(options.checkpoint_every)),
      time_limit_(options.time_limit.empty() ? std::chrono::seconds(0)
                                             : parse_time_limit(options.time_limit)),
      identity_(identity),
      trainer_(trainer),
      communicator_(communicator),
      agreement_(communicator),
      now_(std::move(now)),
      begin_(begin),
      last_save_(now_()),
      runtime_before_(runtime_before),
      best_(trainer.state().best) {
  const auto keep = static_cast<std::size_t>(options.keep_checkpoints);
  if (options.sharded_checkpoints) {
    sharded_.emplace(folder.checkpoints(), keep, folder.metrics_csv(), communicator);
  } else if (communicator.is_first()) {
    writer_.emplace(folder.checkpoints(), keep, folder.metrics_csv());
  }
}

double Checkpointer::seconds_since(Clock::time_point begin) const {
  return std::chrono::duration<double>(now_() - begin).count();
}

double Checkpointer::runtime() const {
  return runtime_before_ + seconds_since(begin_);
}

std::filesystem::path Checkpointer::newest() const {
  if (sharded_) return sharded_->newest();
  return writer_ ? writer_->newest() : std::filesystem::path();
}

double Checkpointer::longest_save_seconds() const {
  if (sharded_) return sharded_->longest_save_seconds();
  return writer_ ? writer_->longest_save_seconds() : 0;
}

double Checkpointer::waited_seconds() const {
  if (!communicator_.is_first()) return 0;
  return collecting_ + (sharded_ ? sharded_->waited_seconds() : writer_->waited_seconds());
}

bool Checkpointer::time_is_up(double seconds) const {
  if (time_limit_.count() == 0 || !communicator_.is_first()) return false;
  double save = longest_save_seconds();
  if (save == 0) {
    save = static_cast<double>(trainer_.checkpoint_bytes()) / kBytesPerSecond;
  }
  save += longest_collecting_;
  // The next decision comes a step later, and a save may take longer than the previous ones.
  const double needed = 2 * seconds + 1.5 * save + kSpareSeconds;
  return seconds_since(begin_) + needed >= static_cast<double>(time_limit_.count());
}

StopFlags Checkpointer::ask(double seconds, bool now) {
  StopFlags own;
  own.signal = stop_signal();
  own.time_is_up = time_is_up(seconds);
  own.checkpoint = interval_.unit == Unit::minutes && interval_.count > 0 &&
                   seconds_since(last_save_) >= 60.0 * static_cast<double>(interval_.count);
  own.written = sharded_ && sharded_->is_written();
  // After it, so that no part is missing from what all have written.
  if (writer_) writer_->check();
  if (sharded_) sharded_->check();
  const StopFlags all = agreement_.ask(own, seconds, now);
  if (all.written) sharded_->complete();
  if (all.stop()) stop_reason_ = all.reason();
  return all;
}

AfterStep Checkpointer::after_step(double seconds, bool last) {
  const StopFlags all = ask(seconds, last);
  if (all.stop()) return AfterStep::save_and_stop;
  const bool by_steps = interval_.unit == Unit::steps && interval_.count > 0 &&
                        trainer_.state().step % interval_.count == 0;
  return by_steps || all.checkpoint ? AfterStep::save : AfterStep::go_on;
}

bool Checkpointer::interrupts_validation(double seconds) {
  if (!ask(seconds, false).stop()) return false;
  // All steps of the epoch are done: a resumed run continues with its validation.
  save();
  return true;
}

void Checkpointer::save() {
  save({true, false});
}

void Checkpointer::save(CheckpointKind kind) {
  if (kind.regular) last_save_ = now_();
  finish();
  TrainingState state = trainer_.state();
  state.best = best_;
  state.identity = identity_;
  state.runtime_seconds = runtime();
  if (sharded_) sharded_->prepare(state, kind);
  const auto begin = Clock::now();
  std::vector<NamedTensor> tensors;
  CheckpointShare share;
  if (sharded_) {
    share = trainer_.collect_share();
  } else {
    tensors = trainer_.collect_tensors();
  }
  const double collecting = std::chrono::duration<double>(Clock::now() - begin).count();
  collecting_ += collecting;
  longest_collecting_ = std::max(longest_collecting_, collecting);
  if (sharded_) sharded_->write(share);
  if (writer_) writer_->save(state, tensors, kind);
}

void Checkpointer::finish() {
  wait_for_disks();
  if (!sharded_ || !sharded_->is_pending()) return;
  sharded_->complete();
  wait_for_disks();
}

void Checkpointer::wait_for_disks() {
  communicator_.wait_until_all([this](std::chrono::milliseconds limit) {
    if (sharded_) return sharded_->finish(limit);
    return !writer_ || writer_->finish(limit);
  });
}

void Checkpointer::end_epoch(const BestValidation& validation) {
  CheckpointKind kind;
  kind.best = !best_ || best_->is_beaten_by(validation);
  if (kind.best) best_ = validation;
  if (interval_.count == 0) return;
  // The end of the run is always saved: the run can be continued with more --epochs.
  const int done = trainer_.state().epoch - 1;
  kind.regular =
      done == options_.epochs || (interval_.unit == Unit::epochs && done % interval_.count == 0);
  if (kind.regular || kind.best) save(kind);
}

}  // namespace hpcboot::train
