#include "../invented.hpp"

namespace hpcboot::run {
namespace {

class LayoutTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    install({"ssh", "flux"});
    install_open_mpi();
  }
};

TEST_F(LayoutTest, IsThisHostAloneWhereNothingElseIsSaid) {
  EXPECT_EQ(layout(), "n1:1");
  EXPECT_TRUE(plan().layout.is_this_host_alone);
  s.visible_devices = 4;
  EXPECT_EQ(layout(), "n1:4");
  s.visible_devices = 0;
  EXPECT_EQ(layout(), "n1:1");
}

TEST_F(LayoutTest, TakesNumbersAndWordsPerNode) {
  s.visible_devices = 4;
  const std::map<std::string, std::string> expected = {
      {"3", "n1:3"}, {"gpu", "n1:4"}, {"numa", "n1:2"}, {"core", "n1:8"}};
  for (const auto& [words, hosts] : expected) {
    request.ranks_per_node = words;
    EXPECT_EQ(layout(), hosts) << words;
  }
  for (const char* wrong : {"0", "-1", "four", "", "99999999999", "2097152"}) {
    request.ranks_per_node = wrong;
    EXPECT_TRUE(holds(refusal(), "malformed_value: --ranks-per-node")) << wrong;
  }
}

TEST_F(LayoutTest, RefusesAGpuEachWhereNoneIsVisible) {
  request.ranks_per_node = "gpu";
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: --ranks-per-node gpu"));
}

TEST_F(LayoutTest, HasNoLimitOutsideAJob) {
  request.ranks = 100;
  EXPECT_EQ(layout(), "n1:100");
  request.ranks = 0;
  EXPECT_TRUE(holds(refusal(), "malformed_value: -n 0"));
}

TEST_F(LayoutTest, TakesHostsAndSlotsOfAHostfileInBothForms) {
  hostfile("n1 slots=4\nn2 slots=2 # small\n");
  EXPECT_EQ(layout(), "n1:4 n2:2");
  hostfile("n1:4\nn2:2\n");
  EXPECT_EQ(layout(), "n1:4 n2:2");
  request.nodes = 1;
  EXPECT_EQ(layout(), "n1:4");
  request.nodes = 3;
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: --nodes 3"));
}

TEST_F(LayoutTest, RefusesAHostfileWithoutHosts) {
  hostfile("# none\n");
  EXPECT_TRUE(holds(refusal(), "malformed_file"));
  request.hostfile = "missing";
  EXPECT_TRUE(holds(refusal(), "unreadable_file"));
}

// ssh would take it for an option, which may name a command to execute.
TEST_F(LayoutTest, RefusesWhatIsNoHostNameWhateverNamesIt) {
  hostfile("-Fconfig slots=1\n");
  EXPECT_TRUE(holds(refusal(), "malformed_file: '-Fconfig slots=1' in line 1"));
  request.hostfile.reset();
  for (const char* list : {"-oProxyCommand=x", "n1,-Fconfig", "n1,$(x)"}) {
    slurm({{"SLURM_JOB_NODELIST", list}});
    EXPECT_TRUE(holds(refusal(), "malformed_value: host '")) << list;
    EXPECT_TRUE(holds(refusal(), "in SLURM_JOB_NODELIST")) << list;
  }
  // The name of this host is not passed to a program.
  s.facts.hostname = "own name";
  job("pbs", {"own name"}, {1});
  EXPECT_EQ(layout(), "own name:1");
}

TEST_F(LayoutTest, FillsHostsInTheirOrder) {
  hostfile("n1:4\nn2:2\nn3:4\n");
  const std::map<int, std::string> expected = {
      {1, "n1:1"}, {4, "n1:4"}, {5, "n1:4 n2:1"}, {7, "n1:4 n2:2 n3:1"}, {10, "n1:4 n2:2 n3:4"}};
  for (const auto& [ranks, hosts] : expected) {
    request.ranks = ranks;
    EXPECT_EQ(layout(), hosts) << ranks;
  }
  request.ranks_per_node = "2";
  request.ranks = 5;
  EXPECT_EQ(layout(), "n1:2 n2:2 n3:1");
}

TEST_F(LayoutTest, RefusesMoreThanRanksPerNodeMakes) {
  hostfile("n1:4\nn2:4\n");
  request.ranks_per_node = "2";
  request.ranks = 5;
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: -n 5 with --ranks-per-node 2"));
  request.oversubscribe = true;
  EXPECT_TRUE(holds(refusal(), "at most 4 ranks on 2 hosts"));
}

TEST_F(LayoutTest, RefusesMoreThanGranted) {
  hostfile("n1:4\nn2:2\n");
  request.ranks = 7;
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: -n 7"));
  EXPECT_TRUE(holds(refusal(), "the 6 ranks granted on 2 hosts (hosts)"));
  EXPECT_TRUE(holds(refusal(), "--oversubscribe"));
  request.ranks.reset();
  request.ranks_per_node = "4";
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: 4 ranks on host n2"));
  request.oversubscribe = true;
  EXPECT_EQ(layout(), "n1:4 n2:4");
  request.ranks_per_node.reset();
  request.ranks = 9;
  EXPECT_EQ(layout(), "n1:5 n2:4");
}

TEST_F(LayoutTest, DealsWhatSlurmGranted) {
  slurm({{"SLURM_NTASKS", "4"}});
  EXPECT_EQ(layout(), "n1:2 n2:2");
  request.ranks = 3;
  EXPECT_EQ(layout(), "n1:2 n2:1");
  request.ranks = 16;  // as many as CPUs
  EXPECT_EQ(layout(), "n1:8 n2:8");
  request.ranks = 6;
  EXPECT_EQ(layout(), "n1:3 n2:3");
  request.ranks = 17;
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement"));
  EXPECT_TRUE(holds(refusal(), "--ntasks-per-node"));
}

TEST_F(LayoutTest, TakesUnevenTasksOfSlurm) {
  slurm({{"SLURM_NTASKS", "5"}, {"SLURM_TASKS_PER_NODE", "3,2"}});
  EXPECT_EQ(layout(), "n1:3 n2:2");
}

TEST_F(LayoutTest, WithoutTasksOfSlurmHasARankForEachGpuOrHost) {
  slurm();
  EXPECT_EQ(layout(), "n1:1 n2:1");
  slurm({{"SLURM_GPUS_ON_NODE", "4"}});
  EXPECT_EQ(layout(), "n1:4 n2:4");
  s.visible_devices = 3;
  EXPECT_EQ(layout(), "n1:3 n2:3");
  s.facts.hostname = "login";  // of salloc, with its own GPUs
  slurm({{"SLURM_GPUS_PER_NODE", "a100:2"}});
  EXPECT_EQ(layout(), "n1:2 n2:2");
  s.facts.hostname = "n1";
  // Few CPUs, many GPUs.
  slurm({{"SLURM_JOB_CPUS_PER_NODE", "1(x2)"}, {"SLURM_TASKS_PER_NODE", "1(x2)"}});
  EXPECT_EQ(layout(), "n1:3 n2:3");
  slurm({{"SLURM_NTASKS_PER_NODE", "2"}});
  EXPECT_EQ(layout(), "n1:2 n2:2");
}

TEST_F(LayoutTest, TakesEachComponentOfAHeterogeneousJobByItself) {
  heterogeneous_slurm();
  EXPECT_EQ(layout(), "n1:1 n2:2 n3:2");
  EXPECT_EQ(plan().set["OMP_NUM_THREADS"], "2");
  request.ranks = 16;  // as many as CPUs: 8, 4 and 4
  EXPECT_EQ(layout(), "n1:8 n2:4 n3:4");
  request.ranks = 17;
  EXPECT_TRUE(holds(refusal(), "at most the 16 ranks granted on 3 hosts"));
}

TEST_F(LayoutTest, CountsTheGpusOfEachComponentOfAHeterogeneousJob) {
  s.visible_devices = 0;  // on n1
  request.ranks_per_node = "gpu";
  heterogeneous_slurm({{"SLURM_GPUS_PER_NODE_HET_GROUP_1", "a100:4"}});
  EXPECT_EQ(layout(), "n2:4 n3:4");
  heterogeneous_slurm({{"SLURM_GPUS_HET_GROUP_0", "1"}, {"SLURM_GPUS_PER_NODE_HET_GROUP_1", "4"}});
  EXPECT_EQ(layout(), "n1:1 n2:4 n3:4");
  heterogeneous_slurm();
  EXPECT_TRUE(holds(refusal(), "no GPU is visible on this host"));
  s.visible_devices = 2;  // asked for by --gres, which Slurm does not tell
  EXPECT_EQ(layout(), "n1:2 n2:2 n3:2");
}

TEST_F(LayoutTest, TakesProcessesOfPbsByItself) {
  // qsub -l select=2:ncpus=4:mpiprocs=2
  job("pbs", {"n1", "n2"}, {2, 2});
  EXPECT_EQ(layout(), "n1:2 n2:2");
  s.visible_devices = 4;
  request.ranks_per_node = "3";
  EXPECT_TRUE(holds(refusal(), "3 ranks on host n1; expected at most the 2 ranks granted there"))
      << refusal();
  EXPECT_TRUE(holds(refusal(), "mpiprocs"));
}

TEST_F(LayoutTest, OnOneHostOfAJobTakesGpusWhereNobodyAskedForANumber) {
  job("pbs", {"n1"}, {1});
  EXPECT_EQ(layout(), "n1:1");
  s.visible_devices = 2;
  EXPECT_EQ(layout(), "n1:2");
  job("pbs", {"n1"}, {4});
  EXPECT_EQ(layout(), "n1:4");
}

TEST_F(LayoutTest, TakesSlotsOfGridEngineWithoutAnEnvironment) {
  set_env({{"JOB_ID", "7"}, {"SGE_TASK_ID", "undefined"}, {"NSLOTS", "4"}});
  EXPECT_EQ(layout(), "n1:4");
}

TEST_F(LayoutTest, RefusesAJobWhoseHostsCannotBeRead) {
  s.allocation = Allocation{};
  s.allocation->scheduler = "pbs";
  s.allocation->job_variable = "PBS_JOBID";
  EXPECT_TRUE(holds(refusal(), "missing_variable: PBS_JOBID is set, but not PBS_NODEFILE"));
  s.allocation->unreadable_file = "/var/spool/7";
  s.allocation->unreadable_reason = "No such file or directory";
  EXPECT_TRUE(holds(refusal(), "unreadable_file: "));
  EXPECT_TRUE(holds(refusal(), "/var/spool/7, cannot be read: No such file or directory"));
}

TEST_F(LayoutTest, AsksFluxForItsHosts) {
  set_env({{"FLUX_ENCLOSING_ID", "f1"}});
  EXPECT_TRUE(holds(refusal(), "backend_unavailable"));
  machine().outputs["flux getattr hostlist"] = "n[1-2]\n";
  machine().outputs["flux resource info"] = "2 Nodes, 8 Cores, 4 GPUs\n";
  EXPECT_EQ(layout(), "n1:2 n2:2");
  request.ranks_per_node = "4";
  EXPECT_EQ(layout(), "n1:4 n2:4");
  request.ranks_per_node = "5";
  EXPECT_TRUE(holds(refusal(), "the 4 ranks granted there"));
}

TEST_F(LayoutTest, TakesNoDamagedNumberOfFlux) {
  set_env({{"FLUX_ENCLOSING_ID", "f1"}});
  install({"flux"});
  machine().outputs["flux getattr hostlist"] = ",\n";  // no host, and nothing to divide by
  machine().outputs["flux resource info"] = "2 Nodes, 8 Cores, 0 GPUs\n";
  EXPECT_TRUE(holds(refusal(), "names no host"));
  machine().outputs["flux getattr hostlist"] = "n[1-2]\n";
  machine().outputs["flux resource info"] = "2 Nodes, 2147483647 Cores, -1 GPUs\n";
  machine().outputs["flux --parent job info f1 jobspec"] =
      R"({"resources":[{"type":"node","count":2,"with":[{"type":"slot","count":4294967297}]}]})";
  EXPECT_EQ(layout(), "n1:1 n2:1");
}

TEST_F(LayoutTest, AsksFluxForTheSlotsThatWereAskedFor) {
  set_env({{"FLUX_ENCLOSING_ID", "f1"}});
  install({"flux"});
  machine().outputs["flux getattr hostlist"] = "n[1-3]\n";
  machine().outputs["flux resource info"] = "3 Nodes, 12 Cores, 0 GPUs\n";
  const auto slots = [&](const std::string& resources) {
    machine().outputs["flux --parent job info f1 jobspec"] =
        R"({"resources": [)" + resources + R"(], "tasks": [], "version": 1})";
    return layout();
  };
  const auto slot = [](int count) {
    return R"({"type": "slot", "count": )" + std::to_string(count) +
           R"(, "with": [{"type": "core", "count": 2}], "label": "task"})";
  };
  const auto nodes_of = [&](int count) {
    return R"({"type": "node", "count": 3, "with": [)" + slot(count) + "]}";
  };
  EXPECT_EQ(slots(nodes_of(2)), "n1:2 n2:2 n3:2");  // -N3 -n6
  EXPECT_EQ(slots(slot(6)), "n1:2 n2:2 n3:2");      // -n6
  EXPECT_EQ(slots(slot(5)), "n1:2 n2:2 n3:1");
  machine().outputs["flux resource info"] = "3 Nodes, 5 Cores, 0 GPUs\n";
  EXPECT_EQ(slots(slot(5)), "n1:2 n2:2 n3:1");
  for (const std::string& none : {nodes_of(1), slot(3), std::string("{}"), std::string("5"),
                                  std::string(R"({"type": "node", "count": {"min": 1}})")})
    EXPECT_EQ(slots(none), "n1:1 n2:1 n3:1") << none;
}

TEST_F(LayoutTest, IsThisHostAloneByAnyOfItsNames) {
  for (const char* name : {"n1", "N1.cluster", "localhost", "127.0.0.1"}) {
    hostfile(name);
    EXPECT_TRUE(plan().layout.is_this_host_alone) << name;
  }
  for (const char* name : {"n2", "n11", "10.0.0.1"}) {
    hostfile(name);
    EXPECT_FALSE(plan().layout.is_this_host_alone) << name;
  }
  hostfile("n1:2\nn2:2");
  EXPECT_FALSE(plan().layout.is_this_host_alone);
  request.ranks = 2;
  EXPECT_TRUE(plan().layout.is_this_host_alone);
  EXPECT_TRUE(holds(plan().notes, "host n2 gets no rank"));
}

TEST_F(LayoutTest, SharesTheCoresAmongTheRanks) {
  const auto threads = [&] { return plan().set["OMP_NUM_THREADS"]; };
  install_open_mpi();
  request.launcher = "mpirun";
  request.ranks_per_node = "3";
  EXPECT_EQ(threads(), "2");
  request.ranks_per_node = "100";
  EXPECT_EQ(threads(), "1");
  request.launcher.reset();
  request.ranks_per_node.reset();
  slurm({{"SLURM_NTASKS", "3"},
         {"SLURM_TASKS_PER_NODE", "2,1"},
         {"SLURM_JOB_CPUS_PER_NODE", "12,4"}});
  EXPECT_EQ(threads(), "4");
  job("sge", {"n1", "n2"}, {6, 6});
  request.ranks_per_node = "2";
  EXPECT_EQ(threads(), "3");
  request.env = {"OMP_NUM_THREADS=5"};
  EXPECT_EQ(threads(), "5");
  request.env.clear();
  set_env({{"OMP_NUM_THREADS", "7"}});
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
}

// Which may be another one than this, with other cores.
TEST_F(LayoutTest, LeavesTheCoresOfAHostToItsAgentUnlessTheSchedulerCountsThem) {
  install({"ssh"});
  request.launcher = "local";
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
  request.launcher = "ssh";
  hostfile("n1:2\nn2:2\n");
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
  EXPECT_FALSE(holds(plan().exported, "OMP_NUM_THREADS"));
  request.hostfile.reset();
  slurm({{"SLURM_NTASKS", "4"}});
  EXPECT_EQ(plan().set["OMP_NUM_THREADS"], "4");
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_CPUS_PER_TASK", "3"}, {"SLURM_JOB_CPUS_PER_NODE", ""}});
  EXPECT_EQ(plan().set["OMP_NUM_THREADS"], "3");
}

TEST_F(LayoutTest, SharesTheCpusOfAChunkOfPbsAmongItsRanks) {
  const auto threads = [&] { return plan().set["OMP_NUM_THREADS"]; };
  const auto chunks_of_four = [&](const std::string& omp) {
    set_env({{"NCPUS", "4"}, {"OMP_NUM_THREADS", omp}});
    job("pbs", {"n1", "n2"}, {2, 2});
  };
  install({"ssh"});
  chunks_of_four("4");  // as PBS itself sets it
  EXPECT_EQ(threads(), "2");
  EXPECT_TRUE(holds(plan().notes,
                    "OMP_NUM_THREADS is set to 2; PBS sets 4 for all ranks of a chunk; --env "
                    "OMP_NUM_THREADS keeps that"));
  request.env = {"OMP_NUM_THREADS"};
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
  request.env.clear();
  chunks_of_four("3");  // requested by ompthreads
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
  chunks_of_four("4");
  job("pbs", {"n1", "n2"}, {1, 1});
  EXPECT_EQ(plan().set.count("OMP_NUM_THREADS"), 0U);
  EXPECT_TRUE(plan().notes.empty());
}

TEST_F(LayoutTest, WantsEvenHostsForTorchrun) {
  hostfile("n1:4\nn2:2\n");
  request.torchrun = true;
  EXPECT_TRUE(
      holds(refusal(), "inconsistent_placement: --torchrun with 4 ranks on n1 and 2 on n2"));
  request.ranks_per_node = "2";
  EXPECT_EQ(layout(), "n1:1 n2:1");
  EXPECT_EQ(plan().notes, std::vector<std::string>{"torchrun starts 2 ranks on each host"});
}

TEST_F(LayoutTest, StartsATorchrunByEachAgent) {
  hostfile("n1:2\nn2:2\n");
  request.torchrun = true;
  request.launcher = "ssh";
  ASSERT_EQ(plan().agents.size(), 2U);
  EXPECT_TRUE(holds(command(), "/opt/hpcboot run-rank --timeout 60 --torchrun 2 -- ./train"));
}

TEST_F(LayoutTest, DealsManyHostsQuickly) {
  std::string hosts;
  for (int i = 0; i < 20000; ++i) hosts += "n" + std::to_string(i) + ":64\n";
  hostfile(hosts);
  request.ranks = 640001;
  EXPECT_EQ(plan().layout.hosts.size(), 10001U);
  EXPECT_EQ(plan().layout.world_size(), 640001);
}

}  // namespace
}  // namespace hpcboot::run
