#include "record/runtime_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/display_text.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;

Json config_value(const RunRecord& record, const char* key) {
  const auto value = record.config.find(key);
  return value == record.config.end() ? Json() : *value;
}

Json samples(const RunRecord& record) {
  return record.train_samples ? Json(*record.train_samples) : config_value(record, "limit_samples");
}

/// Whether both runs did the same work, so that their runtimes compare.
bool same_work(const RunRecord& a, const RunRecord& b) {
  for (const char* key : {"model", "image_size", "epochs", "precision"}) {
    if (config_value(a, key) != config_value(b, key)) return false;
  }
  return samples(a) == samples(b);
}

std::int64_t device_count(const RunRecord& record) {
  // Under DDP a rank is a device, which also counts nodes of different size right.
  if (record.mode() == "ddp" && !record.ranks.empty()) {
    return static_cast<std::int64_t>(record.ranks.size());
  }
  return std::int64_t{record.nodes} * record.devices_per_node;
}

/// "cuda" of "cuda:3"; empty where unknown.
std::string device_kind(const RunRecord& record) {
  if (record.ranks.empty()) return "";
  const std::string& device = record.ranks.front().device;
  return device.substr(0, device.find(':'));
}

const RunRecord* find_baseline(const RunRecord& run, const std::vector<RunRecord>& candidates) {
  const auto preference = [&run](const RunRecord& candidate) {
    return std::tuple(device_kind(candidate) == device_kind(run), candidate.site == run.site,
                      candidate.started);
  };
  const RunRecord* best = nullptr;
  for (const RunRecord& candidate : candidates) {
    const bool is_single = candidate.mode() == "single" && device_count(candidate) == 1;
    if (!is_single || !candidate.totals.runtime_seconds || !same_work(candidate, run)) continue;
    if (best == nullptr || preference(*best) < preference(candidate)) best = &candidate;
  }
  return best;
}

std::string method_of(const std::string& mode) {
  if (mode == "dp") return "DP";
  if (mode == "ddp") return "DDP";
  return mode;
}

RuntimeRow row_of(const RunRecord& run, const std::vector<RunRecord>& all) {
  RuntimeRow row;
  row.run = run.run;
  row.method = method_of(run.mode());
  const Json model = config_value(run, "model");
  if (model.is_string()) row.model = model.get<std::string>();
  row.nodes = run.nodes;
  row.devices_per_node = run.devices_per_node;
  row.launcher = run.launcher;
  row.site = run.site;
  const Json epochs = config_value(run, "epochs");
  if (epochs.is_number_integer()) row.epochs = epochs.get<std::int64_t>();
  row.runtime_seconds = run.totals.runtime_seconds;
  row.images_per_second = run.totals.images_per_second;
  const RunRecord* baseline = find_baseline(run, all);
  if (baseline != nullptr && row.runtime_seconds.value_or(0.0) > 0.0) {
    row.speedup = *baseline->totals.runtime_seconds / *row.runtime_seconds;
    row.efficiency = *row.speedup / static_cast<double>(device_count(run));
  }
  return row;
}

/// single before DP before DDP, anything else last.
int method_order(const std::string& method) {
  return method == "single" ? 0 : method == "DP" ? 1 : method == "DDP" ? 2 : 3;
}

Error unreadable_place(const fs::path& place, const std::string& reason) {
  return Error(ErrorCode::unreadable_file,
               fmt::format("cannot read '{}': {}", place.string(), reason),
               "a folder of runs, a run folder or a run.json",
               "name the folder that the trainer's --runs-dir wrote to, or run the trainer first");
}

/// The run.json files of a place, also where one is missing from its run folder.
std::vector<fs::path> find_records(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) throw unreadable_place(place, error.message());
  if (!fs::is_directory(status)) return {place};
  const fs::path own = RunFolder(place).run_json();
  if (fs::exists(own, error)) return {own};

  std::vector<fs::path> files;
  fs::directory_iterator folder(place, error);
  for (; !error && folder != fs::directory_iterator(); folder.increment(error)) {
    const bool hidden = folder->path().filename().string().front() == '.';
    std::error_code ignored;
    if (!hidden && folder->is_directory(ignored)) {
      files.push_back(RunFolder(folder->path()).run_json());
    }
  }
  if (error) throw unreadable_place(place, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// Reads a record into `finished`, or tells why it is left out.
std::string take_record(const fs::path& file, std::vector<RunRecord>& finished) {
  try {
    RunRecord record = RunRecord::read(file);
    if (record.exit_reason == kRunning) {
      return fmt::format("'{}': not finished: still running, or killed", file.string());
    }
    if (record.exit_reason != kFinished) {
      return fmt::format("'{}': ended with '{}'", file.string(), record.exit_reason);
    }
    finished.push_back(std::move(record));
    return "";
  } catch (const Error& problem) {
    return fmt::format("{}; expected {}", problem.found(), problem.expected());
  }
}

}  // namespace

std::vector<RuntimeRow> runtime_rows(const std::vector<RunRecord>& finished) {
  std::vector<RuntimeRow> rows;
  rows.reserve(finished.size());
  for (const RunRecord& run : finished) rows.push_back(row_of(run, finished));
  const auto order = [](const RuntimeRow& row) {
    return std::tuple(std::string_view(row.model), std::int64_t{row.nodes} * row.devices_per_node,
                      row.nodes, method_order(row.method), std::string_view(row.run));
  };
  std::sort(rows.begin(), rows.end(),
            [&order](const RuntimeRow& a, const RuntimeRow& b) { return order(a) < order(b); });
  return rows;
}

RuntimeTable read_runtime_table(const std::vector<std::filesystem::path>& places) {
  RuntimeTable table;
  std::vector<RunRecord> finished;
  std::set<fs::path> seen;
  for (const fs::path& place : places) {
    for (const fs::path& file : find_records(place)) {
      std::error_code error;
      if (!seen.insert(fs::weakly_canonical(file, error)).second) continue;
      std::string reason;
      if (fs::exists(file, error)) {
        reason = take_record(file, finished);
      } else {
        reason = fmt::format("'{}': no run.json in it", file.parent_path().string());
      }
      if (!reason.empty()) table.skipped.push_back(printable(reason));
    }
  }
  table.rows = runtime_rows(finished);
  return table;
}

}  // namespace hpcboot::record
