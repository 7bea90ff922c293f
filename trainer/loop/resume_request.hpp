#pragma once

#include <optional>
#include <string>

#include "loop/train_options.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::train {

/// What --resume requests.
struct ResumeRequest {
  std::optional<record::RunFolder> run;  ///< none: the newest run with these options
  std::string checkpoint{};              ///< the name of a file in it; empty: the newest one
};

/// Reads `resume`, which must not be empty: auto, best, a run folder, or a checkpoint in one; the
/// path may be relative to the runs folder.
/// @throws Error{unreadable_file} if there is no such run
ResumeRequest request_of(const TrainOptions& options);

}  // namespace hpcboot::train
