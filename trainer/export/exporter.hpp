#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "record/run_record.hpp"

namespace hpcboot::exports {

/// Writes runs in the format of another tool.
class Exporter {
 public:
  Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  virtual ~Exporter() = default;

  /// @return whether the run has been added; false if an earlier export has: it stays as it is
  /// @throws Error{unwritable_output}
  virtual bool add(const std::filesystem::path& folder, const record::RunRecord& run) = 0;
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
