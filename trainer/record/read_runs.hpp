#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "record/run_record.hpp"

namespace hpcboot::record {

/// Which runs are meant.
enum class Runs {
  finished,
  all,  ///< also those that failed, were stopped, or are in progress
};

/// Runs that are not meant, or cannot be read.
struct SkippedRuns {
  std::vector<std::string> lines;          ///< of each: which, and why
  std::optional<ErrorCode> first_problem;  ///< why the first that cannot be read cannot
};

/// Reads the runs in `places`, each a folder of run folders, one run folder or a run.json,
/// one after the other: a record with a thousand ranks is large. A folder of run folders may
/// contain more of its kind, such as that of a comparison, which do not. A run that several places
/// contain counts once.
/// @param take receives a run and its folder
/// @throws Error{unreadable_file} if a place does not exist or cannot be listed.
SkippedRuns read_runs(
    const std::vector<std::filesystem::path>& places, Runs which,
    const std::function<void(const std::filesystem::path& folder, const RunRecord& run)>& take);

}  // namespace hpcboot::record
