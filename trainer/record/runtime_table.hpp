#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// One finished run in the runtime table.
struct RuntimeRow {
  std::string run;
  std::string method;  ///< single, DP, DDP
  std::string model;   ///< config.model; may be empty
  int nodes = 1;
  int devices_per_node = 1;
  std::string launcher;
  std::optional<std::string> site;
  std::optional<std::int64_t> epochs;
  std::optional<double> runtime_seconds;
  std::optional<double> images_per_second;
  std::optional<double> speedup;        ///< runtime of the baseline / runtime
  std::optional<double> efficiency;     ///< speedup / number of devices
  std::vector<std::string> busy_hosts;  ///< where other programs took a part of the processors

  /// Is the efficiency above 1 by more than runs of equal work differ by? Then the baseline tells
  /// more of its host than of the program: more devices are rarely faster than their number.
  bool is_superlinear() const { return efficiency.value_or(0) > 1 + kNoise; }
  static constexpr double kNoise = 0.05;  ///< a rule of thumb
};

struct RuntimeTable {
  std::vector<RuntimeRow> rows;
  std::vector<std::string> skipped;  ///< one line for each run left out: which, and why
};

/// The rows of these runs, by model, number of devices, nodes, method and name.
///
/// The baseline of a run is the finished run of mode single on one device with equal config.model,
/// config.image_size, config.epochs, config.precision and train_samples (config.limit_samples where
/// that is unknown); a value that neither run has counts as equal. Among several it is one on the
/// same kind of device if there is one, then one of the same site, then the one started last.
/// @param finished records with exit_reason "finished".
std::vector<RuntimeRow> runtime_rows(const std::vector<RunRecord>& finished);

/// Reads the runs in `places`, each a folder of run folders, one run folder or a run.json, and
/// leaves out what is not finished or cannot be read. A run that several places name counts once.
/// @throws Error{unreadable_file} where a place does not exist or cannot be listed.
RuntimeTable read_runtime_table(const std::vector<std::filesystem::path>& places);

}  // namespace hpcboot::record
