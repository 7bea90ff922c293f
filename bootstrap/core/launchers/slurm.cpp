#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>

#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"
#include "launchers.hpp"
#include "process_mapping.hpp"
#include "slurm_components.hpp"
#include "slurm_step.hpp"

// srun sets for each task of a step: SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID, SLURM_STEP_ID,
// SLURM_STEP_NUM_TASKS, SLURM_STEP_NUM_NODES, SLURM_STEP_NODELIST, SLURM_STEP_TASKS_PER_NODE,
// SLURM_GTIDS. The batch script also has SLURM_PROCID=0: see slurm_step.hpp. In a step across
// several components of a heterogeneous job, all of these describe the whole step; SLURM_NODEID and
// the ranks follow the order of the components, while SLURM_STEP_NODELIST and its counts are sorted
// (seen with 22.05).
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"SLURM_STEP_ID", kCompanion, kRequired},
    {"SLURM_PROCID", kIdentity, kRequired},
    {"SLURM_LOCALID", kIdentity, kRequired},
    {"SLURM_STEP_NUM_TASKS", kSize, kRequired},
    {"SLURM_NODEID", kIdentity, kUsed},
    {"SLURM_STEP_NUM_NODES", kSize, kUsed},
    {"SLURM_STEP_NODELIST", kCompanion, kUsed},
    {"SLURM_STEP_TASKS_PER_NODE", kSize, kUsed},
    {"SLURM_GTIDS", kCompanion, kUsed},
    {"SLURM_TASK_PID", kHandle, kUsed},
    {"SLURM_STEPID", kCompanion, kUsed},
    {"SLURM_STEP_RESV_PORTS", kCompanion, kUsed},
    {"PMI_CONTROL_PORT", kHandle, kUsed},
    {"SLURM_PMIX_MAPPING_SERV", kCompanion, kUsed},
    {"SLURM_DISTRIBUTION", kCompanion, kUsed},
    {"SLURM_ARBITRARY_NODELIST", kCompanion, kUsed},
    {"SLURM_STEP_*", kCompanion},
    {"SLURM_SRUN_COMM_*", kHandle},
    {"SLURM_LAUNCH_NODE_IPADDR", kHandle},
    {"SLURM_PMIX_*", kHandle},
    {"SLURM_PMIXP_*", kHandle},
    {"SLURM_MPI_TYPE", kCompanion, kUsed},
    {"PS_JOB_SIZE", kSize, kUsed},
    {"PS_JOB_*", kIdentity},
    {"SLURM_CPU_BIND", kCompanion},
    {"SLURM_CPU_BIND_*", kCompanion},
    {"SLURM_MEM_BIND", kCompanion},
    {"SLURM_MEM_BIND_*", kCompanion},
    // Variables of the job, which schedulers/slurm.cpp describes
    {"SLURM_JOB_ID", kSetting, kUsed},
    {"SLURM_NTASKS", kSetting, kUsed},
    {"SLURM_HET_SIZE", kSetting, kUsed},
    {"SLURM_JOB_NODELIST_HET_GROUP_*", kSetting, kUsed},
    {"SLURM_*", kSetting},
    {"SLURMD_NODENAME", kSetting, kUsed},
};

// psslurm (ParaStation's slurmd, as on JSC's machines) serves PMIx to srun's tasks under names such
// as "pspmix_[1:4711]". So does ParaStation's mpiexec, which sets PS_JOB_SIZE, to its own
// processes: ParaStation/psmgmt, plugins/pspmix/pspmixservice.c and bin/startup/spawner.c.
bool is_served_by_psslurm(const Env& env) {
  const auto size = env.text("PS_JOB_SIZE");
  return env.text("PMIX_NAMESPACE").value_or("").rfind("pspmix_", 0) == 0 &&
         env.text("PMIX_RANK") == env.text("SLURM_PROCID") &&
         (!size || size == env.text("SLURM_STEP_NUM_TASKS"));
}

Detection detect(const Env& env, const Facts& facts) {
  const SlurmStep step = slurm_step_of(env);
  if (!step.contradiction.empty()) return {Match::present, step.contradiction};
  if (step.is_special()) {
    return {Match::refused,
            step.variable + "=" + std::string(*step.text) +
                " is the batch, interactive or extern step: srun did not start this process"};
  }
  const auto name_space = env.text("PMIX_NAMESPACE");
  if (step.text && name_space && name_space->rfind("slurm.pmix.", 0) != 0 &&
      !is_served_by_psslurm(env) && !env.has("OMPI_COMM_WORLD_RANK") &&
      facts.is_slurm_task != true) {
    return {Match::refused,
            "PMIX_NAMESPACE=" + std::string(*name_space) +
                " shows that another launcher started this process inside a Slurm step"};
  }
  if (step.text) return {Match::present, step.variable + " names a step"};
  const auto procid = env.text("SLURM_PROCID");
  if (!procid) {
    if (!env.has("SLURM_JOB_ID")) return {};
    return {Match::refused,
            "SLURM_JOB_ID without SLURM_PROCID: inside an allocation, but not a task of a step"};
  }
  for (const char* variable : {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES",
                               "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"}) {
    if (env.has(variable)) return {Match::present, std::string(variable) + " is set"};
  }
  if (*procid != "0") return {Match::present, "SLURM_PROCID=" + std::string(*procid)};
  return {Match::refused, "SLURM_PROCID belongs to the batch step (SLURM_STEP_ID is not set)"};
}

std::vector<int> integers(const Env& env, const char* variable) {
  const auto text = env.text(variable);
  return text ? hostlist::expand_counts(*text, variable) : std::vector<int>{};
}

[[noreturn]] void fail_inconsistent(const std::string& found, const std::string& expected) {
  throw Error(
      ErrorCode::inconsistent_placement, "slurm: " + found, expected,
      "a variable was inherited from an outer job or step: start the program with srun again, or "
      "choose the launcher with HPCBOOT_METHODS");
}

// The hosts of the step in the order of SLURM_NODEID: by component in a heterogeneous job, whose
// SLURM_STEP_NODELIST is sorted; else in list order. Empty if that order cannot be determined.
std::vector<std::string> in_node_order(const Env& env, const std::vector<std::string>& listed) {
  const auto components = slurm_components(env);
  if (!components) return env.has("SLURM_HET_SIZE") ? std::vector<std::string>{} : listed;
  const std::unordered_set<std::string> in_step(listed.begin(), listed.end());
  std::vector<std::string> ordered;
  for (const std::string& host : components->hosts) {
    if (in_step.count(host) != 0) ordered.push_back(host);
  }
  const bool each_once =
      std::set<std::string>(ordered.begin(), ordered.end()).size() == ordered.size();
  if (!each_once || ordered.size() != listed.size()) ordered.clear();
  return ordered;
}

// The index of this task's host in the step, and its number of tasks.
void read_nodes(const Env& env, const std::vector<int>& tasks_per_node, LaunchFacts& facts) {
  const std::string self(env.text("SLURMD_NODENAME").value_or(""));
  const auto place_in = [&](const std::vector<std::string>& hosts) {
    return static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), self) - hosts.begin());
  };
  const auto with_list = [&] {
    return " with SLURM_STEP_NODELIST='" +
           std::string(env.text("SLURM_STEP_NODELIST")->substr(0, 80)) + "'";
  };
  std::vector<std::string> listed;
  if (const auto list = env.text("SLURM_STEP_NODELIST")) {
    listed = hostlist::expand(*list);
    facts.hosts = in_node_order(env, listed);
    facts.any_order = facts.hosts.empty();
    if (!facts.hosts.empty()) facts.variables["hosts"] = "SLURM_STEP_NODELIST";
  }
  if (!listed.empty() && !self.empty() && place_in(listed) == listed.size()) {
    fail_inconsistent("SLURMD_NODENAME=" + self + with_list(), "a step that runs on this node");
  }
  if (take(facts, "num_nodes", facts.num_nodes, env, "SLURM_STEP_NUM_NODES", 1)) {
    if (!listed.empty() && listed.size() != static_cast<std::size_t>(*facts.num_nodes)) {
      fail_inconsistent("SLURM_STEP_NUM_NODES=" + std::to_string(*facts.num_nodes) + with_list(),
                        "as many nodes as in the list");
    }
  } else if (!listed.empty()) {
    facts.num_nodes = static_cast<int>(listed.size());
    facts.variables["num_nodes"] = "SLURM_STEP_NODELIST";
  }
  const std::size_t place = place_in(facts.hosts);
  if (!take(facts, "node_rank", facts.node_rank, env, "SLURM_NODEID")) {
    if (place < facts.hosts.size()) {
      facts.node_rank = static_cast<int>(place);
      facts.variables["node_rank"] = "SLURMD_NODENAME";
    }
  } else if (place < facts.hosts.size() && place != static_cast<std::size_t>(*facts.node_rank)) {
    fail_inconsistent("SLURM_NODEID=" + std::to_string(*facts.node_rank) +
                          " on SLURMD_NODENAME=" + self + with_list(),
                      "SLURMD_NODENAME at index SLURM_NODEID of the step's nodes");
  }
  if (facts.num_nodes && facts.node_rank && *facts.node_rank >= *facts.num_nodes) {
    fail_inconsistent(facts.variables["node_rank"] +
                          " gives node_rank=" + std::to_string(*facts.node_rank) +
                          " in a step of " + std::to_string(*facts.num_nodes) + " nodes",
                      facts.variables["node_rank"] + " below the number of nodes");
  }
  // The counts correspond to the list as written.
  if (!facts.num_nodes || tasks_per_node.size() != static_cast<std::size_t>(*facts.num_nodes))
    return;
  std::optional<std::size_t> entry;
  if (listed.size() == tasks_per_node.size() && place_in(listed) < listed.size()) {
    entry = place_in(listed);
  } else if (facts.node_rank && (listed.empty() || listed == facts.hosts) &&
             !env.has("SLURM_HET_SIZE")) {
    entry = static_cast<std::size_t>(*facts.node_rank);
  }
  if (!entry) return;
  facts.local_size = tasks_per_node[*entry];
  facts.variables["local_size"] = "SLURM_STEP_TASKS_PER_NODE";
}

constexpr const char* kMapping = "SLURM_PMIX_MAPPING_SERV";

// mpi/pmix publishes which node each rank of its step runs on. A step inside that step, started
// without PMIx, inherits the variable: the namespace identifies its step.
std::optional<ProcessMapping> mapping_of(const Env& env, const SlurmStep& step) {
  const auto text = env.text(kMapping);
  const auto job = env.text("SLURM_JOB_ID");
  if (!text || !job || !step.id || env.has("SLURM_HET_SIZE")) return std::nullopt;
  if (env.text("PMIX_NAMESPACE") !=
      "slurm.pmix." + std::string(*job) + "." + std::to_string(*step.id)) {
    return std::nullopt;
  }
  return ProcessMapping::parse(*text, kMapping);
}

void apply_mapping(const ProcessMapping& mapping, LaunchFacts& facts) {
  const auto merge = [&](const char* field, std::optional<int>& slot, int value) {
    if (slot && *slot != value) {
      fail_inconsistent(facts.variables[field] + " gives " + field + "=" + std::to_string(*slot) +
                            ", but " + kMapping + " gives " + std::to_string(value),
                        "the same placement in both");
    }
    if (slot) return;
    slot = value;
    facts.variables[field] = kMapping;
  };
  merge("world_size", facts.world_size, mapping.size());
  const int node = mapping.node_of(*facts.rank);
  merge("node_rank", facts.node_rank, node);
  merge("local_rank", facts.local_rank, mapping.local_rank_of(*facts.rank));
  merge("local_size", facts.local_size, mapping.local_size(node, mapping.size()));
  const auto first = static_cast<std::size_t>(mapping.node_of(0));
  if (first != 0 && first < facts.hosts.size()) {
    facts.rank0_host = facts.hosts[first];
    facts.variables["master_addr"] = kMapping;
  }
}

// srun starts with rank 0 on the first node, except with -m arbitrary (or SLURM_HOSTFILE): ranks
// then follow a list, which may not reach the tasks (it does not in 22.05), and the node list is
// sorted.
void find_rank0(const Env& env, LaunchFacts& facts) {
  if (!facts.rank0_host.empty()) return;
  // `sbatch -m arbitrary` leaves its list in the environment of all steps.
  const auto distribution = env.text("SLURM_DISTRIBUTION");
  const bool is_arbitrary = distribution && distribution->rfind("arbitrary", 0) == 0;
  const auto list = env.text("SLURM_ARBITRARY_NODELIST");
  if (list && (is_arbitrary || !distribution)) {
    const auto self = env.text("SLURMD_NODENAME");
    const std::vector<std::string> ranks = hostlist::expand(*list);
    const auto rank = static_cast<std::size_t>(*facts.rank);
    if (ranks.size() != static_cast<std::size_t>(*facts.world_size) || rank >= ranks.size() ||
        (self && *self != ranks[rank])) {
      fail_inconsistent("SLURM_ARBITRARY_NODELIST='" + std::string(list->substr(0, 80)) +
                            "' in rank " + std::to_string(rank) + " of " +
                            std::to_string(*facts.world_size) +
                            (self ? " on SLURMD_NODENAME=" + std::string(*self) : ""),
                        "the host of every rank, in rank order");
    }
    facts.rank0_host = ranks.front();
    facts.variables["master_addr"] = "SLURM_ARBITRARY_NODELIST";
    return;
  }
  facts.any_order = facts.any_order || is_arbitrary;
}

// The ranks of this node's tasks.
void check_gtids(const Env& env, const std::vector<int>& gtids, const LaunchFacts& facts) {
  if (gtids.empty()) return;
  const bool are_distinct = std::set<int>(gtids.begin(), gtids.end()).size() == gtids.size();
  const bool are_ranks =
      std::all_of(gtids.begin(), gtids.end(), [&](int rank) { return rank < *facts.world_size; });
  const bool are_all =
      !facts.local_size || gtids.size() == static_cast<std::size_t>(*facts.local_size);
  if (are_distinct && are_ranks && are_all) return;
  fail_inconsistent(
      "SLURM_GTIDS='" + std::string(env.text("SLURM_GTIDS")->substr(0, 80)) + "' in a step of " +
          std::to_string(*facts.world_size) + " tasks" +
          (facts.local_size ? ", " + std::to_string(*facts.local_size) + " of them on this node"
                            : ""),
      "the ranks of this node's tasks, each once");
}

// The first of the ports that slurmctld reserved on every node of this step, "12000-12003,12010",
// which Cray's PMI does not use: mpi/cray_shasta gives it the first one.
std::optional<int> reserved_port(const Env& env) {
  const auto text = env.text("SLURM_STEP_RESV_PORTS");
  if (!text) return std::nullopt;
  const std::string used = "," + std::string(env.text("PMI_CONTROL_PORT").value_or("")) + ",";
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t end = std::min(text->find(',', begin), text->size());
    const std::string_view range = text->substr(begin, end - begin);
    const auto first = parse_whole_number(range.substr(0, range.find('-')));
    const auto last = parse_whole_number(range.substr(range.find('-') + 1));
    if (!first || !last || *first < 1 || *last < *first || *last > 65535) {
      throw Error(ErrorCode::malformed_value, "SLURM_STEP_RESV_PORTS='" + std::string(*text) + "'",
                  "ports such as 12000-12003", "start the program with srun again");
    }
    for (auto port = *first; port <= *last; ++port) {
      if (used.find("," + std::to_string(port) + ",") == std::string::npos)
        return static_cast<int>(port);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

LaunchFacts read(const Env& env, const Facts&) {
  LaunchFacts facts;
  need(facts, "rank", facts.rank, env, "SLURM_PROCID", "srun");
  const SlurmStep step = slurm_step_of(env);
  if (!step.text) env.require_integer("SLURM_STEP_ID", "srun");
  const std::string found = step.variable + "='" + std::string(*step.text) + "'";
  if (!step.id) {
    throw Error(ErrorCode::malformed_value, found, "a step id (a 32-bit number)",
                "start the program with srun again");
  }
  if (!step.contradiction.empty()) {
    fail_inconsistent(found + " with " + step.contradiction, "variables of the same step");
  }
  facts.identity = std::to_string(*step.id);
  const std::vector<int> tasks_per_node = integers(env, "SLURM_STEP_TASKS_PER_NODE");
  const auto total = std::accumulate(tasks_per_node.begin(), tasks_per_node.end(), std::int64_t{0});
  const std::vector<int> gtids = integers(env, "SLURM_GTIDS");
  const auto mapping = mapping_of(env, step);
  read_nodes(env, tasks_per_node, facts);

  const bool one_entry_per_node =
      facts.num_nodes && tasks_per_node.size() == static_cast<std::size_t>(*facts.num_nodes);
  const auto fail_counts = [&](const std::string& tasks) {
    fail_inconsistent(tasks + "SLURM_STEP_TASKS_PER_NODE='" +
                          std::string(*env.text("SLURM_STEP_TASKS_PER_NODE")) + "'",
                      "counts per node that sum to the number of tasks");
  };
  if (take(facts, "world_size", facts.world_size, env, "SLURM_STEP_NUM_TASKS", 1)) {
    if (one_entry_per_node && total != *facts.world_size)
      fail_counts("SLURM_STEP_NUM_TASKS=" + std::to_string(*facts.world_size) + " with ");
  } else if (one_entry_per_node) {
    if (total > std::numeric_limits<int>::max()) fail_counts("");
    facts.world_size = static_cast<int>(total);
    facts.variables["world_size"] = "SLURM_STEP_TASKS_PER_NODE";
  } else if (mapping) {
    facts.world_size = mapping->size();
    facts.variables["world_size"] = kMapping;
  } else {
    // srun sets SLURM_NTASKS for the step, unless --preserve-env keeps the job's: hence last.
    need(facts, "world_size", facts.world_size, env,
         env.has("SLURM_NTASKS") ? "SLURM_NTASKS" : "SLURM_STEP_NUM_TASKS", "srun", 1);
  }

  // SLURM_GTIDS holds the ranks of this node's tasks in the order of their local ranks.
  const auto self = std::find(gtids.begin(), gtids.end(), *facts.rank);
  if (!take(facts, "local_rank", facts.local_rank, env, "SLURM_LOCALID")) {
    if (self != gtids.end()) {
      facts.local_rank = static_cast<int>(self - gtids.begin());
      facts.variables["local_rank"] = "SLURM_GTIDS";
    } else if (!mapping) {
      env.require_integer("SLURM_LOCALID", "srun");
    }
  } else if (!gtids.empty() && self - gtids.begin() != *facts.local_rank) {
    fail_inconsistent("SLURM_PROCID=" + std::to_string(*facts.rank) +
                          " and SLURM_LOCALID=" + std::to_string(*facts.local_rank) +
                          " with SLURM_GTIDS=" + std::string(*env.text("SLURM_GTIDS")),
                      "SLURM_PROCID at index SLURM_LOCALID of SLURM_GTIDS");
  }
  check_gtids(env, gtids, facts);
  if (!facts.local_size && !gtids.empty()) {
    facts.local_size = static_cast<int>(gtids.size());
    facts.variables["local_size"] = "SLURM_GTIDS";
  }
  if (mapping) apply_mapping(*mapping, facts);
  find_rank0(env, facts);
  facts.master_port = reserved_port(env);
  if (facts.master_port) facts.variables["master_port"] = "SLURM_STEP_RESV_PORTS";
  return facts;
}

}  // namespace

const LaunchSource kSlurm{"slurm",
                          Level::scheduler_step,
                          "the step's own variables, unless a launcher runs inside it",
                          "srun",
                          "https://slurm.schedmd.com/srun.html",
                          kVariables,
                          "the host of rank 0 with -m arbitrary",
                          {},
                          detect,
                          read};

}  // namespace hpcboot::sources
