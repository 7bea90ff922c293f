#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "control.hpp"
#include "hpcboot/env.hpp"
#include "jobs/run/stage/stage.hpp"
#include "rank_parent.hpp"

namespace hpcboot::run {

// What a rank that an MPI launcher has started waits for before its program.
struct RankStaging {
  std::string source;
  std::string launch_id;
  std::string host;
  int world_size = 1;
  std::chrono::seconds timeout{60};  // for all ranks to come; the copy takes what it takes
  ControlLink* control = nullptr;    // null: the other ranks are not waited for
  Terminal* err = nullptr;
};

// Somebody has asked for the end before the program was started.
struct ToldToEnd {
  int signal = 0;
};

// Until the copy is there, on the hosts of all ranks. Signals that do not ask for the end are left
// to the program.
// @param stage is set before anything is copied, and outlives the program
// @return the path of the copy. @throws Error; ToldToEnd
std::string stage_for_rank(const RankStaging& order, const Env& env, const RankWatch& watch,
                           std::unique_ptr<Stage>& stage);

}  // namespace hpcboot::run
