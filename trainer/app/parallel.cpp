#include "app/parallel.hpp"

#include <cmath>

#include "app/verbs.hpp"

namespace hpcboot::app {

options::Group parallel_options(train::TrainOptions& o) {
  using options::choice_into;
  using options::flag;
  using options::into;
  return {
      "Batches, precision and gradients",
      {{"batch-size", into(o.batches.global, "N").otherwise_is("64 for each device"),
        "images per step over all ranks"},
       {"micro-batch", into(o.batches.micro, "N").otherwise_is("its whole share of the batch"),
        "images of a rank in one pass; gradients of several passes are accumulated into one step"},
       {"accumulate",
        into(o.batches.accumulate, "N").otherwise_is("derived from --batch-size and --micro-batch"),
        "passes per step: batch = micro-batch x accumulate x ranks"},
       {"precision", choice_into(o.precision, {"fp32", "tf32", "bf16", "fp16", "fp64"}),
        "data type of the forward pass, and with fp64 of all else; tf32 and fp16 need CUDA "
        "devices"},
       {"initial-scale-power", into(o.initial_scale_power, "N"),
        "fp16: the initial loss scale is 2^N"},
       {"scale-growth-interval", into(o.scale_growth_interval, "N"),
        "fp16: the loss scale doubles after N steps without overflow"},
       {"sync-bn", flag(o.sync_bn), "batch-norm statistics over all ranks (mode ddp)"},
       {"zero", into(o.zero, "0|1|2|3"),
        "divide among the ranks (mode ddp): 1 the optimizer's state, 2 gradients as well, 3 "
        "weights as well; see trainer/sharding.md"},
       {"offload", flag(o.offload),
        "with --zero 2 and 3: a rank's shards and the optimizer's state are in host memory, and "
        "the "
        "optimizer steps on the CPU"},
       {"checkpoint-activations", flag(o.checkpoint_activations),
        "layers keep their inputs only, and the backward pass computes the rest again: less "
        "memory, one more forward pass"},
       {"bucket-mb", into(o.bucket_mb, "MiB"),
        "size of the buckets of the gradient all-reduce (mode ddp)"},
       {"compress-gradients", choice_into(o.compress_gradients, {"none", "bf16", "fp16"}),
        "data type for the gradient all-reduce (mode ddp)"},
       {"find-unused-parameters", flag(o.find_unused_parameters),
        "allow parameters that a step does not use; their gradients are 0 (mode ddp)"}}};
}

void check_parallel(const train::TrainOptions& o) {
  if (o.initial_scale_power < 0 || o.initial_scale_power > 60) {
    throw UsageError("--initial-scale-power must be in [0, 60]");
  }
  if (o.scale_growth_interval < 1) {
    throw UsageError("--scale-growth-interval must be at least 1");
  }
  if (o.zero < 0 || o.zero > 3) throw UsageError("--zero must be 0, 1, 2 or 3");
  if (!(o.bucket_mb > 0 && std::isfinite(o.bucket_mb)))
    throw UsageError("--bucket-mb must be above 0, and finite");
}

}  // namespace hpcboot::app
