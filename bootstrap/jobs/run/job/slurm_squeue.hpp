#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"

namespace hpcboot::run {

// What `squeue` reports for job `id` in these columns of --format, such as 'P': one text each,
// empty if Slurm has no value. Columns with text from users, such as job names, are not allowed.
// @throws Error{backend_unavailable}
std::vector<std::string> squeue_columns(const Surroundings& s, const std::string& id,
                                        const std::string& columns);

// … in these columns of --Format, such as "Comment", with any content: 4096 bytes each.
std::vector<std::string> squeue_texts(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns);

// … in columns of --Format without spaces in them.
std::vector<std::string> squeue_words(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns);

// Slurm's name of the job with this number: "12_3" for a task of an array, whose own number is
// unrelated.
std::string squeue_id(const Surroundings& s, const std::string& number);

}  // namespace hpcboot::run
