#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "rendezvous/store/held_port.hpp"

// What the ranks have to agree on before one of them can start a program: what `exec` tells its
// program, and `check` shows.
namespace hpcboot::tool {

struct LocalAnswer {
  // The environment's answer; nullopt if only an exchange has one, as of bare PMI.
  std::optional<Resolution> answer;
  // Has it an endpoint, and do all ranks have the same? Else they have to agree, all or none.
  bool has_endpoint = false;
};

// @throws Error, as resolve()
LocalAnswer resolve_locally(const Env& env, const Facts& facts);

// A way for the ranks to tell each other what they need to know.
struct Way {
  std::unique_ptr<KeyValueStore> kvs;
  std::string warning;  // for people, on rank 0
};

// The launcher's exchange, else the store of this launch.
// @throws Error{needs_exchange} if there is neither, and as open_kvs() and meet()
Way open_way_between(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline);

// Would an MPI program that follows in this process hang if we had used the launcher's exchange,
// and is there another way? So it is with the PMIx server of Open MPI 4 that embeds its own (PMIx
// 3).
bool must_leave_kvs_alone(const Env& env);

// That way. @throws Error, as meet_by_openmpi()
Way open_other_way(const LocalAnswer& alone, const Env& env, std::chrono::milliseconds deadline);

struct Agreement {
  Resolution resolution;
  std::unique_ptr<rendezvous::HeldPort> held;  // on rank 0, if it had to choose the port
};

// All ranks together: completes the resolution; the endpoint is rank 0's, which chooses a port
// where nobody named one.
Agreement resolve_together(const Env& env, const Facts& facts, KeyValueStore& kvs,
                           std::chrono::milliseconds deadline);

}  // namespace hpcboot::tool
