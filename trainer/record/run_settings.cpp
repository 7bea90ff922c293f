#include "record/run_settings.hpp"

#include <fmt/format.h>

#include "record/json_values.hpp"
#include "record/run_work.hpp"

namespace hpcboot::record {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return kUnknownSetting;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Json settings_json(const RunRecord& run) {
  JsonMembers settings;
  for (const auto& [key, value] : run.config.items()) {
    // Where the run and the one that it continues are stored.
    if (key != "runs_dir" && key != "resume") settings[key] = value;
  }
  const auto text = [](const std::optional<std::string>& value) {
    return value && !value->empty() ? Json(*value) : Json();
  };
  settings["layout"] = fmt::format("{}x{}", run.nodes, run.devices_per_node);
  settings["launcher"] = run.launcher;
  settings["scheduler"] = text(run.scheduler);
  settings["site"] = text(run.site);
  settings["device_kind"] = text(device_kind(run));
  settings["device_name"] = text(device_name(run));
  settings["train_samples"] = run.train_samples ? Json(*run.train_samples) : Json();
  for (const auto& [name, version] : run.versions) settings["version of " + name] = version;
  return settings.take();
}

std::map<std::string, std::string> run_settings(const RunRecord& run) {
  std::map<std::string, std::string> settings;
  const Json values = settings_json(run);
  for (const auto& [name, value] : values.items()) settings[name] = text_of(value);
  return settings;
}

}  // namespace hpcboot::record
