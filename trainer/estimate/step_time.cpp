#include <algorithm>
#include <limits>

#include "hpcboot/torch/estimate.hpp"

namespace hpcboot::estimate {
namespace {

/// Seconds for `bytes` in a group whose ranks are `stride` devices apart, of which it has `ranks`.
/// Devices are numbered so that those of a tensor-parallel group are neighbours, then shards,
/// replicas and stages.
double seconds(double bytes, std::int64_t ranks, std::int64_t stride, const Machine& machine) {
  if (bytes <= 0 || ranks < 2) return 0;
  const bool one_node = ranks * stride <= machine.devices_per_node;
  const double speed = one_node ? machine.node_bandwidth : machine.network_bandwidth;
  return speed > 0 ? bytes / speed : std::numeric_limits<double>::infinity();
}

}  // namespace

StepTime step_time(const Estimate& needs, const Layout& layout, const Batch& batch,
                   const Machine& machine) {
  StepTime time;
  time.compute = needs.flop / machine.flops;
  const std::int64_t shards = layout.tensor * layout.shard;
  time.tensor = seconds(needs.traffic.tensor, layout.tensor, 1, machine);
  const auto of_shards = [&](double bytes) {
    return seconds(bytes, layout.shard, layout.tensor, machine);
  };
  const double weights = of_shards(needs.traffic.weights);
  const double between = of_shards(needs.traffic.shard - needs.traffic.weights) +
                         seconds(needs.traffic.data, layout.data, shards, machine);
  // Both directions at once, beside the network.
  const double with_host =
      std::max(needs.traffic.from_host, needs.traffic.to_host) / machine.host_bandwidth;
  const double hidden = std::max(between, with_host);
  // ZeRO-3 gathers weights during both passes and reduces gradients in each backward pass. Else
  // gradients are exchanged in the last backward pass of a step, and a backward pass takes two
  // thirds of the computation.
  const bool gathers = layout.offload || (layout.zero >= 3 && layout.shard > 1);
  const double overlap =
      gathers ? time.compute : time.compute * 2 / 3 / static_cast<double>(batch.accumulate);
  time.exchange = std::max(0.0, hidden - overlap) + weights;
  time.update = needs.traffic.update / machine.host_memory_bandwidth;
  if (layout.pipeline > 1) {
    // The stages wait for the first micro-batch, and at the end for the last one.
    const double idle =
        static_cast<double>(layout.pipeline - 1) / static_cast<double>(batch.accumulate);
    time.pipeline = (time.compute + time.tensor) * idle +
                    seconds(needs.traffic.pipeline, layout.pipeline, shards * layout.data, machine);
  }
  return time;
}

}  // namespace hpcboot::estimate
