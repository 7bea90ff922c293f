#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "submitted_jobs.hpp"

namespace hpcboot::queue {

/// The state of a job that the scheduler does not know any more: it has ended, and how nobody can
/// tell.
constexpr const char* kForgotten = "forgotten";

/// A job as the scheduler tells of it, and what is remembered of it.
struct KnownJob {
  QueuedJob job;
  std::optional<SubmittedJob> submitted;  ///< by hpcboot
};

/// What the scheduler tells, and what hpcboot has submitted since `since`: first those that run,
/// then those that wait, then those that ended, the latest first. How a job ended is remembered.
/// @param queue null: of all schedulers what is remembered
std::vector<KnownJob> known_jobs(const Queue* queue, const SubmittedJobs& memory, WallTime since);

/// One of them; nullopt if nobody knows it. @param id empty: the latest that hpcboot submitted
std::optional<KnownJob> known_job(const std::string& id, const Queue* queue,
                                  const SubmittedJobs& memory);

/// Folders of runs below the job's runs folder that carry its id, the latest first.
std::vector<std::string> run_folders_of(const SubmittedJob& job);

}  // namespace hpcboot::queue
