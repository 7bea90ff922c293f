#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/wall_time.hpp"

// Parses what Grid Engine's commands print about a job.
namespace hpcboot::run {

// In the form of `qalter -l`: "300", "24:00:00". nullopt for INFINITY and for values longer than
// any walltime.
std::optional<std::chrono::seconds> grid_engine_time(std::string_view text);

// The hard resource requests of `qstat -xml -j JOB`: {"h_rt", "300"}.
std::map<std::string, std::string> hard_requests(std::string_view details);

// When a task of the job started.
std::optional<WallTime> start_of_task(std::string_view details, const std::string& task);

// The state of a task in `qstat -xml`: "r", "dr" after qdel. Empty if it is not listed.
// @param task empty: the job is not an array
std::string listed_state(std::string_view list, const std::string& job, const std::string& task);

// The limit in `qconf -sq QUEUE@HOST`.
std::optional<std::chrono::seconds> queue_limit(const std::string& queue);

}  // namespace hpcboot::run
