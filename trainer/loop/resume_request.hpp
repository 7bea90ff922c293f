#pragma once

#include <optional>
#include <string>

#include "loop/train_options.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::train {

/// What --resume asks for.
struct ResumeRequest {
  std::optional<record::RunFolder> run;  ///< none: whichever run of these options is the newest
  std::string checkpoint{};              ///< the name of a file in it; empty: the newest one
};

/// Reads `resume`, which is not empty: auto, best, a run folder or a checkpoint in one, by its path
/// or by the one below the runs folder.
/// @throws Error{unreadable_file} if there is no such run
ResumeRequest request_of(const TrainOptions& options);

}  // namespace hpcboot::train
