#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop/communicator.hpp"
#include "loop/resume.hpp"

namespace hpcboot::train {

/// What every rank knows of the start of a run: rank 0 alone reads the run folder, which other
/// hosts may not see.
struct SharedResume {
  std::optional<ResumePoint> point;    ///< of rank 0; without tensors, which are below
  std::optional<TrainingState> state;  ///< nothing where a new run begins
  std::vector<NamedTensor> tensors;    ///< as CPU tensors
  std::string file;                    ///< the checkpoint's path
  std::vector<std::string> notes;      ///< of rank 0
};

/// Does what --resume says, which may be nothing. Where the run goes back, the checkpoints after
/// the point are removed. Collective: what goes wrong on rank 0 is thrown on every rank.
/// @throws as find_resume_point(); Error{peer_lost, deadline_exceeded}
SharedResume resume_together(const TrainOptions& options, const Json& identity,
                             const record::LockHolder& self, Communicator& communicator);

}  // namespace hpcboot::train
