#include <unistd.h>

#include "core/time_left.hpp"
#include "meeting_places.hpp"
#include "rendezvous/launch_identity.hpp"

namespace hpcboot::rendezvous {

std::string local_identity(const Resolution& resolution, const Env& env, Purpose purpose) {
  std::string identity = launch_identity(resolution, env) + "/" + resolution.job_instance + "/" +
                         std::string(name_of(purpose));
  for (const char* variable : {"SLURM_STEP_ID", "MASTER_ADDR", "MASTER_PORT"})
    identity += "/" + std::string(env.text(variable).value_or(""));
  return identity;
}

std::vector<Place> local_places(const std::string& identity) {
  std::vector<Place> places;
  const std::string name = "@hpcboot-" + std::to_string(geteuid()) + "-" + digest_of(identity);
  for (int i = 0; i < 8; ++i) places.push_back({name + "-" + std::to_string(i), 0});
  return places;
}

Rendezvous meet_on_one_host(const Resolution& resolution, const Env& env, Purpose purpose,
                            std::chrono::milliseconds deadline) {
  const Placement& placement = resolution.placement;
  const auto end = end_after(deadline);
  World world{local_identity(resolution, env, purpose),
              static_cast<std::uint32_t>(placement.world_size),
              {},
              SecretKind::kernel};
  world.holders = holders_for(purpose);
  Member member{std::move(world), static_cast<std::uint32_t>(placement.rank)};
  std::vector<Place> places = local_places(member.world.identity);
  std::shared_ptr<Server> server;
  if (placement.rank == 0) {
    server = serve_at(places, member, end);
    places = {server->place()};
  }
  std::shared_ptr<Client> client = Client::connect(places, std::move(member), end);
  const std::string where = client->place().text();
  return {std::move(server), nullptr, std::move(client), "store on this host at " + where};
}

}  // namespace hpcboot::rendezvous
