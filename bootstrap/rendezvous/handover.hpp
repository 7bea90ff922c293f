#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// What `hpcboot run` passes to the ranks that it starts, through the environment only: no rank then
// needs the launcher's PMI or a secret of the user.
namespace hpcboot::rendezvous {

inline constexpr const char* kHandoverId = "HPCBOOT_RUN_ID";
inline constexpr const char* kHandoverSize = "HPCBOOT_RUN_SIZE";
inline constexpr const char* kHandoverSecret = "HPCBOOT_RUN_SECRET";
inline constexpr const char* kHandoverHosts = "HPCBOOT_RUN_HOSTS";
inline constexpr std::array kHandoverNames = {kHandoverId, kHandoverSize, kHandoverSecret,
                                              kHandoverHosts};

struct Handover {
  std::string launch_id;           // random, not a secret
  int world_size = 0;              // of the launch that it is for
  std::string secret;              // 32 random bytes in hexadecimal digits
  std::vector<std::string> hosts;  // rank 0 is on the first one or, if `run` did not place the
                                   // ranks, on any of them; addresses or names

  // HPCBOOT_RUN_ID, _SIZE, _SECRET and _HOSTS.
  std::map<std::string, std::string> variables() const;
};

// The handover in this environment, as set by `run`: for the parent of a rank, which marks it as
// belonging to this launch. nullopt if there is none.
// @throws Error{malformed_value, missing_variable} if it is incomplete
std::optional<Handover> handover_in(const Env& env);

// `env` with the handover marked as belonging to this launch; unchanged if there is none.
Env with_marked_handover(const Env& env);

// The handover for the rank itself: only if it is marked as belonging to this launch
// (HPCBOOT_EXPORTED) and has this world size. A launch started inside the rank ignores it.
std::optional<Handover> handover_for(const Env& env, int world_size);

}  // namespace hpcboot::rendezvous
