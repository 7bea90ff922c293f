#include "record/run_work.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hpcboot::record {
namespace {

std::string text(const Json& value) {
  return value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump();
}

}  // namespace

Json config_value(const RunRecord& record, const char* key) {
  const auto value = record.config.find(key);
  return value == record.config.end() ? Json() : *value;
}

std::string training_of(const RunRecord& record) {
  const Json task = config_value(record, "task");
  // Earlier versions had one task, did not record it, and resized all images.
  const bool is_first = task.is_null() || task == "mnist";
  std::string work =
      is_first ? "" : task.dump() + "\n" + text(config_value(record, "sample")) + "\n";
  for (const char* key : {"model", "image_size", "epochs", "precision"})
    work += text(config_value(record, key)) + "\n";
  return work;
}

std::string work_of(const RunRecord& record) {
  return training_of(record) + (record.train_samples ? text(Json(*record.train_samples))
                                                     : text(config_value(record, "limit_samples")));
}

std::int64_t device_count(const RunRecord& record) {
  if (record.mode() == "ddp" && !record.ranks.empty()) {
    return static_cast<std::int64_t>(record.ranks.size());
  }
  return std::int64_t{record.nodes} * record.devices_per_node;
}

bool has_changed_devices(const RunRecord& record) {
  const std::int64_t last = device_count(record);
  return std::any_of(record.resumed.begin(), record.resumed.end(), [&](const ResumedRecord& start) {
    return start.devices_before.value_or(last) != last;
  });
}

std::string device_kind(const RunRecord& record) {
  if (record.ranks.empty()) return "";
  const std::string& device = record.ranks.front().device;
  return device.substr(0, device.find(':'));
}

std::string sample_of(const RunRecord& record) {
  const Json kind = config_value(record, "sample");
  if (!kind.is_string()) return "image";
  const auto kind_text = kind.get<std::string>();
  const std::size_t end = kind_text.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  const std::string word = kind_text.substr(0, end);
  constexpr std::size_t kLongestWord = 20;
  const bool is_plain = word.size() > 1 && word.size() <= kLongestWord && word.back() == 's' &&
                        (end == std::string::npos || kind_text[end] == ' ');
  return is_plain ? word.substr(0, word.size() - 1) : "sample";
}

std::string rate_unit(const std::string& sample, const std::string& of_other) {
  return (sample == of_other ? sample : "sample") + "s/s";
}

std::string device_name(const RunRecord& record) {
  return record.ranks.empty() ? "" : record.ranks.front().device_name.value_or("");
}

std::string method_of(const std::string& mode) {
  if (mode == "dp") return "DP";
  if (mode == "ddp") return "DDP";
  return mode;
}

}  // namespace hpcboot::record
