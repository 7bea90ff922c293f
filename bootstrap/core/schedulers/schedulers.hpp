#pragma once

#include "core/variable_kinds.hpp"
#include "hpcboot/scheduler.hpp"

// Every scheduler that this library knows, one file each in this folder. A table in allocation.cpp
// sets their order.
namespace hpcboot {

extern const Scheduler kFluxScheduler;
extern const Scheduler kPbsScheduler;
extern const Scheduler kSlurmScheduler;
extern const Scheduler kLsfScheduler;
extern const Scheduler kCobaltScheduler;
extern const Scheduler kSgeScheduler;

// Replaces the table of schedulers(); only for add_launchers().
void set_schedulers(std::vector<const Scheduler*> all);

}  // namespace hpcboot
