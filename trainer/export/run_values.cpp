#include "export/run_values.hpp"

#include <fmt/format.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): strptime

#include <array>
#include <cerrno>
#include <cmath>
#include <map>

#include "core/regular_file.hpp"
#include "hpcboot/error.hpp"
#include "record/csv_reader.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_folder.hpp"
#include "record/run_phases.hpp"

namespace hpcboot::exports {
namespace {

void add(Values& values, const std::string& name, double value) {
  if (std::isfinite(value)) values.emplace_back(name, value);
}

/// The values of epochs, at their last steps.
std::map<std::int64_t, Values> values_of_epochs(const record::RunRecord& run) {
  std::map<std::int64_t, Values> by_step;
  const std::vector<std::int64_t> steps = record::last_steps(run.epochs);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const auto& [name, value] : record::epoch_values(run.epochs[i]))
      add(by_step[steps[i]], "epoch/" + name, value);
  }
  return by_step;
}

}  // namespace

void require_curves(const std::filesystem::path& folder) {
  const std::filesystem::path file = record::RunFolder(folder).metrics_csv();
  const RegularFileStream stream(file);
  const int error = stream.error();
  if (error == 0 || error == ENOENT || error == ENOTDIR) return;
  throw Error(ErrorCode::unreadable_file,
              "'" + file.string() + "' cannot be read: " + stream.reason(),
              "the metrics.csv of a run", "check its permissions");
}

void for_each_step(const std::filesystem::path& folder, const record::RunRecord& run,
                   const std::function<void(const StepValues&)>& take) {
  std::map<std::int64_t, Values> epochs = values_of_epochs(run);
  StepValues now;
  RegularFileStream in(record::RunFolder(folder).metrics_csv());
  for (record::CsvReader reader(in); reader.next();) {
    const auto step = reader.number<std::int64_t>("step");
    if (!step || *step <= now.step) continue;
    // Epochs whose steps are not recorded.
    while (!epochs.empty() && epochs.begin()->first < *step) {
      now.step = epochs.begin()->first;
      now.values = std::move(epochs.begin()->second);
      epochs.erase(epochs.begin());
      take(now);
    }
    now.step = *step;
    now.seconds += std::max(0.0, reader.number<double>("step_seconds").value_or(0));
    now.values.clear();
    for (const record::StepColumn& column : record::kStepColumns) {
      const std::string name(column.name);
      if (const auto value = reader.number<double>(name)) add(now.values, "step/" + name, *value);
    }
    if (const auto bytes = reader.number<double>("bytes_reduced"))
      add(now.values, "step/bytes_reduced", *bytes);
    if (const auto epoch = epochs.find(*step); epoch != epochs.end()) {
      now.values.insert(now.values.end(), epoch->second.begin(), epoch->second.end());
      epochs.erase(epoch);
    }
    take(now);
  }
  for (auto& [step, values] : epochs) {
    now.step = step;
    now.values = std::move(values);
    take(now);
  }
}

Values results_of(const record::RunRecord& run) {
  Values values;
  const Json totals = record::to_json(run).at("totals");
  for (const auto& [name, value] : totals.items()) {
    if (value.is_number()) add(values, "totals/" + name, value.get<double>());
  }
  if (run.epochs.empty()) return values;
  for (const auto& [name, value] : record::epoch_values(run.epochs.back()))
    add(values, "epoch/" + name, value);
  return values;
}

double seconds_since_1970(const std::string& iso8601) {
  std::tm time{};
  if (::strptime(iso8601.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return 0;
  return static_cast<double>(::timegm(&time));
}

std::string id_of(const std::string& text, std::size_t digits) {
  // FNV-1a, twice: equal on every machine, unlike std::hash.
  std::string id;
  for (const std::uint64_t start : {14695981039346656037ULL, 1099511628211ULL}) {
    std::uint64_t hash = start;
    for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 1099511628211ULL;
    id += fmt::format("{:016x}", hash);
  }
  return id.substr(0, digits);
}

std::string file_name_of(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  std::string name;
  for (const char one : text.substr(0, kLongest)) {
    const bool is_plain = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                          (one >= '0' && one <= '9') || one == '_' || one == '-' || one == '.';
    name += is_plain ? one : '_';
  }
  return name.empty() || name.find_first_not_of('.') == std::string::npos ? "_" + name : name;
}

}  // namespace hpcboot::exports
