#include "record/run_settings.hpp"

#include <fmt/format.h>

#include "record/run_work.hpp"

namespace hpcboot::record {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return kUnknownSetting;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::map<std::string, std::string> run_settings(const RunRecord& run) {
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : run.config.items()) {
    // Where the run and the one that it continues are stored.
    if (key != "runs_dir" && key != "resume") settings[key] = text_of(value);
  }
  settings["layout"] = fmt::format("{}x{}", run.nodes, run.devices_per_node);
  settings["launcher"] = run.launcher;
  settings["scheduler"] = run.scheduler.value_or(kUnknownSetting);
  settings["site"] = run.site.value_or(kUnknownSetting);
  settings["device_kind"] = device_kind(run);
  settings["train_samples"] =
      run.train_samples ? std::to_string(*run.train_samples) : kUnknownSetting;
  for (const auto& [name, version] : run.versions) settings["version of " + name] = version;
  return settings;
}

}  // namespace hpcboot::record
