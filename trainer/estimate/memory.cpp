#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "estimate/stages.hpp"
#include "hpcboot/torch/estimate.hpp"
#include "torch/refusal.hpp"

namespace hpcboot::estimate {
namespace {

using Stage = std::vector<Part>;

constexpr std::int64_t kLargest = 1'000'000'000;  // products of two stay far from overflow

/// Everything that decides what one device holds.
struct Case {
  const Types& types;
  int averages;
  const Layout& layout;
  const Batch& batch;

  /// Whether weights go after each pass, and are gathered for the next.
  bool reshards() const { return layout.zero >= 3 && layout.reshard_after_forward; }
  double samples() const { return static_cast<double>(batch.micro); }
  double shards(int zero) const {
    return layout.zero >= zero ? static_cast<double>(layout.shard) : 1;
  }
};

double kept_bytes(const Case& c, const Part& part) {
  return c.samples() * (part.amounts.kept * c.types.kept + part.amounts.kept_bytes);
}

double output_bytes(const Case& c, const Part& part) {
  return c.samples() * part.output * c.types.kept;
}

/// What is held for a layer from its forward to its backward pass.
double held_bytes(const Case& c, const Part& part) {
  return c.layout.checkpoint ? output_bytes(c, part) : kept_bytes(c, part);
}

/// What the backward pass of a layer needs on top of what the forward pass kept.
double working_bytes(const Case& c, const Part& part) {
  double bytes = c.samples() * part.amounts.working * c.types.kept;
  if (c.layout.checkpoint) bytes += kept_bytes(c, part);
  return bytes;
}

double parameters_of(const Stage& stage) {
  double sum = 0;
  for (const Part& part : stage) sum += part.amounts.parameters;
  return sum;
}

/// The two largest layers: the one in use, and the one that is gathered ahead.
double two_largest(const Stage& stage) {
  double first = 0;
  double second = 0;
  for (const Part& part : stage) {
    const double one = part.amounts.parameters;
    second = std::max(second, std::min(first, one));
    first = std::max(first, one);
  }
  return first + second;
}

/// Whether each unit's weights are gathered for its passes.
bool is_gathered(const Case& c) {
  return c.shards(3) > 1 || c.layout.offload;
}

double weight_bytes(const Case& c, const Stage& stage) {
  const double all = parameters_of(stage);
  double bytes = c.layout.offload ? 0 : all * c.types.weight / c.shards(3);
  if (is_gathered(c)) {
    bytes += (c.reshards() ? std::min(all, two_largest(stage)) : all) * c.types.weight;
  }
  return bytes + all * c.types.cast;
}

/// What the optimizer keeps for its rank's parameters.
double state_bytes(const Case& c, const Stage& stage) {
  return parameters_of(stage) * (c.types.master + c.types.state * c.averages) / c.shards(1);
}

double gradient_bytes(const Case& c, double parameters) {
  return c.layout.offload ? 0 : parameters * c.types.gradient / c.shards(2);
}

/// Weights, gradients and state of a rank.
double host_bytes(const Case& c, const Stage& stage) {
  if (!c.layout.offload) return 0;
  const double shard = parameters_of(stage) / static_cast<double>(c.layout.shard);
  return shard * (c.types.weight + c.types.gradient) + state_bytes(c, stage);
}

double bucket_bytes(const Case& c, const Stage& stage) {
  const double bytes = parameters_of(stage) * c.types.gradient;
  if (c.shards(2) > 1 || c.layout.offload)
    return std::min(bytes, two_largest(stage) * c.types.gradient);
  return c.layout.data * c.layout.shard > 1 ? bytes : 0;
}

/// Micro-batches whose activations a stage keeps at a time, if each stage does a forward and a
/// backward pass in turn (Narayanan et al., Efficient Large-Scale Language Model Training on GPU
/// Clusters, 2021).
double in_flight(const Case& c, std::size_t stage) {
  const auto after = static_cast<double>(c.layout.pipeline) - static_cast<double>(stage);
  return std::min(after, static_cast<double>(c.layout.pipeline > 1 ? c.batch.accumulate : 1));
}

Memory memory_of(const Case& c, const Stage& stage, double passes) {
  Memory memory;
  memory.weights = weight_bytes(c, stage);
  memory.gradients = gradient_bytes(c, parameters_of(stage));
  memory.optimizer = c.layout.offload ? 0 : state_bytes(c, stage);
  memory.host = host_bytes(c, stage);
  memory.buckets = bucket_bytes(c, stage);
  double kept = 0;
  for (const Part& part : stage) {
    kept += held_bytes(c, part);
    memory.working = std::max(memory.working, working_bytes(c, part));
  }
  memory.activations = kept * passes;

  // The backward pass, layer by layer: activations go, gradients come. With several passes in a
  // step the gradients are there from the first on.
  const double held = memory.weights + memory.optimizer + memory.buckets;
  const bool repeats = c.batch.accumulate > 1;
  double kept_now = memory.activations;
  double gradients = repeats ? memory.gradients : 0;
  for (auto part = stage.rbegin(); part != stage.rend(); ++part) {
    if (!repeats) gradients += gradient_bytes(c, part->amounts.parameters);
    const double now = held + kept_now + gradients + working_bytes(c, *part);
    memory.peak = std::max(memory.peak, now);
    kept_now -= held_bytes(c, *part);
  }
  return memory;
}

Traffic traffic_of(const Case& c, const Stage& stage) {
  const Layout& layout = c.layout;
  const double weights = parameters_of(stage) * c.types.weight;
  const double gradients = parameters_of(stage) * c.types.gradient;
  const auto passes = static_cast<double>(c.batch.accumulate);
  Traffic traffic;
  traffic.data = 2 * ring_bytes(layout.data, gradients / c.shards(2));
  if (layout.zero >= 3) {
    const double gathers = c.reshards() ? 2 : 1;
    traffic.shard = ring_bytes(layout.shard, gradients + gathers * weights) * passes;
  } else {
    // Gradients are reduced once a step, or all-reduced for ZeRO-1; then the new weights are
    // gathered.
    const double reductions = layout.zero >= 2 ? passes : 2;
    traffic.weights = ring_bytes(layout.shard, weights);
    traffic.shard = ring_bytes(layout.shard, reductions * gradients) + traffic.weights;
  }
  if (layout.offload) {
    const double uploads = c.reshards() ? 2 : 1;
    const double shard = 1 / static_cast<double>(layout.shard);
    traffic.from_host = uploads * weights * shard * passes;
    traffic.to_host = gradients * shard * passes;
    // Weights and state are read and written, gradients read.
    traffic.update = (2 * weights + gradients) * shard + 2 * state_bytes(c, stage);
  }
  for (const Part& part : stage) {
    traffic.tensor += part.sums * 2 * ring_bytes(layout.tensor, output_bytes(c, part)) * passes;
  }
  if (layout.pipeline > 1) traffic.pipeline = 2 * output_bytes(c, stage.back()) * passes;
  return traffic;
}

double flop_of(const Case& c, const Stage& stage) {
  double forward = 0;
  for (const Part& part : stage) forward += part.amounts.flop;
  // A backward pass computes the gradients of inputs and weights.
  return forward * (c.layout.checkpoint ? 4 : 3) * c.samples() *
         static_cast<double>(c.batch.accumulate);
}

void check(const Model& model, const Layout& layout, const Batch& batch) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"data", layout.data},        {"shard", layout.shard},
      {"tensor", layout.tensor},    {"pipeline", layout.pipeline},
      {"micro-batch", batch.micro}, {"accumulate", batch.accumulate}};
  for (const auto& [name, size] : sizes) {
    if (size < 1 || size > kLargest) {
      refuse(std::string(name) + " " + std::to_string(size), "1 to " + std::to_string(kLargest));
    }
  }
  const double devices = static_cast<double>(layout.data) * static_cast<double>(layout.shard) *
                         static_cast<double>(layout.tensor) * static_cast<double>(layout.pipeline);
  if (devices > kLargest) refuse("more than a billion devices", "at most a billion");
  if (layout.zero < 1 || layout.zero > 3) {
    refuse("ZeRO stage " + std::to_string(layout.zero), "1, 2 or 3");
  }
  if (layout.offload && layout.zero < 2) {
    refuse("offload to the host with ZeRO stage 1", "stage 2 or 3");
  }
  if (layout.tensor > 1 && model.heads == 0) {
    refuse(
        "tensor parallelism over " + std::to_string(layout.tensor) + " devices for " + model.name,
        "a transformer", "use data, shard or pipeline");
  }
  if (layout.tensor > 1 && model.heads % layout.tensor != 0) {
    constexpr std::int64_t kMostShown = 128;  // no node has more devices
    std::string sizes_that_fit;
    for (std::int64_t size = 1; size <= std::min(model.heads, kMostShown); ++size) {
      if (model.heads % size == 0) sizes_that_fit += " " + std::to_string(size);
    }
    refuse("tensor parallelism over " + std::to_string(layout.tensor) + " devices for " +
               std::to_string(model.heads) + " heads of keys and values",
           "a size that divides the heads", "choose one of" + sizes_that_fit);
  }
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  if (layout.pipeline > layers) {
    refuse("a pipeline of " + std::to_string(layout.pipeline) + " stages for " +
               std::to_string(layers) + " layers",
           "at most a stage for each layer",
           "choose at most " + std::to_string(layers) + " stages");
  }
}

}  // namespace

Estimate estimate(const Model& model, const Types& types, int averages, const Layout& layout,
                  const Batch& batch) {
  check(model, layout, batch);
  const Case c{types, averages, layout, batch};
  const std::vector<Stage> stages = stages_of(model, layout);
  Estimate result;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Memory memory = memory_of(c, stages[i], in_flight(c, i));
    if (memory.peak > result.memory.peak) result.memory = memory;
    result.flop = std::max(result.flop, flop_of(c, stages[i]));
    const Traffic traffic = traffic_of(c, stages[i]);
    result.traffic.data = std::max(result.traffic.data, traffic.data);
    result.traffic.shard = std::max(result.traffic.shard, traffic.shard);
    result.traffic.weights = std::max(result.traffic.weights, traffic.weights);
    result.traffic.tensor = std::max(result.traffic.tensor, traffic.tensor);
    result.traffic.pipeline = std::max(result.traffic.pipeline, traffic.pipeline);
    result.traffic.from_host = std::max(result.traffic.from_host, traffic.from_host);
    result.traffic.to_host = std::max(result.traffic.to_host, traffic.to_host);
    result.traffic.update = std::max(result.traffic.update, traffic.update);
  }
  return result;
}

}  // namespace hpcboot::estimate
