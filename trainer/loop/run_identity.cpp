#include "loop/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "loop/epoch_trainer.hpp"

namespace hpcboot::train {
namespace {

std::string text_of(const data::Samples& samples) {
  return fmt::format("{} {}, checksum {}", samples.count(), samples.kind(), samples.checksum());
}

std::string option_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

/// Left out of an identity at these values, so that runs of versions without them continue.
Json first_values() {
  const TrainOptions first;
  return {{"task", first.task},
          {"augment", first.augment},
          {"mixup", first.mixup},
          {"dropout", first.dropout}};
}

std::string shown(const Json& object, const std::string& key) {
  const Json first = first_values();
  const Json value = object.value(key, first.value(key, Json("not set")));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Json run_identity(const TrainOptions& o, const BatchPlan& batches, const tasks::Task& task) {
  Json identity = to_json(o.optimization);
  const Json later = {
      {"task", o.task}, {"augment", o.augment}, {"mixup", o.mixup}, {"dropout", o.dropout}};
  const Json first = first_values();
  for (const auto& item : later.items()) {
    if (item.value() != first[item.key()]) identity[item.key()] = item.value();
  }
  identity["model"] = o.model;
  identity["image_size"] = o.image_size;
  identity["batch_size"] = batches.global;
  identity["precision"] = o.precision;
  if (o.precision == "fp16") {
    identity["initial_scale_power"] = o.initial_scale_power;
    identity["scale_growth_interval"] = o.scale_growth_interval;
  }
  identity["seed"] = o.seed;
  identity["data_fraction"] = o.data_fraction;
  identity["sync_bn"] = o.sync_bn;
  identity["compress_gradients"] = o.compress_gradients;
  identity["limit_samples"] = o.limit_samples;
  identity["data"] = text_of(task.train_samples()) + "; " + text_of(task.validation_samples());
  return identity;
}

std::vector<std::string> differences(const Json& own, const Json& of_run) {
  std::set<std::string> keys;
  for (const auto& item : own.items()) keys.insert(item.key());
  for (const auto& item : of_run.items()) keys.insert(item.key());
  std::vector<std::string> texts;
  for (const std::string& key : keys) {
    if (own.contains(key) && of_run.contains(key) && own[key] == of_run[key]) continue;
    texts.push_back(fmt::format("{} is {}, but {} in the run", option_name(key), shown(own, key),
                                shown(of_run, key)));
  }
  return texts;
}

}  // namespace hpcboot::train
