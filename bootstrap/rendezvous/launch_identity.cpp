#include "launch_identity.hpp"

#include "handover.hpp"
#include "hpcboot/launch_source.hpp"

namespace hpcboot {

std::string launch_identity(const Resolution& resolution, const Env& env) {
  if (const auto handover = rendezvous::handover_for(env, resolution.placement.world_size))
    return "run/" + handover->launch_id + "/" + std::to_string(handover->world_size);
  const LauncherTraits traits = traits_of(resolution.launcher);
  std::string identity =
      resolution.launcher + "/" + std::to_string(resolution.placement.world_size);
  const auto add = [&identity](const std::string& part) { identity += "/" + part; };
  // Agents may be started by ssh, so that only one host has the job's variables; and the run id of
  // an agent is often "none".
  if (!traits.serves_a_store && traits.hands_on_job_variables && !resolution.endpoint_is_explicit)
    add(resolution.job_instance);
  add(resolution.launch_id);
  // As c10d does: without the agent's store, its port distinguishes the rounds, which agents may
  // count differently.
  if (resolution.agent_store) add(std::string(env.text("TORCHELASTIC_RESTART_COUNT").value_or("")));
  // Not the address: rank 0 may know its own host by another name than the other ranks do.
  if (resolution.endpoint_is_explicit) add(std::to_string(resolution.master_port.value_or(0)));
  return identity;
}

}  // namespace hpcboot
