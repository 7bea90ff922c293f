#include "hpcboot/resolve.hpp"

#include "completion.hpp"
#include "export_mark.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/scheduler.hpp"
#include "master.hpp"
#include "selection.hpp"
#include "sites.hpp"
#include "socket_ifname.hpp"
#include "unknown_launcher.hpp"

namespace hpcboot {
namespace {

// No launcher placed this process: it is alone, though perhaps inside an allocation.
void complete_single(Resolution& r, const std::optional<Allocation>& allocation,
                     const Facts& facts) {
  r.placement.local_size = 1;
  r.placement.node_rank = 0;
  r.placement.num_nodes = 1;
  for (const char* field :
       {"rank", "world_size", "local_rank", "local_size", "node_rank", "num_nodes"}) {
    r.provenance[field] = {"single", ""};
  }
  if (!allocation) {
    if (facts.hostname) {
      r.hosts = {*facts.hostname};
      r.provenance["hosts"] = {"hostname", ""};
    }
    return;
  }
  if (!allocation->unreadable_file.empty()) {
    // Nothing else says which hosts this job has.
    throw Error(
        ErrorCode::unreadable_file,
        "the nodefile " + allocation->unreadable_file +
            " cannot be read: " + allocation->unreadable_reason,
        "the file that the scheduler wrote for this job, which exists on the job's first host only",
        "run this on the first host of the job, or pass a copy with --nodefile");
  }
  r.hosts = allocation->hosts;
  if (!r.hosts.empty()) {
    r.provenance["hosts"] = {allocation->scheduler.empty() ? "hostfile" : allocation->scheduler,
                             allocation->hosts_variable};
  }
  r.allocation_tasks = allocation->num_tasks;
  if (allocation->num_tasks.value_or(1) > 1) {
    const Scheduler* scheduler = find_scheduler(allocation->scheduler);
    r.hints.push_back(std::to_string(*allocation->num_tasks) +
                      " tasks were requested, but this process is not one of them: use " +
                      std::string(scheduler != nullptr ? scheduler->start_command : "mpirun") +
                      " hpcboot exec …");
  }
}

Provenance provenance_of_interface(const Env& env, const std::string& name) {
  if (env.has("HPCBOOT_INTERFACE")) return {"explicit", "HPCBOOT_INTERFACE"};
  for (const char* variable : kInterfaceVariables) {
    const auto value = env.text(variable);
    if (value && names_interface(variable, *value, name)) return {"environment", variable};
  }
  return {"rule", "interface class"};
}

}  // namespace

Resolution resolve(const Env& given, const Facts& facts, const ResolveOptions& options) {
  Resolution r;
  r.ignored_exports = foreign_exports(given);
  const Env env = without_foreign_exports(given);
  Selection selection = select_source(env, facts);
  const std::optional<Allocation> allocation = read_allocation(env, options.allocation);
  if (allocation && !allocation->scheduler.empty()) {
    r.scheduler = allocation->scheduler;
    r.job_id = allocation->job_id;
    r.provenance["scheduler"] =
        r.provenance["job_id"] = {allocation->scheduler, allocation->job_variable};
  }
  if (selection.source != nullptr) {
    r.launcher = selection.source->name;
    complete_placement(r, selection, allocation, env, facts);
  } else {
    r.launcher = "single";
    complete_single(r, allocation, facts);
    // HPCBOOT_METHODS=single already answers these hints.
    if (!env.has("HPCBOOT_METHODS")) {
      for (std::string& hint : lone_identity_hints(env)) r.hints.push_back(std::move(hint));
    }
  }
  if (const auto interface = choose_interface(env, facts, r.hosts)) {
    r.interface = interface->name;
    r.interface_address = interface->address;
    r.provenance["interface"] = provenance_of_interface(env, interface->name);
  }
  choose_master(r, selection, allocation, env, facts);
  const DeviceChoice device =
      choose_device(env, facts, r.placement.local_rank, r.placement.local_size);
  r.device = device.device;
  if (device.device) {
    r.provenance["device"] = device.variable.empty() ? Provenance{"rule", "device files"}
                                                     : Provenance{"environment", device.variable};
  }
  if (!device.note.empty()) r.hints.push_back(device.note);
  if (const auto order = device_order(env); order && device.visible.size() > 1)
    r.site_rules.push_back("device order " + order->value + " (" + order->origin + ")");
  r.other_sources = std::move(selection.other_sources);
  r.attempts = std::move(selection.attempts);
  return r;
}

}  // namespace hpcboot
