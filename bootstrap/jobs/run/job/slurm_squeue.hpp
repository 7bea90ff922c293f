#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/run/plan/plan.hpp"

namespace hpcboot::run {

// What `squeue` says of job `id` in these columns of --format, such as 'P': a text for each, empty
// where Slurm has nothing to say. None of them may be one that holds text of users, such as names
// of jobs. @throws Error{backend_unavailable}
std::vector<std::string> squeue_columns(const Surroundings& s, const std::string& id,
                                        const std::string& columns);

// … in these columns of --Format, such as "Comment", whatever stands in them: of 4096 bytes.
std::vector<std::string> squeue_texts(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns);

// … in columns of --Format without spaces in them.
std::vector<std::string> squeue_words(const Surroundings& s, const std::string& id,
                                      const std::vector<std::string>& columns);

// As Slurm names the job that has this number: "12_3", a task of an array, whose number may be any.
std::string squeue_id(const Surroundings& s, const std::string& number);

}  // namespace hpcboot::run
