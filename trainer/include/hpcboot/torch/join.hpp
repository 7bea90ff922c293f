#pragma once

#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

class Join;

/// A part of a training step that has collectives: a DistributedDataParallel, or one of yours.
class Joinable {
 public:
  virtual ~Joinable() = default;

  /// This part belongs to a Join from now on, or to none (null).
  virtual void set_join(Join* /*join*/) {}

  /// Called on a rank that has no further batch, for each step of the other ranks: calls the same
  /// collectives as they do, with a contribution that changes nothing, such as zeros for a sum.
  virtual void shadow_step() = 0;

  /// Called on every rank after the last step, which `last_rank` took.
  virtual void finish(int /*last_rank*/) {}
};

struct JoinOptions {
  /// Throw on every rank as soon as one has no further batch, instead of going on without it.
  bool throw_on_early_end = false;
};

/// Training on ranks that have different numbers of batches: one that has no more takes part in the
/// exchanges of the others until all have finished, like PyTorch's class of this name.
///
///     hpcboot::Join join(group, {&ddp.joinable()});
///     for (auto& batch : *loader) {
///       optimizer.zero_grad();
///       loss_of(ddp.forward(batch.data), batch.target).backward();
///       optimizer.step();
///     }
///     join.finish();
///
/// Each forward with gradients enabled is a step, and needs its own backward, so accumulate
/// gradients with no_sync(). Gradients are divided by the number of all ranks also if some have
/// finished, as by PyTorch. In the end, every rank has the model of the last one; optimizers with
/// momentum differ then, as the ranks that finished early took fewer steps: make a new one, or
/// broadcast the state of active_rank()'s. Costs a small all-reduce a step, and another one for
/// each DistributedDataParallel.
class Join {
 public:
  /// @param members the parts of each step, in their order. Of several DistributedDataParallel,
  ///        each one's backward comes before the next one's forward.
  /// @throws Error{invalid_model_use} for a DistributedDataParallel with sparse gradients,
  ///         static_graph, another group, or, without throw_on_early_end, synchronized batch norms
  Join(ProcessGroup group, std::vector<Joinable*> members, const JoinOptions& options = {});
  /// Without finish(), for example because of an exception, the other ranks report a lost rank once
  /// this process has ended, or a deadline.
  ~Join();
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  /// Before the collectives of a step. DistributedDataParallel calls it in forward(); call it
  /// yourself if your own part comes first.
  /// @param member the caller: only the first of the members has an effect
  /// @throws Error{stopped} with throw_on_early_end, if a rank has finished;
  ///         Error{peer_lost, deadline_exceeded}
  void step(const Joinable* member);

  /// After the last batch of this rank: takes part in the steps of the others until all ranks have
  /// called this.
  /// @throws Error{stopped} with throw_on_early_end, if other ranks have further batches;
  ///         Error{peer_lost, deadline_exceeded}
  void finish();

  /// A rank that takes the current step: the largest one.
  int active_rank() const { return active_rank_; }

  const ProcessGroup& group() const { return group_; }
  const JoinOptions& options() const { return options_; }

 private:
  bool agree(bool active);
  void leave();

  ProcessGroup group_;
  std::vector<Joinable*> members_;
  JoinOptions options_;
  int active_rank_ = -1;
  bool has_finished_ = false;
};

}  // namespace hpcboot
