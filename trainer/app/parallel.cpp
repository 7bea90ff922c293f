#include "app/parallel.hpp"

#include "app/options.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

po::options_description parallel_options(train::TrainOptions& o) {
  const auto number = [](std::optional<std::int64_t>& slot) {
    return po::value<std::int64_t>()->value_name("N")->notifier(
        [&slot](std::int64_t n) { slot = n; });
  };
  po::options_description options("Batches, precision, and what the ranks exchange");
  auto add = options.add_options();
  add("batch-size", number(o.batches.global), "images a step over all ranks [64 for each device]");
  add("micro-batch", number(o.batches.micro),
      "images of a rank in one pass; several passes add up to a step [its whole part]");
  add("accumulate", number(o.batches.accumulate),
      "passes a step: batch = micro-batch x accumulate x ranks [what the other two give]");
  add("precision", po::value(&o.precision)->default_value(o.precision)->value_name("P"),
      "fp32|tf32|bf16|fp16: of the forward pass; tf32 and fp16 on CUDA devices only");
  add("initial-scale-power",
      po::value(&o.initial_scale_power)->default_value(o.initial_scale_power)->value_name("N"),
      "of fp16: losses are multiplied by 2 to the N at first");
  add("scale-growth-interval",
      po::value(&o.scale_growth_interval)->default_value(o.scale_growth_interval)->value_name("N"),
      "of fp16: the multiplier doubles after N steps in a row without overflow");
  add("sync-bn", po::bool_switch(&o.sync_bn),
      "batch norms take their statistics over all ranks (mode ddp)");
  add("bucket-mb", po::value(&o.bucket_mb)->default_value(o.bucket_mb)->value_name("MiB"),
      "gradients are exchanged in groups of about this size");
  add("compress-gradients",
      po::value(&o.compress_gradients)->default_value(o.compress_gradients)->value_name("T"),
      "none|bf16|fp16: in which type gradients travel");
  add("find-unused-parameters", po::bool_switch(&o.find_unused_parameters),
      "parameters that a step does not use count as 0 instead of as an error");
  return options;
}

void check_parallel(const train::TrainOptions& o) {
  require_one_of("compress-gradients", o.compress_gradients, {"none", "bf16", "fp16"});
  require_one_of("precision", o.precision, {"fp32", "tf32", "bf16", "fp16"});
  if (o.initial_scale_power < 0 || o.initial_scale_power > 60) {
    throw UsageError("--initial-scale-power has to be in [0, 60]");
  }
  if (o.scale_growth_interval < 1) {
    throw UsageError("--scale-growth-interval has to be at least 1");
  }
  if (!(o.bucket_mb > 0)) throw UsageError("--bucket-mb has to be above 0");
}

}  // namespace hpcboot::app
