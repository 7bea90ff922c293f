#pragma once

#include "control.hpp"
#include "jobs/run/plan/plan.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/ranks/run_end.hpp"
#include "silence_of_ranks.hpp"
#include "text/terminal.hpp"

namespace hpcboot::run {

// Determines why the launcher ended from the reports of the ranks' parents, and prints it.
// @param end of the launcher, which has been reaped
// @param heard what `run` recorded before; returned with the exit code and the lost host
// @throws Error{deadline_exceeded} if the ranks were silent for too long
RunEnd end_of_launcher(const Plan& plan, Control& control, const ChildEnd& end, RunEnd heard,
                       const SilenceOfRanks& silence, Terminal& err);

}  // namespace hpcboot::run
