#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "known_jobs.hpp"

namespace hpcboot::queue {

/// A line for each job. @param columns that a line may have, from 80
Encoded job_table(const std::vector<KnownJob>& jobs, WallTime now, std::size_t columns);

/// All that is known of one job, a line for each thing.
Encoded job_details(const KnownJob& job, WallTime now);

/// The same for programs.
Json job_json(const KnownJob& job);

/// "45s", "12m", "3h05m", "2d04h".
std::string short_time(std::chrono::seconds time);

/// What Slurm's word for why a job waits means, and what to do; empty for another word.
std::string meaning_of_reason(const std::string& reason);

/// By Slurm's word, or PBS's sentence.
bool will_never_start(const std::string& reason);

/// "completed", "failed, exit code 3".
std::string words_of_end(const QueuedJob& job);

}  // namespace hpcboot::queue
