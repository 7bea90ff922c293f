#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "record/run_record.hpp"

namespace hpcboot::exports {

/// What became of a run that was to be exported.
struct Exported {
  enum class When {
    now,
    before,            ///< by an earlier export: it stays as it is
    before_it_went_on  ///< likewise, but the run has been continued and has ended again since
  };
  When when = When::now;
  std::filesystem::path folder;  ///< of the run in the export; empty if it has none
};

/// Writes runs in the format of another tool.
class Exporter {
 public:
  Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual ~Exporter() = default;

  /// @throws Error{unwritable_output}
  virtual Exported add(const std::filesystem::path& folder, const record::RunRecord& run) = 0;
  /// After the last run. @return text for standard output; empty if everything is in files
  virtual std::string finish() { return {}; }
};

/// @param name of the experiment or project
using MakeExporter = std::unique_ptr<Exporter> (*)(const std::filesystem::path& output,
                                                   const std::string& name);

// The CSV goes to `output` if that is not empty; the others create folders in it.
std::unique_ptr<Exporter> csv_exporter(const std::filesystem::path& output,
                                       const std::string& name);
std::unique_ptr<Exporter> mlflow_exporter(const std::filesystem::path& output,
                                          const std::string& name);
std::unique_ptr<Exporter> wandb_exporter(const std::filesystem::path& output,
                                         const std::string& name);
std::unique_ptr<Exporter> hparams_exporter(const std::filesystem::path& output,
                                           const std::string& name);

}  // namespace hpcboot::exports
