#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// What one process of a job reports about itself.
struct ReportedRank {
  std::string name;      ///< its name in messages: "rank3", "n1-4242"
  std::string hostname;  ///< empty if unknown
  std::optional<Resolution> resolution;
  std::string error;  ///< if there is no resolution: the reason
};

/// A reason why these processes are not one consistent job.
struct JobProblem {
  std::string kind;                ///< a few words for a table: "duplicate rank"
  std::string text;                ///< the whole sentence
  std::vector<std::string> names;  ///< of the processes concerned; empty for all of them
};

/// Do these processes form one job? Requires that every process resolves; that the ranks are 0 …
/// world_size-1, each once; that all report the same world_size, hosts, launcher, job and master;
/// that each host has the local ranks 0 … local_size-1 and one node_rank; and that a conflicting
/// source is explained. If most processes agree, those that differ are named.
std::vector<JobProblem> check_job(const std::vector<ReportedRank>& ranks);

/// Notes that are not problems: launchers that disagree with the one that placed these processes,
/// for a known reason.
std::vector<std::string> notes_of_job(const std::vector<ReportedRank>& ranks);

}  // namespace hpcboot
