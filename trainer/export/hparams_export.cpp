#include "export/exporter.hpp"
#include "export/run_values.hpp"
#include "export/written_run.hpp"
#include "record/atomic_folder.hpp"
#include "record/disk_sync.hpp"
#include "record/run_phases.hpp"
#include "record/run_settings.hpp"
#include "record/tensorboard.hpp"

namespace hpcboot::exports {
namespace {

namespace fs = std::filesystem;

/// A folder for each run, with its settings and the values of its epochs.
class HparamsExporter : public Exporter {
 public:
  explicit HparamsExporter(fs::path root) : root_(std::move(root)) {}

  Exported add(const fs::path& folder, const record::RunRecord& run) override {
    const auto [id, place, before] = places_.place_of(folder, run, 8, [&](const std::string& one) {
      return root_ / (file_name_of(run.run) + "-" + one);
    });
    if (before) return *before;
    record::make_folders(root_);
    const record::WriterLock alone(place);
    const fs::path written = record::begin_folder(place);
    {
      record::TensorboardEvents events(written);
      events.add_config(record::settings_json(run), seconds_since_1970(run.started));
      const std::vector<std::int64_t> steps = record::last_steps(run.epochs);
      for (std::size_t i = 0; i < steps.size(); ++i) events.add(run.epochs[i], steps[i]);
      const std::int64_t step = steps.empty() ? 0 : steps.back();
      for (const auto& [name, value] : results_of(run)) {
        if (name.compare(0, 7, "totals/") == 0) events.add_scalar(name, step, value);
      }
      events.add_end(true);
    }
    note_end(written, run);
    record::complete_folder(written, place);
    return {Exported::When::now, place};
  }

 private:
  fs::path root_;
  Places places_;
};

}  // namespace

std::unique_ptr<Exporter> hparams_exporter(const fs::path& output, const std::string& /*name*/) {
  return std::make_unique<HparamsExporter>(output);
}

}  // namespace hpcboot::exports
