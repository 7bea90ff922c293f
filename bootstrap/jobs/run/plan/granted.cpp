#include "granted.hpp"

#include <algorithm>

#include "core/counted.hpp"
#include "core/schedulers/host_lines.hpp"
#include "flux_grant.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/hostfile.hpp"
#include "slurm_grant.hpp"

namespace hpcboot::run {
namespace {

Granted from_hostfile(const std::string& path, const Surroundings& s) {
  const Nodefile file = parse_hostfile(s.read_file(path), path);
  if (file.hosts.empty()) {
    throw Error(ErrorCode::malformed_file, path + " names no host", "at least one host",
                "write one host per line, such as 'n1 slots=4'");
  }
  Granted granted;
  granted.origin = path;
  granted.has_asked_for_ranks = true;
  for (std::size_t i = 0; i < file.hosts.size(); ++i)
    granted.hosts.push_back({file.hosts[i], file.slots[i], file.slots[i], 0, file.users[i]});
  return granted;
}

std::string this_host(const Surroundings& s) {
  return s.facts.hostname.value_or("localhost");
}

// The scheduler named no hosts.
void fail_without_hosts(const Allocation& job) {
  if (!job.unreadable_file.empty()) {
    throw Error(ErrorCode::unreadable_file,
                "the host file of this job, " + job.unreadable_file +
                    ", cannot be read: " + job.unreadable_reason,
                "the file that the scheduler wrote on the first host of the job",
                "start hpcboot run in the job's script, or give the hosts with --hostfile");
  }
  const bool names_hosts_always = job.scheduler == "slurm" || job.scheduler == "pbs";
  if (!names_hosts_always) return;
  const std::string variable = job.scheduler == "slurm" ? "SLURM_JOB_NODELIST" : "PBS_NODEFILE";
  throw Error(ErrorCode::missing_variable, job.job_variable + " is set, but not " + variable,
              variable + ", which names the hosts of the job",
              "keep the job's environment intact; outside a job, unset " + job.job_variable);
}

Granted from_allocation(const Allocation& job, const Surroundings& s) {
  Granted granted;
  granted.scheduler = job.scheduler;
  granted.origin = job.hosts_variable.empty() ? job.job_variable : job.hosts_variable;
  const bool are_counted = !job.slots.empty() && job.slots.size() == job.hosts.size();
  for (std::size_t i = 0; i < job.hosts.size(); ++i) {
    const int slots = are_counted ? job.slots[i] : 1;
    granted.hosts.push_back({job.hosts[i], slots, are_counted ? slots : GrantedHost::kNoLimit, 0});
  }
  if (job.hosts.empty() && job.scheduler != "flux") {
    fail_without_hosts(job);
    const int slots = job.num_tasks.value_or(1);
    granted.hosts.push_back(
        {this_host(s), slots, job.num_tasks ? slots : GrantedHost::kNoLimit, 0});
  } else if (job.hosts.empty()) {
    granted.hosts.push_back({this_host(s)});
  }
  // A single slot is the scheduler's default if no number was requested.
  granted.has_asked_for_ranks =
      (are_counted && granted.hosts.size() > 1) || granted.hosts.front().slots > 1;
  if (job.scheduler == "slurm") {
    take_slurm(granted, s);
  } else if (job.scheduler == "flux" && job.hosts.empty()) {
    take_flux(granted, s);
  } else if (job.scheduler == "pbs") {
    // OpenPBS sets the first, Torque the second. A chunk without mpiprocs has one line in the node
    // file, however many cores it has.
    const auto cpus = small_number(s.env.text(s.env.has("NCPUS") ? "NCPUS" : "PBS_NUM_PPN"));
    for (GrantedHost& host : granted.hosts) {
      host.cpus = cpus.value_or(0);
      if (are_counted) host.limit = std::max(host.slots, host.cpus);
    }
  } else if (job.scheduler == "sge" || job.scheduler == "lsf") {
    for (GrantedHost& host : granted.hosts) host.cpus = are_counted ? host.slots : 0;
  }
  return granted;
}

void take_first_nodes(Granted& granted, int nodes, bool has_hostfile) {
  const auto count = static_cast<int>(granted.hosts.size());
  if (nodes > count) {
    const std::string remedy = has_hostfile                ? "add hosts to " + granted.origin
                               : granted.scheduler.empty() ? "add hosts with --hostfile"
                                                           : "ask the scheduler for more nodes";
    throw Error(ErrorCode::inconsistent_placement, "--nodes " + std::to_string(nodes),
                "at most " + counted(count, "host") + " (" + granted.origin + ")",
                remedy + ", or lower --nodes");
  }
  if (nodes < count) granted.origin += ", the first " + std::to_string(nodes) + " of them";
  granted.hosts.resize(static_cast<std::size_t>(nodes));
}

// Names are passed to programs that connect to hosts; a list in the environment may name anything.
void require_host_names(const Granted& granted, const Surroundings& s) {
  for (const GrantedHost& host : granted.hosts) {
    if (is_host(host.host) || is_this_host(host.host, s)) continue;
    throw Error(ErrorCode::malformed_value,
                "host '" + host.host.substr(0, 80) + "' in " + granted.origin,
                "names of letters, digits, '.', ':', '_' and '-', which is not the first",
                "correct " + granted.origin);
  }
}

}  // namespace

Granted granted_hosts(const RunRequest& request, const Surroundings& s) {
  const bool has_job = s.allocation && !s.allocation->scheduler.empty();
  Granted granted;
  if (request.hostfile) {
    granted = from_hostfile(*request.hostfile, s);
    if (has_job) granted.scheduler = s.allocation->scheduler;
  } else if (has_job) {
    granted = from_allocation(*s.allocation, s);
  } else {
    granted.hosts.push_back({this_host(s)});
    granted.origin = "this host";
  }
  require_host_names(granted, s);
  if (request.nodes) take_first_nodes(granted, *request.nodes, request.hostfile.has_value());
  return granted;
}

std::optional<int> small_number(std::optional<std::string_view> text) {
  const auto number = text ? parse_whole_number(*text) : std::nullopt;
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

bool is_this_host(const std::string& host, const Surroundings& s) {
  return same_host(host, this_host(s)) || is_loopback(host);
}

}  // namespace hpcboot::run
