#include "rendezvous.hpp"

#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "meeting_places.hpp"
#include "rendezvous/handover.hpp"

namespace hpcboot::rendezvous {
namespace {

bool is_handed_over(const Resolution& resolution, const Env& env) {
  return handover_for(env, resolution.placement.world_size).has_value();
}

}  // namespace

// A user-defined endpoint is used even on one host: it can be reached from containers that do not
// share Unix sockets. But the port of torchrun's agent is in use, and the endpoint that `run` sets
// belongs to the program.
bool meets_on_one_host(const Resolution& resolution, const Env& env) {
  return is_on_one_host(resolution.placement) &&
         (resolution.agent_store || !resolution.endpoint_is_explicit ||
          is_handed_over(resolution, env));
}

bool kvs_serves(const Resolution& resolution, const Env& env) {
  const std::string_view kind = offered_kvs(env);
  if (kind != "pmix" || resolution.launcher != "slurm") return !kind.empty();
  return env.text("PMIX_NAMESPACE").value_or("").substr(0, 11) == "slurm.pmix.";
}

bool endpoint_may_differ(const Resolution& resolution, const Env& env) {
  const std::string_view kind = offered_kvs(env);
  const auto named = resolution.provenance.find("master_addr");
  return (kind == "pmix" || kind == "pmi1") && resolution.placement.num_nodes != 1 &&
         !traits_of(resolution.launcher).hands_on_job_variables &&
         named != resolution.provenance.end() &&
         (named->second.source == "allocation" || named->second.source == "environment" ||
          (named->second.source == "explicit" && !resolution.endpoint_is_explicit));
}

bool port_may_be_shared(const Resolution& resolution, const Env& env) {
  const auto port = resolution.provenance.find("master_port");
  return port != resolution.provenance.end() && port->second.source == "rule" &&
         resolution.launch_id.empty() &&
         (is_handed_over(resolution, env) || offered_kvs(env) == "pmi1");
}

bool needs_kvs(const Resolution& resolution, const Env& env) {
  const bool is_named = resolution.endpoint_is_explicit && !endpoint_may_differ(resolution, env);
  return resolution.placement.world_size > 1 && !resolution.agent_store && !is_named &&
         !is_handed_over(resolution, env) && kvs_serves(resolution, env);
}

std::unique_ptr<KeyValueStore> open_kvs_for(const Resolution& resolution, const Env& env,
                                            std::chrono::milliseconds deadline) {
  if (!needs_kvs(resolution, env)) return nullptr;
  return open_served_kvs(resolution, env, deadline);
}

std::unique_ptr<KeyValueStore> open_served_kvs(const Resolution& resolution, const Env& env,
                                               std::chrono::milliseconds deadline) {
  if (is_handed_over(resolution, env) || !kvs_serves(resolution, env)) return nullptr;
  try {
    return open_kvs(env, deadline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable || !resolution.master_addr) throw;
    return nullptr;
  }
}

Rendezvous meet(const Resolution& resolution, const Env& env, KeyValueStore* kvs, Purpose purpose,
                std::chrono::milliseconds deadline) {
  if (kvs != nullptr) return meet_by_kvs(resolution, *kvs, purpose, deadline);
  if (meets_on_one_host(resolution, env))
    return meet_on_one_host(resolution, env, purpose, deadline);
  if (const auto handover = handover_for(env, resolution.placement.world_size))
    return meet_by_handover(resolution, env, *handover, purpose, deadline);
  return meet_at_endpoint(resolution, env, purpose, deadline);
}

}  // namespace hpcboot::rendezvous
