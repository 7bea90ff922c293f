#include "record/runtime_table.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;

Json config_value(const RunRecord& record, const char* key) {
  const auto value = record.config.find(key);
  return value == record.config.end() ? Json() : *value;
}

/// Equal for runs that did the same work, so that their runtimes compare.
std::string work_of(const RunRecord& record) {
  const auto text = [](const Json& value) {
    return value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump();
  };
  const Json task = config_value(record, "task");
  // Earlier versions had one task, did not record it, and resized all images.
  const bool is_first = task.is_null() || task == "mnist";
  std::string work =
      is_first ? "" : task.dump() + "\n" + text(config_value(record, "sample")) + "\n";
  for (const char* key : {"model", "image_size", "epochs", "precision"})
    work += text(config_value(record, key)) + "\n";
  return work + (record.train_samples ? std::to_string(*record.train_samples) + ".0"
                                      : text(config_value(record, "limit_samples")));
}

std::int64_t device_count(const RunRecord& record) {
  // Under DDP a rank is a device, which is also correct for nodes of different sizes.
  if (record.mode() == "ddp" && !record.ranks.empty()) {
    return static_cast<std::int64_t>(record.ranks.size());
  }
  return std::int64_t{record.nodes} * record.devices_per_node;
}

/// "cuda" of "cuda:3"; empty if unknown.
std::string device_kind(const RunRecord& record) {
  if (record.ranks.empty()) return "";
  const std::string& device = record.ranks.front().device;
  return device.substr(0, device.find(':'));
}

std::string method_of(const std::string& mode) {
  if (mode == "dp") return "DP";
  if (mode == "ddp") return "DDP";
  return mode;
}

RuntimeRow row_of(const RunRecord& run) {
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
  for (const HostRecord& host : run.hosts) {
    if (host.busy) row.busy_hosts.push_back(host.host);
  }
  return row;
}

/// The baselines for one kind of work, with only the preferred run for each device and site: the
/// time is linear in the number of runs, whatever they are.
class Baselines {
 public:
  void add(const std::string& kind, const std::string& site, const std::string& started,
           double runtime) {
    for (auto* best : {&of_both_[{kind, site}], &of_kind_[kind], &of_site_[site], &any_}) {
      if (!*best || (*best)->started < started) *best = Run{started, runtime};
    }
  }

  /// Of the same kind of device if there is one, then of the same site, then the newest.
  std::optional<double> runtime_for(const std::string& kind, const std::string& site) const {
    if (const auto found = of_both_.find({kind, site}); found != of_both_.end())
      return found->second->runtime;
    if (const auto found = of_kind_.find(kind); found != of_kind_.end())
      return found->second->runtime;
    if (const auto found = of_site_.find(site); found != of_site_.end())
      return found->second->runtime;
    return any_ ? std::optional(any_->runtime) : std::nullopt;
  }

 private:
  struct Run {
    std::string started;
    double runtime = 0;
  };

  std::map<std::pair<std::string, std::string>, std::optional<Run>> of_both_;
  std::map<std::string, std::optional<Run>> of_kind_;
  std::map<std::string, std::optional<Run>> of_site_;
  std::optional<Run> any_;
};

/// What is kept of a run until all are known: a record with a thousand ranks is large.
struct KnownRun {
  RuntimeRow row;
  std::int64_t devices;
  std::size_t work;  ///< number of the kind of work
  std::string kind;
};

/// A key that keeps runs of no site apart from those of any site.
std::string site_key(const std::optional<std::string>& site) {
  return site ? "=" + *site : "";
}

class RowMaker {
 public:
  void add(const RunRecord& run) {
    const auto [work, is_new] = works_.emplace(work_of(run), works_.size());
    if (is_new) baselines_.emplace_back();
    const std::int64_t devices = device_count(run);
    std::string kind = device_kind(run);
    if (run.mode() == "single" && devices == 1 && run.totals.runtime_seconds) {
      baselines_[work->second].add(kind, site_key(run.site), run.started,
                                   *run.totals.runtime_seconds);
    }
    runs_.push_back({row_of(run), devices, work->second, std::move(kind)});
  }

  std::vector<RuntimeRow> rows() {
    std::vector<RuntimeRow> rows;
    rows.reserve(runs_.size());
    for (KnownRun& run : runs_) {
      const auto baseline = baselines_[run.work].runtime_for(run.kind, site_key(run.row.site));
      // A shorter time is below what a clock measures; the quotient would be meaningless.
      constexpr double kShortest = 1e-3;
      if (baseline && run.row.runtime_seconds.value_or(0.0) >= kShortest) {
        run.row.speedup = *baseline / *run.row.runtime_seconds;
        run.row.efficiency = *run.row.speedup / static_cast<double>(run.devices);
      }
      rows.push_back(std::move(run.row));
    }
    runs_.clear();
    sort(rows);
    return rows;
  }

 private:
  static void sort(std::vector<RuntimeRow>& rows);

  std::unordered_map<std::string, std::size_t> works_;
  std::vector<Baselines> baselines_;  // by the number of the work
  std::vector<KnownRun> runs_;
};

/// single before DP before DDP, anything else last.
int method_order(const std::string& method) {
  return method == "single" ? 0 : method == "DP" ? 1 : method == "DDP" ? 2 : 3;
}

Error unreadable_place(const fs::path& place, const std::string& reason) {
  return Error(ErrorCode::unreadable_file,
               fmt::format("cannot read '{}': {}", place.string(), reason),
               "a folder of runs, a run folder or a run.json",
               "name the folder that the trainer wrote to (--runs-dir), or run the trainer first");
}

/// The run.json files of a place, including those missing from their run folders.
std::vector<fs::path> find_records(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) throw unreadable_place(place, error.message());
  if (!fs::is_directory(status)) return {place};
  const fs::path own = RunFolder(place).run_json();
  std::vector<fs::path> files;
  const bool is_run = fs::exists(own, error);
  if (is_run) files.push_back(own);
  fs::directory_iterator folder(place, error);
  for (; !error && folder != fs::directory_iterator(); folder.increment(error)) {
    const bool hidden = folder->path().filename().string().front() == '.';
    std::error_code ignored;
    const fs::path inner = RunFolder(folder->path()).run_json();
    // A run's own subfolders are not runs; but a stray run.json beside runs must not hide them.
    if (!hidden && folder->is_directory(ignored) && (!is_run || fs::exists(inner, ignored))) {
      files.push_back(inner);
    }
  }
  if (error) throw unreadable_place(place, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

void RowMaker::sort(std::vector<RuntimeRow>& rows) {
  const auto order = [](const RuntimeRow& row) {
    return std::tuple(std::string_view(row.model), std::int64_t{row.nodes} * row.devices_per_node,
                      row.nodes, method_order(row.method), std::string_view(row.run));
  };
  std::sort(rows.begin(), rows.end(),
            [&order](const RuntimeRow& a, const RuntimeRow& b) { return order(a) < order(b); });
}

/// Adds a finished run to `rows`, or returns why it is left out, as a sentence.
std::string take_record(const fs::path& file, RowMaker& rows) {
  Json json;
  try {
    json = read_json_file(file);
  } catch (const Error& problem) {
    return problem.found();
  }
  try {
    const RunRecord record = run_record_from_json(json, file.string());
    if (record.exit_reason == kRunning) {
      return fmt::format("'{}' records a run that is not finished: still running, or killed",
                         file.string());
    }
    if (record.exit_reason != kFinished) {
      return fmt::format("'{}' records a run that ended with '{}'", file.string(),
                         record.exit_reason);
    }
    rows.add(record);
    return "";
  } catch (const Error& problem) {
    return fmt::format("{}; expected {}", problem.found(), problem.expected());
  }
}

/// Identifies a file, by whatever path it is named.
using FileKey = std::pair<dev_t, ino_t>;

std::optional<FileKey> key_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return FileKey(status.st_dev, status.st_ino);
}

}  // namespace

std::vector<RuntimeRow> runtime_rows(const std::vector<RunRecord>& finished) {
  RowMaker rows;
  for (const RunRecord& run : finished) rows.add(run);
  return rows.rows();
}

RuntimeTable read_runtime_table(const std::vector<std::filesystem::path>& places) {
  RuntimeTable table;
  RowMaker rows;
  std::set<FileKey> seen;
  for (const fs::path& place : places) {
    for (const fs::path& file : find_records(place)) {
      const auto key = key_of(file);
      if (key && !seen.insert(*key).second) continue;
      std::string reason =
          key ? take_record(file, rows)
              : fmt::format("'{}' contains no run.json", file.parent_path().string());
      if (!reason.empty()) table.skipped.push_back(std::move(reason));
    }
  }
  table.rows = rows.rows();
  return table;
}

}  // namespace hpcboot::record
