#include "scheduler_job.hpp"

namespace hpcboot::run {

std::unique_ptr<SchedulerJob> job_of(const Surroundings& s) {
  for (const auto make : {slurm_job, pbs_job, grid_engine_job, lsf_job, flux_job}) {
    if (auto job = make(s)) return job;
  }
  return nullptr;
}

}  // namespace hpcboot::run
