#include "hpcboot/allocation.hpp"

#include <algorithm>

#include "core/schedulers/read_file.hpp"
#include "core/schedulers/schedulers.hpp"
#include "hpcboot/hostfile.hpp"

namespace hpcboot {
namespace {

// No job, but the user gives the hosts: mpirun --hostfile over ssh.
std::optional<Allocation> read_given_hostfile(const Env& env, const AllocationOptions& options) {
  if (!options.nodefile) return std::nullopt;
  Allocation hosts;
  take_hosts_from_file(hosts, env, "", options, parse_hostfile);
  return hosts;
}

}  // namespace

const std::vector<const Scheduler*>& schedulers() {
  // Flux may run inside a job of any other, never the other way round. Grid Engine comes last: its
  // JOB_ID could be anybody's.
  static const std::vector<const Scheduler*> table = {&kFluxScheduler,   &kPbsScheduler,
                                                      &kSlurmScheduler,  &kLsfScheduler,
                                                      &kCobaltScheduler, &kSgeScheduler};
  return table;
}

const Scheduler* find_scheduler(std::string_view name) noexcept {
  const auto& all = schedulers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Scheduler* s) { return s->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::optional<Allocation> read_allocation(const Env& env, const AllocationOptions& options) {
  for (const Scheduler* scheduler : schedulers()) {
    if (auto job = scheduler->read(env, options)) return job;
  }
  return read_given_hostfile(env, options);
}

}  // namespace hpcboot
