#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop/communicator.hpp"
#include "loop/resume.hpp"

namespace hpcboot::train {

/// What every rank knows about the start of a run: only rank 0 reads the run folder, which may not
/// be visible on other hosts.
struct SharedResume {
  std::optional<ResumePoint> point;    ///< of rank 0; without tensors, which are below
  std::optional<TrainingState> state;  ///< empty for a new run
  std::vector<NamedTensor> tensors;    ///< as CPU tensors
  bool is_sharded = false;             ///< `file` is a folder, from which each rank reads them
  std::string file;                    ///< the checkpoint's path
  std::vector<std::string> notes;      ///< of rank 0
};

/// Carries out --resume, which may be unset. If the run goes back, the checkpoints after the point
/// are removed. Collective: an error on rank 0 is thrown on every rank.
/// @throws as find_resume_point(); Error{peer_lost, deadline_exceeded}
SharedResume resume_together(const TrainOptions& options, const Configuration& own,
                             const record::LockHolder& self, Communicator& communicator);

}  // namespace hpcboot::train
