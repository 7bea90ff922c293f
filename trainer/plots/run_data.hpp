#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::plots {

/// What plots need of a run, without its ranks.
struct RunData {
  std::filesystem::path folder;
  std::string run;       ///< name of the folder
  std::string started;   ///< ISO 8601
  std::string training;  ///< record::training_of()
  std::string work;      ///< record::work_of()
  std::string about;     ///< "resnet50, 128 px, fp32, 5 epochs"
  std::string method;    ///< single, DP, DDP
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t devices = 1;
  std::string device_kind;  ///< "cpu", "NVIDIA H200"; "cuda" in older records
  std::string site;         ///< empty if the run has none
  /// What else affects the result, by name: learning rate, batch size, …; not the seed.
  std::map<std::string, std::string> settings;
  std::optional<std::int64_t> samples;  ///< for training
  std::string sample;                   ///< "image", "sequence"
  std::optional<double> runtime_seconds;
  std::optional<double> images_per_second;
  std::vector<record::EpochRecord> epochs;
};

/// @param folder of the run
RunData data_of(const std::filesystem::path& folder, const record::RunRecord& run);

/// "DDP 2x4": method, nodes and devices of each.
std::string layout_of(const RunData& run);

/// "6 runs of 2026-11-20 to 2026-11-28 in runs".
std::string source_of(const std::vector<RunData>& runs);

/// For titles: what the runs train, or how many trainings there are.
std::string common_about(const std::vector<RunData>& runs);

}  // namespace hpcboot::plots
