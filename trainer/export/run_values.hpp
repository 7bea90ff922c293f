#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/run_record.hpp"

namespace hpcboot::exports {

using Values = std::vector<std::pair<std::string, double>>;

/// Numbers at a step of a run, finite ones.
struct StepValues {
  std::int64_t step = 0;  ///< from 1
  double seconds = 0;     ///< since the start of the run, by the times of the steps
  Values values;          ///< "step/loss", …; at the end of an epoch also "epoch/train_loss", …
};

/// @throws Error{unreadable_file} if the run has a metrics.csv that cannot be read
void require_curves(const std::filesystem::path& folder);

/// The curves of a run under the names that TensorBoard shows, by step. Without a metrics.csv, only
/// those of the epochs.
void for_each_step(const std::filesystem::path& folder, const record::RunRecord& run,
                   const std::function<void(const StepValues&)>& take);

/// What the run resulted in: its totals, and the values of its last epoch.
Values results_of(const record::RunRecord& run);

/// Seconds since 1970 of a time in a record; 0 if it is none.
double seconds_since_1970(const std::string& iso8601);

/// Hexadecimal digits that only this text has, on every machine.
/// @param digits at most 32
std::string id_of(const std::string& text, std::size_t digits);

/// A text as the name of a file, without parts that lead elsewhere.
std::string file_name_of(const std::string& text);

}  // namespace hpcboot::exports
