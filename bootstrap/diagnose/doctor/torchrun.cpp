#include "checks.hpp"
#include "core/major_version.hpp"

namespace hpcboot::doctor {

void check_torchrun(const Situation& s, Findings& findings) {
  const std::string& agent = s.system.torchrun;
  if (agent.empty()) return;
  const std::string found = "torchrun is from PyTorch " + agent;
  const std::string built = s.system.libtorch.value_or("");
  if (built.empty()) {
    findings.ok("torchrun", found);
    return;
  }
  const auto major = major_version(built);
  // Observed with LibTorch 1.13 and an agent of 2.15.
  if (s.resolution && s.resolution->agent_store && major && major < major_version(agent)) {
    findings.note("torchrun",
                  found + ", this build has " + built +
                      ": its trainer does not use the store of torchrun's agent, but other "
                      "programs of " +
                      built + " would hang when they use it",
                  "no action needed for the trainer; build other programs with torchrun's "
                  "LibTorch, or start them with mpirun or srun and hpcboot exec");
  } else {
    findings.ok("torchrun", found + ", this build has " + built);
  }
}

}  // namespace hpcboot::doctor
