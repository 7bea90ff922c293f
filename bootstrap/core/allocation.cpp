#include "hpcboot/allocation.hpp"

#include <algorithm>

#include "core/launchers/shipped.hpp"
#include "core/schedulers/read_file.hpp"
#include "core/schedulers/schedulers.hpp"
#include "hpcboot/hostfile.hpp"

namespace hpcboot {
namespace {

// No job, but the user passes the hosts, as with mpirun --hostfile over ssh.
std::optional<Allocation> read_given_hostfile(const Env& env, const AllocationOptions& options) {
  if (!options.nodefile) return std::nullopt;
  Allocation hosts;
  take_hosts_from_file(hosts, env, "", options, parse_hostfile);
  return hosts;
}

// Flux may run inside a job of any other scheduler, never the other way round. Grid Engine comes
// last of those in C++: JOB_ID is not specific to it.
std::vector<const Scheduler*>& table() {
  static std::vector<const Scheduler*> all = [] {
    std::vector<const Scheduler*> built_in = {&kFluxScheduler, &kPbsScheduler,    &kSlurmScheduler,
                                              &kLsfScheduler,  &kCobaltScheduler, &kSgeScheduler};
    for (const Scheduler& described : kShippedSchedulers) built_in.push_back(&described);
    return built_in;
  }();
  return all;
}

}  // namespace

const std::vector<const Scheduler*>& schedulers() {
  return table();
}

void set_schedulers(std::vector<const Scheduler*> all) {
  table() = std::move(all);
}

std::optional<Allocation> Scheduler::read(const Env& env, const AllocationOptions& options) const {
  return description != nullptr ? read_described(*this, env, options) : read_from(env, options);
}

std::string_view job_variable_of(const Scheduler& scheduler) noexcept {
  return scheduler.description != nullptr ? scheduler.description->id : scheduler.job_variable;
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
