#include "loop/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "loop/fitting_options.hpp"

namespace hpcboot::train {
namespace {

constexpr const char* kLabels = "labels";

std::string text_of(const data::Samples& samples) {
  return fmt::format("{} {}, checksum {}", samples.count(), samples.kind(), samples.checksum());
}

/// Empty if neither split has labels in memory.
std::string labels_text(const tasks::Task& task) {
  const std::string training = task.train_samples().checksum_of_labels();
  const std::string validation = task.validation_samples().checksum_of_labels();
  if (training.empty() && validation.empty()) return "";
  return training + "; " + validation;
}

std::string option_name(std::string key) {
  if (key == kLabels) return "the labels' checksum";
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

/// As it was asked for, so that a run continues with the same options on another number of ranks.
std::string pass_text(const BatchSizes& asked) {
  if (asked.micro) return std::to_string(*asked.micro);
  const std::int64_t passes = asked.accumulate.value_or(1);
  return passes == 1 ? "a rank's share of the batch"
                     : fmt::format("a rank's share in {} passes", passes);
}

/// What versions before it did not record, so that their runs continue whatever it was.
bool is_unknown_of_older(const std::string& key) {
  return key == "micro_batch" || key == kLabels;
}

/// Left out of an identity at these values, so that runs of versions without them continue.
Json first_values() {
  const TrainOptions first;
  return {{"task", first.task},
          {"augment", first.augment},
          {"mixup", first.mixup},
          {"dropout", first.dropout}};
}

std::string shown(const Json* value, const std::string& key) {
  const Json first = first_values();
  const Json text = value != nullptr ? *value : first.value(key, Json("not set"));
  return text.is_string() ? text.get<std::string>() : text.dump();
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
  if (has_batch_norms(o)) identity["micro_batch"] = pass_text(o.batches);
  identity["seed"] = o.seed;
  identity["data_fraction"] = o.data_fraction;
  identity["sync_bn"] = o.sync_bn;
  identity["compress_gradients"] = o.compress_gradients;
  identity["limit_samples"] = o.limit_samples;
  identity["data"] = text_of(task.train_samples()) + "; " + text_of(task.validation_samples());
  if (const std::string labels = labels_text(task); !labels.empty()) identity[kLabels] = labels;
  return identity;
}

std::vector<std::string> differences(const Json& own, const Json& others, const char* where) {
  // Json finds a member by a linear search.
  std::map<std::string, std::pair<const Json*, const Json*>> all;
  for (const auto& item : own.items()) all[item.key()].first = &item.value();
  for (const auto& item : others.items()) all[item.key()].second = &item.value();
  std::vector<std::string> texts;
  for (const auto& [key, values] : all) {
    const auto& [here, there] = values;
    if (here != nullptr && there != nullptr && *here == *there) continue;
    if (there == nullptr && is_unknown_of_older(key)) continue;
    texts.push_back(fmt::format("{} is {}, but {} {}", option_name(key), shown(here, key),
                                shown(there, key), where));
  }
  return texts;
}

}  // namespace hpcboot::train
