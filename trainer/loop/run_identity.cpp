#include "loop/run_identity.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "loop/epoch_trainer.hpp"

namespace hpcboot::train {
namespace {

constexpr std::int64_t kSamplesRead = 8;

/// A checksum of some samples spread over the set, and of their labels.
std::string checksum(const data::Dataset& set) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < std::min(kSamplesRead, set.count()); ++i) {
    indices.push_back(i * set.count() / kSamplesRead % set.count());
  }
  std::vector<std::uint8_t> pixels(indices.size() * set.image_bytes());
  std::vector<std::uint8_t> labels(indices.size());
  set.read(indices.data(), static_cast<std::int64_t>(indices.size()), pixels.data(), labels.data());
  uLong sum = ::crc32_z(0, pixels.data(), pixels.size());
  sum = ::crc32_z(sum, labels.data(), labels.size());
  return fmt::format("{} images of {}, checksum {:08x}", set.count(), to_string(set.shape()), sum);
}

std::string option_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

std::string shown(const Json& object, const std::string& key) {
  const auto value = object.find(key);
  if (value == object.end()) return "not set";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

}  // namespace

Json run_identity(const TrainOptions& o, const BatchPlan& batches, const data::Dataset& train_set,
                  const data::Dataset& test_set) {
  Json identity = to_json(o.optimization);
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
  identity["data"] = checksum(train_set) + "; " + checksum(test_set);
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
