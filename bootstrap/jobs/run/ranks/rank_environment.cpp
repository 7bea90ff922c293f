#include "rank_environment.hpp"

#include <utility>

#include "core/export_mark.hpp"
#include "hpcboot/export.hpp"
#include "rendezvous/handover.hpp"

namespace hpcboot::run {
namespace {

// Removes what hpcboot exported for earlier launches: a new launch differs from them, whatever
// their numbers are. So does its launcher from those that HPCBOOT_METHODS admits.
Variables without_other_launches(Variables base) {
  for (const std::string& name : marked_exports(Env(base))) base.erase(name);
  base.erase(kExportMark);
  base.erase("HPCBOOT_METHODS");
  return base;
}

Variables numbers_of(const Placement& placement) {
  return {{"HPCBOOT_RANK", std::to_string(placement.rank)},
          {"HPCBOOT_WORLD_SIZE", std::to_string(placement.world_size)},
          {"HPCBOOT_LOCAL_RANK", std::to_string(placement.local_rank)},
          {"HPCBOOT_LOCAL_SIZE", std::to_string(placement.local_size.value())},
          {"HPCBOOT_NODE_RANK", std::to_string(placement.node_rank.value())},
          {"HPCBOOT_NUM_NODES", std::to_string(placement.num_nodes.value())}};
}

}  // namespace

Variables torch_environment(const Env& env, const Resolution& r, const DeviceChoice& device) {
  Variables variables(env.variables().begin(), env.variables().end());
  // Values that stay unknown must not be inherited from another launch.
  for (const std::string& name : torch_unset(r, env)) variables.erase(name);
  for (const auto& [name, value] : torch_env(r, env)) variables[name] = value;
  if (r.launcher != "single") {
    for (const auto& [name, mask] : own_device_masks(env, device)) variables[name] = mask;
  }
  return variables;
}

RankEnvironment::RankEnvironment(Variables base, const Placement& placement,
                                 const Variables& handover, const Facts& facts)
    : own_(numbers_of(placement)) {
  own_.insert(handover.begin(), handover.end());
  Variables variables = without_other_launches(std::move(base));
  for (const auto& [name, value] : own_) variables[name] = value;
  env_ = Env(std::move(variables));
  resolution_ = resolve(env_, facts);
}

Variables RankEnvironment::complete(const MasterEndpoint& master, bool gpu_bind,
                                    const Facts& facts) const {
  Resolution r = resolution_;
  r.master_addr = master.address;
  r.master_port = master.port;
  DeviceChoice device;
  if (gpu_bind) device = choose_device(env_, facts, r.placement.local_rank, r.placement.local_size);
  Variables variables = torch_environment(env_, r, device);
  // The address of rank 0 was unknown at construction.
  if (own_.count(rendezvous::kHandoverHosts) != 0)
    variables[rendezvous::kHandoverHosts] = master.address;
  // An mpirun within the rank passes all of these on, although its own ranks are different.
  std::vector<std::pair<std::string, std::string>> exported;
  for (const auto& [name, value] : own_) {
    // The id represents all that was handed over: not even a digest of the secret is exposed.
    if (name.rfind("HPCBOOT_RUN_", 0) != 0 || name == rendezvous::kHandoverId)
      exported.emplace_back(name, value);
  }
  for (const auto& variable : torch_env(r, env_)) {
    if (variable.first != kExportMark) exported.push_back(variable);
  }
  variables.erase(kExportMark);
  variables[kExportMark] = export_mark(exported, Env(variables));
  return variables;
}

}  // namespace hpcboot::run
