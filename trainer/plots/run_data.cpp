#include "plots/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/counted.hpp"
#include "record/run_work.hpp"

namespace hpcboot::plots {
namespace {

using record::config_value;

std::string text_of(const record::RunRecord& run, const char* key) {
  const Json value = config_value(run, key);
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

std::string about(const record::RunRecord& run) {
  std::string text = text_of(run, "model");
  const std::string pixels = text_of(run, "image_size");
  if (!pixels.empty()) text += ", " + pixels + " px";
  const std::string precision = text_of(run, "precision");
  if (!precision.empty()) text += ", " + precision;
  const Json epochs = config_value(run, "epochs");
  if (epochs.is_number_integer()) text += ", " + counted(epochs.get<std::int64_t>(), "epoch");
  return text;
}

/// Of --resume's identity, what is not in record::work_of() anyway.
std::map<std::string, std::string> settings_of(const record::RunRecord& run) {
  std::map<std::string, std::string> settings;
  if (!run.identity.is_object()) return settings;
  for (const auto& [key, value] : run.identity.items()) {
    if (key == "seed" || key == "data" || key == "labels" || key == "limit_samples") continue;
    settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return settings;
}

std::string day_of(const std::string& time) {
  return time.substr(0, time.find('T'));
}

}  // namespace

RunData data_of(const std::filesystem::path& folder, const record::RunRecord& run) {
  RunData data;
  data.folder = folder;
  data.run = run.run;
  data.started = run.started;
  data.training = record::training_of(run);
  data.work = record::work_of(run);
  data.about = about(run);
  data.method = record::method_of(run.mode());
  data.nodes = run.nodes;
  data.devices_per_node = run.devices_per_node;
  data.devices = record::device_count(run);
  const std::string name = record::device_name(run);
  data.device_kind = name.empty() ? record::device_kind(run) : name;
  data.site = run.site.value_or("");
  data.settings = settings_of(run);
  data.samples = run.train_samples;
  data.sample = record::sample_of(run);
  data.runtime_seconds = run.totals.runtime_seconds;
  data.images_per_second = run.totals.images_per_second;
  data.epochs = run.epochs;
  return data;
}

std::string layout_of(const RunData& run) {
  return fmt::format("{} {}x{}", run.method, run.nodes, run.devices_per_node);
}

std::string source_of(const std::vector<RunData>& runs) {
  if (runs.empty()) return "no runs";
  std::set<std::string> days;
  std::set<std::string> places;
  for (const RunData& run : runs) {
    days.insert(day_of(run.started));
    places.insert(run.folder.parent_path().string());
  }
  std::string text =
      counted(static_cast<std::int64_t>(runs.size()), "run") + " of " + *days.begin();
  if (days.size() > 1) text += " to " + *days.rbegin();
  text += " in " + (places.begin()->empty() ? std::string(".") : *places.begin());
  if (places.size() > 1)
    text += fmt::format(" and {} more",
                        counted(static_cast<std::int64_t>(places.size()) - 1, "folder"));
  return text;
}

std::string common_about(const std::vector<RunData>& runs) {
  std::set<std::string> all;
  for (const RunData& run : runs) all.insert(run.about);
  if (all.size() == 1) return *all.begin();
  return fmt::format("{} trainings", all.size());
}

}  // namespace hpcboot::plots
