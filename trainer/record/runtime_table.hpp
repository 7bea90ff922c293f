#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::record {

/// One finished run in the runtime table.
struct RuntimeRow {
  std::string run;
  std::filesystem::path folder{};  ///< where it is recorded, if that is known
  std::string method;              ///< single, DP, DDP
  std::string model;               ///< config.model; may be empty
  int nodes = 1;
  int devices_per_node = 1;
  std::string launcher;
  std::optional<std::string> site;
  std::optional<std::int64_t> epochs;
  std::optional<double> runtime_seconds;
  std::optional<double> images_per_second;
  std::optional<double> speedup;        ///< runtime of the baseline / runtime
  std::optional<double> efficiency;     ///< speedup / number of devices
  std::vector<std::string> busy_hosts;  ///< hosts that other programs kept busy
  std::string sample = "image";         ///< sample_of()
  bool has_changed_devices = false;     ///< resumed on another number: neither has a speed-up

  /// Whether the efficiency exceeds 1 by more than runs of equal work differ. If so, the baseline
  /// says more about its host than about the program: a speed-up rarely exceeds the number of
  /// devices.
  bool is_superlinear() const { return efficiency.value_or(0) > 1 + kNoise; }
  static constexpr double kNoise = 0.05;  ///< a rule of thumb
};

struct RuntimeTable {
  std::vector<RuntimeRow> rows;
  std::vector<std::string> skipped;  ///< one line per run that was left out: which, and why
};

/// Makes the rows of finished runs, without keeping their records: one with a thousand ranks is
/// large.
///
/// The baseline of a run is the finished run of mode single on one device with equal config.model,
/// config.image_size, config.epochs, config.precision and train_samples (config.limit_samples if
/// that is unknown); a value that neither run has counts as equal. If there is none, it is such a
/// run of mode ddp, as of a study with --zero. Of several, one on the same GPU by name is
/// preferred, then one on the same kind of device, then one of the same site, then the one started
/// last.
class RuntimeRows {
 public:
  RuntimeRows();
  ~RuntimeRows();
  RuntimeRows(const RuntimeRows&) = delete;
  RuntimeRows& operator=(const RuntimeRows&) = delete;

  /// @param run with exit_reason "finished"
  void add(const RunRecord& run, const std::filesystem::path& folder = {});
  /// The rows of all runs added, by model, number of devices, nodes, method and name. Called once.
  std::vector<RuntimeRow> rows();

 private:
  class Maker;
  std::unique_ptr<Maker> maker_;
};

/// The rows of these runs. @param finished records with exit_reason "finished".
std::vector<RuntimeRow> runtime_rows(const std::vector<RunRecord>& finished);

/// Reads the runs in `places`, each a folder of run folders, one run folder or a run.json, and
/// leaves out runs that are not finished or cannot be read. A run that several places contain
/// counts once.
/// @throws Error{unreadable_file} if a place does not exist or cannot be listed.
RuntimeTable read_runtime_table(const std::vector<std::filesystem::path>& places);

}  // namespace hpcboot::record
