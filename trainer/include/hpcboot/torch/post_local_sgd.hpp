#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "hpcboot/torch/communication_hook.hpp"
#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

// Post-local SGD (T. Lin et al., Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020): after the
// first steps, gradients are averaged among a few ranks only, such as those of one host, and the
// models of all ranks are averaged from time to time:
//
//     hpcboot::ProcessGroup host = world.split(resolution.placement.node_rank);
//     options.communication_hook = hpcboot::post_local_sgd_hook(host, 100);
//     hpcboot::DistributedDataParallel ddp(Net(), world, options);
//     hpcboot::ModelAverager averager(world, {100, 4});
//     …
//     optimizer.step();
//     averager.step(ddp.module()->parameters());  // one that layers share counts once

/// Averages the gradients over the group of DistributedDataParallel in the first `start_step`
/// steps, and over `subgroup` afterwards.
std::shared_ptr<CommunicationHook> post_local_sgd_hook(const ProcessGroup& subgroup,
                                                       std::int64_t start_step);

struct ModelAveragerOptions {
  std::int64_t start_step = 100;  ///< the first steps do not average; as for the hook
  std::int64_t period = 4;        ///< then every period-th step does
};

/// Averages a model's parameters over the ranks of a group every few steps.
class ModelAverager {
 public:
  /// @throws Error{invalid_model_use} for a period below 1
  ModelAverager(const ProcessGroup& group, const ModelAveragerOptions& options);

  /// Call it on every rank after each optimizer.step().
  /// @return whether the parameters were averaged in this step
  /// @throws Error{peer_lost, deadline_exceeded}
  bool step(const std::vector<at::Tensor>& parameters);

 private:
  ProcessGroup group_;
  ModelAveragerOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace hpcboot
