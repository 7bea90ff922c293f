#pragma once

#include "core/variable_kinds.hpp"
#include "hpcboot/scheduler.hpp"

// Every scheduler that this library knows: one file each in this folder. Their order is a table in
// allocation.cpp.
namespace hpcboot {

extern const Scheduler kFluxScheduler;
extern const Scheduler kPbsScheduler;
extern const Scheduler kSlurmScheduler;
extern const Scheduler kLsfScheduler;
extern const Scheduler kCobaltScheduler;
extern const Scheduler kSgeScheduler;

// Puts another table in the place of schedulers(); for add_launchers() alone.
void set_schedulers(std::vector<const Scheduler*> all);

}  // namespace hpcboot
