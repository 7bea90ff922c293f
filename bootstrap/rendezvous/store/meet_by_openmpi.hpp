#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous.hpp"

// Open MPI 4 gives every rank of an mpirun 128 random bits, meant for its own network transports,
// and names the hosts of its daemons: enough to meet without its PMIx server. That server, embedded
// in Open MPI 4, does not serve a second PMIx client in one process: an MPI program that is exec'ed
// by a process that has used it hangs in MPI_Init (4.1.8 on two hosts).
namespace hpcboot::rendezvous {

// The hosts in OMPI_MCA_orte_node_regex, in the format of orte/mca/regx: "n[1:1-2]@0(2)" is n1 and
// n2, "node[3:7,9-11],login@0(5)" is node007, node009 to node011 and login. At most 1024. nullopt
// for any other format.
std::optional<std::vector<std::string>> openmpi_hosts(std::string_view regex);

// Does this rank belong to such an mpirun? Equal on all of its ranks.
bool can_meet_by_openmpi(const Env& env);

// Meets at one of eight ports derived from the launch, on one of the hosts that mpirun knows.
// @param hosts of the job, if this rank knows them: on mpirun's own host, ranks are not told the
//         other hosts
// @throws Error{deadline_exceeded, exchange_failed, malformed_value, missing_variable}
Rendezvous meet_by_openmpi(const Env& env, const std::vector<std::string>& hosts,
                           std::chrono::milliseconds deadline);

}  // namespace hpcboot::rendezvous
