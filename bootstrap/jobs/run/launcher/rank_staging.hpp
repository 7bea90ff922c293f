#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "control.hpp"
#include "hpcboot/env.hpp"
#include "jobs/run/stage/stage.hpp"
#include "rank_parent.hpp"

namespace hpcboot::run {

// What a rank that an MPI launcher has started waits for before it starts its program.
struct RankStaging {
  std::string source;
  std::string launch_id;
  std::string host;
  int world_size = 1;
  std::chrono::seconds timeout{60};  // for all ranks to start; the copy has no limit
  ControlLink* control = nullptr;    // null: the other ranks are not waited for
  Terminal* err = nullptr;
};

// The end was requested before the program started.
struct ToldToEnd {
  int signal = 0;
};

// Waits until the copy is complete on the hosts of all ranks. Signals that do not request the end
// are kept for the program.
// @param stage is set before anything is copied, and outlives the program
// @return the path of the copy. @throws Error; ToldToEnd
std::string stage_for_rank(const RankStaging& order, const Env& env, const RankWatch& watch,
                           std::unique_ptr<Stage>& stage);

}  // namespace hpcboot::run
