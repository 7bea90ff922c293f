#pragma once

#include <map>
#include <string>
#include <vector>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/resolve.hpp"

// The environment of a rank.
namespace hpcboot::run {

using Variables = std::map<std::string, std::string>;

// `env` for a program of torch.distributed that `r` places: without variables of another launch,
// with torch_env() and, if a device was chosen, with masks that hide the other devices.
Variables torch_environment(const Env& env, const Resolution& r, const DeviceChoice& device);

// Where rank 0 listens.
struct MasterEndpoint {
  std::string address;
  int port = 0;
};

// The environment of one rank that an agent starts, in two steps.
class RankEnvironment {
 public:
  // @param base the agent's environment; what hpcboot exported there belongs to another launch
  // @param placement with local_size, node_rank and num_nodes
  // @param handover further variables of the launch, HPCBOOT_RUN_*
  // @throws Error, as resolve() does
  RankEnvironment(Variables base, const Placement& placement, const Variables& handover,
                  const Facts& facts);

  // What the rank itself would resolve now.
  const Resolution& resolution() const { return resolution_; }

  // @param facts with the distances of devices from the rank's own CPUs, for `gpu_bind`
  Variables complete(const MasterEndpoint& master, bool gpu_bind, const Facts& facts) const;

 private:
  Variables own_;  // the variables that identify the rank and the launch
  Env env_;
  Resolution resolution_;
};

}  // namespace hpcboot::run
