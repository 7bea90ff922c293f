#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "known_jobs.hpp"

namespace hpcboot::queue {

/// One line per job. @param columns width of a line, at least 80
Encoded job_table(const std::vector<KnownJob>& jobs, WallTime now, std::size_t columns);

/// Everything that is known about one job, one line per field.
Encoded job_details(const KnownJob& job, WallTime now);

/// The same as JSON, for programs.
Json job_json(const KnownJob& job);

/// "45s", "12m", "3h05m", "2d04h".
std::string short_time(std::chrono::seconds time);

/// Explains a Slurm reason code for a waiting job, and what to do; empty for other words.
std::string meaning_of_reason(const std::string& reason);

/// Decided by Slurm's reason code, or PBS's comment.
bool will_never_start(const std::string& reason);

/// "completed", "failed, exit code 3".
std::string words_of_end(const QueuedJob& job);

}  // namespace hpcboot::queue
