#include <set>

#include "fuzz.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/hostfile.hpp"

namespace {

using namespace hpcboot;

constexpr int kMostSlots = 1 << 20;

void require_sound(const std::vector<std::string>& hosts, const std::vector<int>& slots,
                   std::string_view text) {
  fuzz::require(std::set<std::string>(hosts.begin(), hosts.end()).size() == hosts.size(),
                "each host once");
  for (const std::string& host : hosts)
    fuzz::require(!host.empty() && text.find(host) != std::string_view::npos,
                  "hosts occur in the text");
  for (const int count : slots)
    fuzz::require(count > 0 && count <= kMostSlots, "a valid number of slots");
}

using Variables = std::map<std::string, std::string>;

// A host list in the environment.
void read_variables(const Variables& variables, std::string_view text) {
  fuzz::allow_error([&] {
    const auto job = read_allocation(Env(variables), {std::nullopt, false});
    fuzz::require(job.has_value(), "a job is recognised by its id");
    fuzz::require(job->slots.empty() || job->slots.size() == job->hosts.size(),
                  "slots for each host");
    require_sound(job->hosts, job->slots, text);
  });
}

}  // namespace

// Hosts in all formats of schedulers and launchers except Slurm's (hostlist): the files of PBS,
// Torque, Cobalt, LSF and OAR (one host per line), of Grid Engine, of Open MPI and MPICH, and the
// variables of LSF. Each host once, with its slots.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  for (Nodefile (*parse)(std::string_view, std::string_view) :
       {parse_nodefile, parse_pe_hostfile, parse_hostfile}) {
    fuzz::allow_error([&] {
      const Nodefile nodefile = parse(text, "input");
      fuzz::require(nodefile.hosts.size() == nodefile.slots.size(), "slots for each host");
      require_sound(nodefile.hosts, nodefile.slots, text);
    });
  }
  for (const char* name : {"LSB_MCPU_HOSTS", "LSB_HOSTS"})
    read_variables({{"LSB_JOBID", "12"}, {name, std::string(text)}}, text);
  return 0;
}
