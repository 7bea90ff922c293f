#include "record/runtime_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "record/read_runs.hpp"
#include "record/run_work.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;

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
  row.sample = sample_of(run);
  row.has_changed_devices = has_changed_devices(run);
  for (const HostRecord& host : run.hosts) {
    if (host.busy) row.busy_hosts.push_back(host.host);
  }
  return row;
}

struct Device {
  std::string kind;
  std::string name;  ///< empty if unknown
};

/// The baselines for one kind of work, with only the preferred run for each device and site: the
/// time is linear in the number of runs, whatever they are.
class Baselines {
 public:
  void add(const Device& device, const std::string& site, const std::string& started,
           double runtime) {
    const auto note = [&](std::optional<Run>& best) {
      if (!best || best->started < started) best = Run{started, runtime};
    };
    for (const std::string& key : keys_of(device)) {
      note(of_both_[{key, site}]);
      note(of_device_[key]);
    }
    note(of_site_[site]);
    note(any_);
  }

  /// Of the same device if there is one, then of its kind, then of the same site, then the newest.
  std::optional<double> runtime_for(const Device& device, const std::string& site) const {
    for (const std::string& key : keys_of(device)) {
      if (const auto found = of_both_.find({key, site}); found != of_both_.end())
        return found->second->runtime;
      if (const auto found = of_device_.find(key); found != of_device_.end())
        return found->second->runtime;
    }
    if (const auto found = of_site_.find(site); found != of_site_.end())
      return found->second->runtime;
    return any_ ? std::optional(any_->runtime) : std::nullopt;
  }

 private:
  struct Run {
    std::string started;
    double runtime = 0;
  };

  /// By its name, if that is known, and by its kind.
  static std::vector<std::string> keys_of(const Device& device) {
    if (device.name.empty()) return {device.kind};
    return {device.kind + "\n" + device.name, device.kind};
  }

  std::map<std::pair<std::string, std::string>, std::optional<Run>> of_both_;
  std::map<std::string, std::optional<Run>> of_device_;
  std::map<std::string, std::optional<Run>> of_site_;
  std::optional<Run> any_;
};

/// What is kept of a run until all are known: a record with a thousand ranks is large.
struct KnownRun {
  RuntimeRow row;
  std::int64_t devices;
  std::size_t work;  ///< number of the kind of work
  Device device;
};

/// A key that keeps runs of no site apart from those of any site.
std::string site_key(const std::optional<std::string>& site) {
  return site ? "=" + *site : "";
}

/// single before DP before DDP, anything else last.
int method_order(const std::string& method) {
  return method == "single" ? 0 : method == "DP" ? 1 : method == "DDP" ? 2 : 3;
}

}  // namespace

class RuntimeRows::Maker {
 public:
  void add(const RunRecord& run, const fs::path& folder) {
    const auto [work, is_new] = works_.emplace(work_of(run), works_.size());
    if (is_new) {
      baselines_.emplace_back();
      of_ddp_.emplace_back();
    }
    const std::int64_t devices = device_count(run);
    Device device{device_kind(run), device_name(run)};
    const bool is_ddp = run.mode() == "ddp";
    if ((is_ddp || run.mode() == "single") && devices == 1 && run.totals.runtime_seconds &&
        !has_changed_devices(run)) {
      (is_ddp ? of_ddp_ : baselines_)[work->second].add(device, site_key(run.site), run.started,
                                                        *run.totals.runtime_seconds);
    }
    runs_.push_back({row_of(run), devices, work->second, std::move(device)});
    runs_.back().row.folder = folder;
  }

  std::vector<RuntimeRow> rows() {
    std::vector<RuntimeRow> rows;
    rows.reserve(runs_.size());
    for (KnownRun& run : runs_) {
      const std::string site = site_key(run.row.site);
      auto baseline = baselines_[run.work].runtime_for(run.device, site);
      if (!baseline) baseline = of_ddp_[run.work].runtime_for(run.device, site);
      if (baseline && !run.row.has_changed_devices &&
          run.row.runtime_seconds.value_or(0.0) >= kShortestRuntime) {
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
  std::vector<Baselines> of_ddp_;     // in their place if there are none: one rank of a study
  std::vector<KnownRun> runs_;
};

void RuntimeRows::Maker::sort(std::vector<RuntimeRow>& rows) {
  const auto order = [](const RuntimeRow& row) {
    return std::tuple(std::string_view(row.model), std::int64_t{row.nodes} * row.devices_per_node,
                      row.nodes, method_order(row.method), std::string_view(row.run));
  };
  std::sort(rows.begin(), rows.end(),
            [&order](const RuntimeRow& a, const RuntimeRow& b) { return order(a) < order(b); });
}

RuntimeRows::RuntimeRows() : maker_(std::make_unique<Maker>()) {}
RuntimeRows::~RuntimeRows() = default;
void RuntimeRows::add(const RunRecord& run, const fs::path& folder) {
  maker_->add(run, folder);
}
std::vector<RuntimeRow> RuntimeRows::rows() {
  return maker_->rows();
}

std::vector<RuntimeRow> runtime_rows(const std::vector<RunRecord>& finished) {
  RuntimeRows rows;
  for (const RunRecord& run : finished) rows.add(run);
  return rows.rows();
}

RuntimeTable read_runtime_table(const std::vector<std::filesystem::path>& places) {
  RuntimeTable table;
  RuntimeRows rows;
  table.skipped =
      read_runs(places, Runs::finished, [&](const fs::path& /*folder*/, const RunRecord& run) {
        rows.add(run);
      }).lines;
  table.rows = rows.rows();
  return table;
}

}  // namespace hpcboot::record
