#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "export/exporter.hpp"
#include "export/run_values.hpp"
#include "export/wandb_log.hpp"
#include "export/written_run.hpp"
#include "hpcboot/facts.hpp"
#include "record/atomic_file.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/run_settings.hpp"

namespace hpcboot::exports {
namespace {

namespace fs = std::filesystem;
using Tag = protozero::pbf_tag_type;

// Field numbers of wandb/proto/wandb_internal.proto, which no later version may change.
namespace record_of {
constexpr Tag kNumber = 1;
constexpr Tag kHistory = 2;
constexpr Tag kSummary = 3;
constexpr Tag kRun = 17;
constexpr Tag kExit = 18;
constexpr Tag kFinal = 20;
constexpr Tag kHeader = 21;
}  // namespace record_of
namespace run_of {
constexpr Tag kId = 1;
constexpr Tag kProject = 3;
constexpr Tag kConfig = 4;
constexpr Tag kDisplayName = 8;
constexpr Tag kHost = 13;
constexpr Tag kStartTime = 17;
}  // namespace run_of
constexpr Tag kVersionInfo = 1;  // of the header
constexpr Tag kProducer = 1;     // of the version info
constexpr Tag kMinConsumer = 2;  // of the version info
constexpr Tag kUpdate = 1;       // of config and summary
constexpr Tag kItem = 1;         // of a history record
constexpr Tag kKey = 1;          // of an item
constexpr Tag kValueJson = 16;   // of an item
constexpr Tag kStep = 2;         // of a history record
constexpr Tag kStepNumber = 1;
constexpr Tag kExitCode = 1;
constexpr Tag kRuntime = 2;  // of an exit
constexpr Tag kSeconds = 1;  // of a time

std::string number_text(double value) {
  return Json(value).dump();
}

void add_item(protozero::pbf_writer& list, Tag tag, const std::string& key,
              const std::string& json) {
  protozero::pbf_writer item(list, tag);
  item.add_string(kKey, key);
  item.add_string(kValueJson, json);
}

/// The records of a run, numbered from 1.
class RunLog {
 public:
  /// @param fill adds to the record of this tag
  template <typename Fill>
  void append(Tag tag, const Fill& fill) {
    std::string bytes;
    protozero::pbf_writer record(bytes);
    record.add_int64(record_of::kNumber, ++number_);
    std::string content;  // an empty message within another would be left out
    protozero::pbf_writer inner(content);
    fill(inner);
    record.add_message(tag, content);
    log_.append(bytes);
  }
  const std::string& bytes() const { return log_.bytes(); }

 private:
  WandbLog log_;
  std::int64_t number_ = 0;
};

/// `wandb/offline-run-TIME-ID/run-ID.wandb`, as `wandb.init(mode="offline")` leaves it.
class WandbExporter : public Exporter {
 public:
  WandbExporter(fs::path root, std::string project)
      : root_(std::move(root)), project_(std::move(project)) {}

  Exported add(const fs::path& folder, const record::RunRecord& run) override {
    std::string time = file_name_of(run.started);
    for (const char mark : {'-', 'T', '_', 'Z'}) {
      time.erase(std::remove(time.begin(), time.end(), mark), time.end());
    }
    if (time.size() > 8) time.insert(8, "_");
    const auto [id, place, before] = places_.place_of(folder, run, 8, [&](const std::string& one) {
      return root_ / fmt::format("offline-run-{}-{}", time, one);
    });
    if (before) return *before;
    record::make_folders(root_);
    const record::WriterLock alone(place);
    const fs::path written = record::begin_folder(place);
    record::write_file_atomically(written / fmt::format("run-{}.wandb", id),
                                  log_of(folder, run, id));
    note_end(written, run);
    record::complete_folder(written, place);
    return {Exported::When::now, place};
  }

 private:
  std::string log_of(const fs::path& folder, const record::RunRecord& run,
                     const std::string& id) const {
    RunLog log;
    log.append(record_of::kHeader, [](protozero::pbf_writer& header) {
      protozero::pbf_writer version(header, kVersionInfo);
      version.add_string(kProducer, "0.16.0");
      version.add_string(kMinConsumer, "0.12.0");
    });
    const double start = seconds_since_1970(run.started);
    log.append(record_of::kRun, [&](protozero::pbf_writer& out) { add_run(out, run, id, start); });
    for_each_step(folder, run, [&](const StepValues& step) {
      log.append(record_of::kHistory,
                 [&](protozero::pbf_writer& out) { add_history(out, step, start); });
    });
    log.append(record_of::kSummary, [&](protozero::pbf_writer& out) {
      for (const auto& [name, value] : results_of(run))
        add_item(out, kUpdate, name, number_text(value));
    });
    log.append(record_of::kExit, [&](protozero::pbf_writer& out) {
      out.add_int32(kExitCode, 0);
      out.add_int32(kRuntime, static_cast<std::int32_t>(run.totals.runtime_seconds.value_or(0)));
    });
    log.append(record_of::kFinal, [](protozero::pbf_writer&) {});
    return log.bytes();
  }

  void add_run(protozero::pbf_writer& out, const record::RunRecord& run, const std::string& id,
               double start) const {
    out.add_string(run_of::kId, id);
    out.add_string(run_of::kProject, project_);
    {
      protozero::pbf_writer config(out, run_of::kConfig);
      const Json settings = record::settings_json(run);
      for (const auto& [name, value] : settings.items())
        add_item(config, kUpdate, name, value.dump());
    }
    out.add_string(run_of::kDisplayName, run.run);
    if (!run.ranks.empty()) out.add_string(run_of::kHost, run.ranks.front().host);
    protozero::pbf_writer time(out, run_of::kStartTime);
    time.add_int64(kSeconds, static_cast<std::int64_t>(start));
  }

  static void add_history(protozero::pbf_writer& out, const StepValues& step, double start) {
    for (const auto& [name, value] : step.values) add_item(out, kItem, name, number_text(value));
    add_item(out, kItem, "_step", std::to_string(step.step));
    add_item(out, kItem, "_runtime", number_text(step.seconds));
    add_item(out, kItem, "_timestamp", number_text(start + step.seconds));
    protozero::pbf_writer number(out, kStep);
    number.add_int64(kStepNumber, step.step);
  }

  fs::path root_;
  std::string project_;
  Places places_;
};

}  // namespace

std::unique_ptr<Exporter> wandb_exporter(const fs::path& output, const std::string& name) {
  return std::make_unique<WandbExporter>(output, name);
}

}  // namespace hpcboot::exports
