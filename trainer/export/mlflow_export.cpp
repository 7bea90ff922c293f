#include <fmt/format.h>

#include <fstream>
#include <map>

#include "export/exporter.hpp"
#include "export/run_values.hpp"
#include "export/written_run.hpp"
#include "hpcboot/encode.hpp"
#include "record/atomic_folder.hpp"
#include "record/output_error.hpp"
#include "record/run_settings.hpp"
#include "text/percent_encode.hpp"

namespace hpcboot::exports {
namespace {

namespace fs = std::filesystem;

constexpr int kFinished = 3;  // RunStatus in mlflow/protos/service.proto

/// Creates a file and the folders above it. @throws Error{unwritable_output}
class NewFile {
 public:
  explicit NewFile(fs::path path) : path_(std::move(path)) {
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
    out_.open(path_, std::ios::binary);
    check();
  }
  NewFile& operator<<(const std::string& text) {
    out_ << text;
    check();
    return *this;
  }
  ~NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  void close() {
    out_.close();
    check();
  }

 private:
  void check() const {
    if (!out_) throw record::output_error("write", path_, errno);
  }
  fs::path path_;
  std::ofstream out_;
};

void write(const fs::path& file, const std::string& text) {
  NewFile out(file);
  out << text;
  out.close();
}

/// `name: value` in YAML.
std::string yaml(const std::string& name, const std::string& value) {
  return name + ": " + yaml_scalar(value) + "\n";
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.0f}", seconds * 1e3);
}

std::string address_of(const fs::path& folder) {
  return "file://" + percent_encoded(fs::absolute(folder).lexically_normal().string(), "/");
}

/// MLflow's FileStore: mlruns/EXPERIMENT/RUN/{meta.yaml,params/,metrics/,tags/}
/// (mlflow/store/tracking/file_store.py). Its artifacts are the run's own folder.
class MlflowExporter : public Exporter {
 public:
  MlflowExporter(const fs::path& root, const std::string& name)
      : id_(std::to_string(std::stoull(id_of("experiment " + name, 15), nullptr, 16))),
        experiment_(root / id_),
        name_(name) {}

  Exported add(const fs::path& folder, const record::RunRecord& run) override {
    const auto [id, place, before] = places_.place_of(
        folder, run, 32, [&](const std::string& one) { return experiment_ / one; });
    if (before) return *before;
    ensure_experiment();
    const record::WriterLock alone(place);
    const fs::path written = record::begin_folder(place);
    write_meta(written, folder, run, id);
    for (const auto& [setting, value] : record::run_settings(run)) {
      if (value != record::kUnknownSetting)
        write(written / "params" / file_name_of(setting), value);
    }
    write_metrics(written, folder, run);
    // MLflow takes a folder for a run only with this one, though the artifacts are elsewhere.
    std::error_code error;
    if (!fs::create_directories(written / "artifacts", error))
      throw record::output_error("create", written / "artifacts", error.value());
    write(written / "tags" / "mlflow.runName", run.run);
    write(written / "tags" / "mlflow.source.name", "hpcboot trainer");
    write(written / "tags" / "mlflow.source.type", "JOB");
    if (run.job_id) write(written / "tags" / "job_id", *run.job_id);
    note_end(written, run);
    record::complete_folder(written, place);
    return {Exported::When::now, place};
  }

 private:
  void ensure_experiment() const {
    const fs::path file = experiment_ / "meta.yaml";
    std::error_code ignored;
    if (fs::exists(file, ignored)) return;
    write(file, yaml("artifact_location", address_of(experiment_)) + "creation_time: 0\n" +
                    yaml("experiment_id", id_) + "last_update_time: 0\nlifecycle_stage: active\n" +
                    yaml("name", name_));
  }

  void write_meta(const fs::path& written, const fs::path& folder, const record::RunRecord& run,
                  const std::string& id) const {
    write(written / "meta.yaml",
          yaml("artifact_uri", address_of(folder)) +
              "end_time: " + milliseconds(seconds_since_1970(run.finished.value_or(run.started))) +
              "\nentry_point_name: ''\n" + yaml("experiment_id", id_) +
              "lifecycle_stage: active\n" + yaml("run_id", id) + yaml("run_name", run.run) +
              yaml("run_uuid", id) + "source_name: ''\nsource_type: 4\nsource_version: ''\n" +
              "start_time: " + milliseconds(seconds_since_1970(run.started)) +
              fmt::format("\nstatus: {}\ntags: []\n", kFinished) + "user_id: ''\n");
  }

  /// A file for each curve, with lines `TIME VALUE STEP`.
  static void write_metrics(const fs::path& written, const fs::path& folder,
                            const record::RunRecord& run) {
    std::map<std::string, NewFile> files;
    const auto file_of = [&](const std::string& name) -> NewFile& {
      const auto found = files.find(name);
      if (found != files.end()) return found->second;
      // A slash in a name is a folder, as in MLflow.
      const std::size_t slash = name.find('/');
      const fs::path file = written / "metrics" / file_name_of(name.substr(0, slash)) /
                            file_name_of(name.substr(slash + 1));
      return files.try_emplace(name, file).first->second;
    };
    const double start = seconds_since_1970(run.started);
    for_each_step(folder, run, [&](const StepValues& step) {
      for (const auto& [name, value] : step.values)
        file_of(name) << fmt::format("{} {} {}\n", milliseconds(start + step.seconds), value,
                                     step.step);
    });
    const double end = seconds_since_1970(run.finished.value_or(run.started));
    for (const auto& [name, value] : results_of(run)) {
      if (name.compare(0, 7, "totals/") == 0)
        file_of(name) << fmt::format("{} {} 0\n", milliseconds(end), value);
    }
    for (auto& [name, file] : files) file.close();
  }

  std::string id_;
  fs::path experiment_;
  std::string name_;
  Places places_;
};

}  // namespace

std::unique_ptr<Exporter> mlflow_exporter(const fs::path& output, const std::string& name) {
  return std::make_unique<MlflowExporter>(output, name);
}

}  // namespace hpcboot::exports
