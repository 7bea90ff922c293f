#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "submitted_jobs.hpp"

namespace hpcboot::queue {

/// The state of a job that the scheduler no longer knows: it has ended, but how it ended cannot be
/// determined.
constexpr const char* kForgotten = "forgotten";

/// A job as reported by the scheduler, with what hpcboot recorded about it.
struct KnownJob {
  QueuedJob job;
  std::optional<SubmittedJob> submitted;  ///< if submitted by hpcboot
};

/// The scheduler's jobs, and those that hpcboot has submitted since `since`: running jobs first,
/// then waiting, then ended jobs, latest first. Records how jobs ended.
/// @param queue null: the recorded jobs of all schedulers
std::vector<KnownJob> known_jobs(const Queue* queue, const SubmittedJobs& memory, WallTime since);

/// One of them; nullopt if it is unknown. @param id empty: the latest job that hpcboot submitted
std::optional<KnownJob> known_job(const std::string& id, const Queue* queue,
                                  const SubmittedJobs& memory);

/// The run folders in the job's runs folder, or in the job's own folder there, whose records name
/// the job, latest first.
std::vector<std::string> run_folders_of(const SubmittedJob& job);

}  // namespace hpcboot::queue
