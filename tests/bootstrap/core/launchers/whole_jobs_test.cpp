#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/resolve.hpp"
#include "support/apinfo_file.hpp"

// Whole jobs of every launcher in many layouts: in each, the library computes the ranks that were
// assigned, and together they form a job.
namespace hpcboot {
namespace {

using Variables = std::map<std::string, std::string>;

struct Task {
  int rank, local_rank, node;
};

struct Layout {
  std::string name;
  std::vector<std::string> hosts;
  std::vector<Task> tasks;  // by rank
  std::vector<int> sizes;   // tasks on each host

  int world_size() const { return static_cast<int>(tasks.size()); }
  int size_at(const Task& task) const { return sizes[static_cast<std::size_t>(task.node)]; }
  std::vector<int> node_of_rank() const {
    std::vector<int> nodes;
    for (const Task& task : tasks) nodes.push_back(task.node);
    return nodes;
  }
};

// Assigns ranks to nodes of these sizes cyclically, `plane` at a time; 0 fills each node at once.
Layout deal(const std::string& name, std::vector<int> sizes, int plane) {
  Layout layout{name, {}, {}, sizes};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    layout.hosts.push_back("n" + std::to_string(i + 1));
  std::vector<int> given(sizes.size(), 0);
  const int total = std::accumulate(sizes.begin(), sizes.end(), 0);
  while (layout.world_size() < total) {
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      for (int i = 0; (plane == 0 || i < plane) && given[node] < sizes[node]; ++i) {
        layout.tasks.push_back({layout.world_size(), given[node]++, static_cast<int>(node)});
      }
    }
  }
  return layout;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  const std::vector<std::vector<int>> shapes = {
      {1}, {4}, {1, 1}, {2, 2}, {2, 1}, {1, 3}, {4, 2, 4}, {8, 8, 8}, {3, 1, 2, 5}, {1, 1, 1, 1}};
  for (const auto& sizes : shapes) {
    std::string shape;
    for (const int size : sizes) shape += (shape.empty() ? "" : "+") + std::to_string(size);
    all.push_back(deal("block " + shape, sizes, 0));
    all.push_back(deal("cyclic " + shape, sizes, 1));
    all.push_back(deal("plane " + shape, sizes, 2));
  }
  return all;
}

std::string number(int value) {
  return std::to_string(value);
}

struct Launcher {
  std::string name;
  std::function<Variables(const Layout&, const Task&)> variables;
  std::function<bool(const Layout&)> can = [](const Layout&) { return true; };
  int apinfo_version = 0;
  bool knows_nodes = false;  // has node index, number of nodes and local size: needs no exchange
  bool is_whole = true;      // false for an environment that is already incomplete
};

Variables slurm(const Layout& layout, const Task& task) {
  std::string gtids;
  for (const Task& other : layout.tasks) {
    if (other.node == task.node) gtids += (gtids.empty() ? "" : ",") + number(other.rank);
  }
  std::string per_node;
  for (const int size : layout.sizes) per_node += (per_node.empty() ? "" : ",") + number(size);
  return {{"SLURM_JOB_ID", "5"},
          {"SLURM_JOB_NODELIST", hostlist::compress(layout.hosts)},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", number(task.rank)},
          {"SLURM_LOCALID", number(task.local_rank)},
          {"SLURM_NODEID", number(task.node)},
          {"SLURM_STEP_NUM_TASKS", number(layout.world_size())},
          {"SLURM_STEP_NUM_NODES", number(static_cast<int>(layout.hosts.size()))},
          {"SLURM_STEP_NODELIST", hostlist::compress(layout.hosts)},
          {"SLURM_STEP_TASKS_PER_NODE", per_node},
          {"SLURM_GTIDS", gtids},
          {"SLURMD_NODENAME", layout.hosts[static_cast<std::size_t>(task.node)]}};
}

// Only the rank and the node map of mpi/pmix.
Variables slurm_by_mapping(const Layout& layout, const Task& task) {
  Variables variables = slurm(layout, task);
  for (const char* name : {"SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_NUM_TASKS", "SLURM_GTIDS",
                           "SLURM_STEP_TASKS_PER_NODE", "SLURMD_NODENAME"})
    variables.erase(name);
  std::string mapping = "(vector";
  for (const Task& each : layout.tasks) mapping += ",(" + number(each.node) + ",1,1)";
  variables["SLURM_PMIX_MAPPING_SERV"] = mapping + ")";
  variables["PMIX_NAMESPACE"] = "slurm.pmix.5.0";
  variables["PMIX_RANK"] = number(task.rank);
  return variables;
}

Variables shasta(const Layout& layout, const Task& task) {
  Variables variables = slurm(layout, task);
  for (const auto& [name, value] :
       {std::pair("PALS_RANKID", task.rank), std::pair("PALS_LOCAL_RANKID", task.local_rank),
        std::pair("PALS_NODEID", task.node), std::pair("PMI_RANK", task.rank),
        std::pair("PMI_SIZE", layout.world_size()), std::pair("PMI_LOCAL_RANK", task.local_rank),
        std::pair("PMI_LOCAL_SIZE", layout.size_at(task))})
    variables[name] = number(value);
  return variables;
}

Variables pals(const Layout& layout, const Task& task) {
  return {
      {"PALS_RANKID", number(task.rank)},        {"PALS_LOCAL_RANKID", number(task.local_rank)},
      {"PALS_NODEID", number(task.node)},        {"PALS_LOCAL_SIZE", number(layout.size_at(task))},
      {"PMI_SIZE", number(layout.world_size())}, {"PMI_RANK", number(task.rank)}};
}

Variables pals_rank_only(const Layout&, const Task& task) {
  return {{"PALS_RANKID", number(task.rank)}, {"PALS_APINFO", "/spool/apinfo"}};
}

// Four names with a common prefix, as most launchers have them.
std::function<Variables(const Layout&, const Task&)> four(const char* rank, const char* size,
                                                          const char* local_rank,
                                                          const char* local_size) {
  return [=](const Layout& layout, const Task& task) {
    return Variables{{rank, number(task.rank)},
                     {size, number(layout.world_size())},
                     {local_rank, number(task.local_rank)},
                     {local_size, number(layout.size_at(task))}};
  };
}

Variables torchrun(const Layout& layout, const Task& task) {
  Variables variables = four("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")(layout, task);
  variables.insert({{"TORCHELASTIC_RUN_ID", "r"},
                    {"GROUP_RANK", number(task.node)},
                    {"GROUP_WORLD_SIZE", number(static_cast<int>(layout.hosts.size()))},
                    {"MASTER_ADDR", layout.hosts.front()},
                    {"MASTER_PORT", "29500"}});
  return variables;
}

Variables flux(const Layout& layout, const Task& task) {
  return {{"FLUX_TASK_RANK", number(task.rank)},
          {"FLUX_JOB_SIZE", number(layout.world_size())},
          {"FLUX_TASK_LOCAL_ID", number(task.local_rank)},
          {"FLUX_JOB_NNODES", number(static_cast<int>(layout.hosts.size()))},
          {"FLUX_JOB_ID", "ƒD2e73NP"},
          {"PMI_RANK", number(task.rank)},
          {"PMI_SIZE", number(layout.world_size())},
          {"PMI_FD", "9"}};
}

Variables explicit_settings(const Layout& layout, const Task& task) {
  Variables variables = four("HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE", "HPCBOOT_LOCAL_RANK",
                             "HPCBOOT_LOCAL_SIZE")(layout, task);
  variables["HPCBOOT_NODE_RANK"] = number(task.node);
  variables["HPCBOOT_NUM_NODES"] = number(static_cast<int>(layout.hosts.size()));
  return variables;
}

Variables sagemaker(const Layout& layout, const Task& task) {
  std::string hosts;
  for (const auto& host : layout.hosts) hosts += (hosts.empty() ? "[\"" : "\",\"") + host;
  return {{"SM_HOSTS", hosts + "\"]"},
          {"SM_CURRENT_HOST", layout.hosts[static_cast<std::size_t>(task.node)]}};
}

Variables kubernetes(const Layout& layout, const Task& task) {
  return {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
          {"RANK", number(task.rank)},
          {"WORLD_SIZE", number(layout.world_size())},
          {"PET_NNODES", number(layout.world_size())},
          {"PET_NPROC_PER_NODE", "1"}};
}

std::vector<Launcher> launchers() {
  const auto one_each = [](const Layout& l) { return l.tasks.size() == l.hosts.size(); };
  const auto any = [](const Layout&) { return true; };
  return {
      {"explicit", explicit_settings, any, 0, true},
      {"torchrun", torchrun, any, 0, true},
      {"openmpi", four("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                       "OMPI_COMM_WORLD_LOCAL_SIZE")},
      {"mvapich", four("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
                       "MV2_COMM_WORLD_LOCAL_SIZE")},
      {"hydra", four("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")},
      {"pals", pals},
      {"pals", pals, any, 5, true},
      {"pals", pals_rank_only, any, 1, true},
      {"pals", pals_rank_only, any, 5, true},
      {"flux", flux},
      {"slurm", slurm, any, 0, true},
      {"slurm", slurm_by_mapping, any, 0, true, false},
      {"slurm", shasta, any, 5, true},
      {"lsf", four("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
                   "JSM_NAMESPACE_LOCAL_SIZE")},
      {"kubernetes", kubernetes, one_each, 0, true},
      {"sagemaker", sagemaker, one_each, 0, true},
      {"generic", four("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")},
  };
}

Resolution resolve_task(const Launcher& launcher, const Layout& layout, const Task& task) {
  Facts facts;
  facts.hostname = layout.hosts[static_cast<std::size_t>(task.node)];
  if (launcher.apinfo_version != 0) {
    facts.apinfo = test::apinfo_file(launcher.apinfo_version, layout.hosts, layout.node_of_rank());
  }
  return resolve(Env(launcher.variables(layout, task)), facts);
}

void expect_placed(const Launcher& launcher, const Layout& layout, const Task& task,
                   const Resolution& r) {
  const Placement& p = r.placement;
  EXPECT_EQ(r.launcher, launcher.name);
  EXPECT_EQ(p.rank, task.rank);
  EXPECT_EQ(p.world_size, layout.world_size());
  EXPECT_EQ(p.local_rank, task.local_rank);
  // Unknown is not an error if the launcher provides no more.
  const auto at = [&](const std::optional<int>& said, int dealt) {
    return launcher.knows_nodes || said ? said == dealt : true;
  };
  EXPECT_TRUE(at(p.local_size, layout.size_at(task))) << p.local_size.value_or(-1);
  EXPECT_TRUE(at(p.node_rank, task.node)) << p.node_rank.value_or(-1);
  EXPECT_TRUE(at(p.num_nodes, static_cast<int>(layout.hosts.size()))) << p.num_nodes.value_or(-1);
  EXPECT_TRUE(r.hosts.empty() || r.hosts == layout.hosts) << hostlist::compress(r.hosts);
}

TEST(WholeJobs, EveryTaskIsPlacedWhereItWasDealt) {
  for (const Launcher& launcher : launchers()) {
    for (const Layout& layout : layouts()) {
      if (!launcher.can(layout)) continue;
      for (const Task& task : layout.tasks) {
        SCOPED_TRACE(launcher.name + ", " + layout.name + ", rank " + number(task.rank));
        expect_placed(launcher, layout, task, resolve_task(launcher, layout, task));
      }
    }
  }
}

TEST(WholeJobs, TheRanksMakeAJob) {
  for (const Launcher& launcher : launchers()) {
    for (const Layout& layout : layouts()) {
      if (!launcher.can(layout)) continue;
      SCOPED_TRACE(launcher.name + ", " + layout.name);
      std::set<int> ranks;
      std::set<std::pair<std::string, int>> places;
      std::map<std::string, int> sizes;
      std::set<std::vector<std::string>> hosts;
      for (const Task& task : layout.tasks) {
        const Resolution r = resolve_task(launcher, layout, task);
        const std::string& host = layout.hosts[static_cast<std::size_t>(task.node)];
        ranks.insert(r.placement.rank);
        places.emplace(host, r.placement.local_rank);
        if (r.placement.local_size) sizes[host] = *r.placement.local_size;
        if (layout.hosts.size() > 1) hosts.insert(r.hosts);
      }
      EXPECT_EQ(ranks.size(), layout.tasks.size());
      EXPECT_EQ(*ranks.rbegin(), layout.world_size() - 1);
      EXPECT_EQ(places.size(), layout.tasks.size());
      EXPECT_LE(hosts.size(), 1U) << "ranks disagree on the hosts";
      if (sizes.size() != layout.hosts.size()) continue;
      int total = 0;
      for (const auto& [host, size] : sizes) total += size;
      EXPECT_EQ(total, layout.world_size());
    }
  }
}

// One variable lost or garbled: the answer is right, or an error names the variable.
TEST(WholeJobs, DamageIsRefusedByNameOrDoesNoHarm) {
  for (const Launcher& launcher : launchers()) {
    for (const Layout& layout : layouts()) {
      if (!launcher.can(layout) || !launcher.is_whole || layout.tasks.size() < 2) continue;
      const Task& task = layout.tasks[layout.tasks.size() / 2];
      const Variables whole = launcher.variables(layout, task);
      for (const auto& [name, value] : whole) {
        for (const char* damage : {"", "x", "1x", "-7", "4294967296"}) {
          SCOPED_TRACE(launcher.name + ", " + layout.name + ", " + name + "='" + damage + "'");
          Launcher damaged = launcher;
          damaged.variables = [&, &changed = name](const Layout&, const Task&) {
            Variables variables = whole;
            variables[changed] = damage;
            return variables;
          };
          if (!parse_whole_number(value)) continue;
          try {
            const Resolution r = resolve_task(damaged, layout, task);
            EXPECT_EQ(r.placement.rank, task.rank);
            EXPECT_EQ(r.placement.world_size, layout.world_size());
            EXPECT_EQ(r.placement.local_rank, task.local_rank);
            EXPECT_EQ(r.placement.local_size.value_or(layout.size_at(task)), layout.size_at(task));
            EXPECT_EQ(r.placement.node_rank.value_or(task.node), task.node);
          } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hpcboot
