#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// What `hpcboot run` hands over to the ranks that it starts, by their environment alone: no rank
// then needs its launcher's PMI, or a secret of the user's.
namespace hpcboot::rendezvous {

inline constexpr const char* kHandoverId = "HPCBOOT_RUN_ID";
inline constexpr const char* kHandoverSize = "HPCBOOT_RUN_SIZE";
inline constexpr const char* kHandoverSecret = "HPCBOOT_RUN_SECRET";
inline constexpr const char* kHandoverHosts = "HPCBOOT_RUN_HOSTS";
inline constexpr std::array kHandoverNames = {kHandoverId, kHandoverSize, kHandoverSecret,
                                              kHandoverHosts};

struct Handover {
  std::string launch_id;           // random, and no secret
  int world_size = 0;              // of the launch that it is for
  std::string secret;              // 32 random bytes in hexadecimal digits
  std::vector<std::string> hosts;  // rank 0 is on the first, or, if placement was left to others,
                                   // on any of them; addresses or names

  // HPCBOOT_RUN_ID, _SIZE, _SECRET and _HOSTS.
  std::map<std::string, std::string> variables() const;
};

// The hand-over in this environment, as it came from `run`: for the parent of a rank, which marks
// it as of this launch. nullopt if there is none.
// @throws Error{malformed_value, missing_variable} if it is there in part only
std::optional<Handover> handover_in(const Env& env);

// `env` with what `run` handed over marked as of this launch; as it is if there is nothing.
Env with_marked_handover(const Env& env);

// The same for the rank itself: only if it is marked as of this launch (HPCBOOT_EXPORTED), and of
// that size. A launch that is started inside of it ignores it.
std::optional<Handover> handover_for(const Env& env, int world_size);

}  // namespace hpcboot::rendezvous
