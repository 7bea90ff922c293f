#include "loop/train_options.hpp"

namespace hpcboot::train {

namespace {

Json number_or_null(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace

bool has_tensorboard() {
  return HPCBOOT_WITH_TENSORBOARD;
}

Json to_json(const TrainOptions& o) {
  Json json = {{"task", o.task},
               {"mode", o.mode},
               {"model", o.model},
               {"data", o.data},
               {"epochs", o.epochs},
               {"batch_size", number_or_null(o.batches.global)},
               {"image_size", o.image_size > 0 ? Json(o.image_size) : Json(nullptr)},
               {"augment", o.augment},
               {"mixup", o.mixup},
               {"dropout", o.dropout},
               {"precision", o.precision},
               {"initial_scale_power", o.initial_scale_power},
               {"scale_growth_interval", o.scale_growth_interval},
               {"seed", o.seed},
               {"limit_samples", o.limit_samples},
               {"data_fraction", o.data_fraction},
               {"backend", o.backend},
               {"device", o.device},
               {"devices", o.devices.empty() ? Json(nullptr) : Json(o.devices)},
               {"micro_batch", number_or_null(o.batches.micro)},
               {"accumulate", number_or_null(o.batches.accumulate)},
               {"find_unused_parameters", o.find_unused_parameters},
               {"bucket_mb", o.bucket_mb},
               {"compress_gradients", o.compress_gradients},
               {"sync_bn", o.sync_bn},
               {"zero", o.zero},
               {"offload", o.offload},
               {"checkpoint_activations", o.checkpoint_activations},
               {"runs_dir", o.runs_dir},
               {"comment", o.comment},
               {"tensorboard", o.tensorboard},
               {"threads", o.threads},
               {"loader_threads", o.loader_threads},
               {"checkpoint_every", o.checkpoint_every},
               {"keep_checkpoints", o.keep_checkpoints},
               {"sharded_checkpoints", o.sharded_checkpoints},
               {"resume", o.resume.empty() ? Json(nullptr) : Json(o.resume)},
               {"time_limit", o.time_limit.empty() ? Json(nullptr) : Json(o.time_limit)},
               {"deterministic", o.deterministic},
               {"cuda_graph", o.cuda_graph},
               {"monitor", o.monitor ? Json(*o.monitor) : Json(nullptr)},
               {"profile", o.profile.empty() ? Json(nullptr) : Json(o.profile)},
               {"profile_mb", o.profile_mb},
               {"store", o.store},
               {"start_up_timeout", o.start_up_timeout.count()},
               {"collective_timeout", o.collective_timeout.count()}};
  json.update(to_json(o.optimization));
  return json;
}

}  // namespace hpcboot::train
