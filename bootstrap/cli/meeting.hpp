#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "hpcboot/exchange.hpp"
#include "hpcboot/resolve.hpp"
#include "tcp.hpp"

// Where the ranks meet: what `exec` tells its program and `check` tries.
namespace hpcboot::tool {

struct Alone {
  // The environment's answer, with an endpoint where there are several ranks; nullopt where only an
  // exchange has one.
  std::optional<Resolution> answer;
  // May another rank's environment have no answer, or another one? mpirun over ssh gives a job's
  // variables, and a MASTER_ADDR that its script exports, to the ranks of its own host only, and a
  // nodefile lies on the job's first host. All ranks of such a launch have to exchange, or none.
  bool may_differ = false;
};

Alone resolve_alone(const Env& env, const Facts& facts);

// An exchange, or nullptr where this machine lacks its library and the environment's answer has to
// do. @throws Error
std::unique_ptr<Exchange> open_exchange_for(const Alone& alone, const Env& env,
                                            std::chrono::milliseconds deadline);

// @param kind as offered_exchange() has it. @throws Error{needs_exchange} where it is empty
void require_exchange(std::string_view kind);

// A port that no client socket is given: not one of those that the kernel chooses, since seconds
// pass until a program under `exec` listens itself. Held, but not listened on: a rank that is early
// must not reach `exec` instead of the program. @throws Error{exchange_failed}
std::unique_ptr<Listener> take_a_free_port();

struct Meeting {
  Resolution resolution;
  std::unique_ptr<Listener> listener;  // on rank 0, where it had to choose the port
};

// All ranks together: completes the resolution; the endpoint is rank 0's, which chooses a port
// where nobody named one.
Meeting resolve_together(const Env& env, const Facts& facts, Exchange& exchange,
                         std::chrono::milliseconds deadline);

}  // namespace hpcboot::tool
