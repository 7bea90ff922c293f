#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

/// What one process of a job says of itself, gathered from outside it.
struct ReportedRank {
  std::string name;      ///< how messages call it: "rank3", "n1-4242"
  std::string hostname;  ///< empty where unknown
  std::optional<Resolution> resolution;
  std::string error;  ///< where there is no resolution: why
};

/// Something that keeps these processes from being one job.
struct JobProblem {
  std::string kind;                ///< a few words for a table: "duplicate rank"
  std::string text;                ///< the whole sentence
  std::vector<std::string> names;  ///< of the processes that it is about; empty for all of them
};

/// Do these processes make a job? Everyone resolves; the ranks are 0 … world_size-1, each once; all
/// say the same world_size, hosts, launcher, job and master; on each host the local ranks are
/// 0 … local_size-1, and one node_rank; another launcher disagrees only if it is known why. Where
/// most agree, those who differ are named.
std::vector<JobProblem> check_job(const std::vector<ReportedRank>& ranks);

/// Worth knowing, and no problem: launchers that disagree with the one that placed these processes,
/// for a reason that is known.
std::vector<std::string> notes_of_job(const std::vector<ReportedRank>& ranks);

}  // namespace hpcboot
