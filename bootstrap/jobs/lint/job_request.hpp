#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "script.hpp"

// What the directives request, as far as they state it in plain numbers.
namespace hpcboot::lint {

// One resource of qsub -l: select=2:ncpus=4, walltime=1:00:00.
struct PbsResource {
  std::string name;
  std::string value;
  std::size_t at = 0;
};
std::vector<PbsResource> pbs_resources(const Script& script);

// A chunk of -l select=2:ncpus=8:mpiprocs=2+1:ncpus=4, or of Torque's -l nodes=2:ppn=8:gpus=2,
// whose ppn and gpus are read as mpiprocs and ngpus; absent if the chunk does not say.
struct PbsChunk {
  int count = 1;
  std::optional<int> ncpus;
  std::optional<int> mpiprocs;
  std::optional<int> ngpus;
  std::optional<int> ompthreads;
};
std::vector<PbsChunk> parse_select(std::string_view value);

struct JobRequest {
  std::optional<int> nodes;
  std::optional<int> tasks;  // of the whole job
  std::optional<int> tasks_per_node;
  std::optional<int> gpus_per_node;
  bool exclusive = false;      // whole nodes, not shared with other jobs
  bool several_parts = false;  // a heterogeneous job: the numbers above are unknown

  bool surely_many_nodes() const { return nodes && *nodes > 1; }
  bool surely_many_tasks() const { return (tasks && *tasks > 1) || surely_many_nodes(); }
};
JobRequest job_request_of(const Script& script);

// A decimal integer from 0 to 10^6; nullopt for anything else.
std::optional<int> number_of(std::string_view text);

}  // namespace hpcboot::lint
