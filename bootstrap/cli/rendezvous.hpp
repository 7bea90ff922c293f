#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "rendezvous/store/held_port.hpp"

// What the ranks must agree on before one of them can start a program: what `exec` exports to its
// program, and `check` shows.
namespace hpcboot::tool {

struct LocalAnswer {
  // The environment's answer; nullopt if only an exchange can give one, as under bare PMI.
  std::optional<Resolution> answer;
  // Whether it has an endpoint that is the same on all ranks. Otherwise they must agree on one, all
  // or none.
  bool has_endpoint = false;
};

// @throws Error, as resolve()
LocalAnswer resolve_locally(const Env& env, const Facts& facts);

// A way for the ranks to exchange what they need to know.
struct Way {
  std::unique_ptr<KeyValueStore> kvs;
  std::string warning;  // for people, on rank 0
};

// The launcher's exchange, else the store of this launch.
// @throws Error{needs_exchange} if there is neither, and as open_kvs() and meet()
Way open_way_between(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline);

// Whether a later MPI program in this process would hang if hpcboot used the launcher's exchange,
// and there is another way. This is the case with the PMIx server embedded in Open MPI 4 (PMIx 3).
bool must_leave_kvs_alone(const Env& env);

// That way. @throws Error, as meet_by_openmpi()
Way open_other_way(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline);

struct Agreement {
  Resolution resolution;
  std::unique_ptr<rendezvous::HeldPort> held;  // on rank 0, if it had to choose the port
};

// Called by all ranks together: completes the resolution. The endpoint is that of rank 0, which
// chooses a port if none was given.
Agreement resolve_together(const Env& env, const Facts& facts, KeyValueStore& kvs,
                           std::chrono::milliseconds deadline);

}  // namespace hpcboot::tool
