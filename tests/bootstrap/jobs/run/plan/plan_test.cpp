#include "../invented.hpp"

namespace hpcboot::run {
namespace {

class PlanTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    install({"ssh"});
    hostfile("n1:2\nn2:2\n");
  }
};

TEST_F(PlanTest, ExportsWhatIsNotOfASessionOrAHost) {
  std::map<std::string, std::string> variables;
  for (const char* name :
       {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "NCCL_DEBUG", "CUDA_VISIBLE_DEVICES", "TMPDIR",
        "OMPI_MCA_btl", "MY_TOKEN", "lower", "EMPTY"})
    variables[name] = "x";
  variables["EMPTY"] = "";
  set_env(variables);
  for (const auto& [name, value] : variables) EXPECT_TRUE(holds(plan().exported, name)) << name;

  for (const char* name : {"HOSTNAME",
                           "HOST",
                           "SSH_AUTH_SOCK",
                           "SSH_CONNECTION",
                           "DISPLAY",
                           "XDG_RUNTIME_DIR",
                           "XDG_SESSION_ID",
                           "DBUS_SESSION_BUS_ADDRESS",
                           "TERM",
                           "TERMCAP",
                           "PWD",
                           "OLDPWD",
                           "SHLVL",
                           "_",
                           "HOME",
                           "USER",
                           "LOGNAME",
                           "SHELL",
                           "MAIL",
                           "LS_COLORS",
                           "BASH_FUNC_module%%",
                           "A.B",
                           "RANK",
                           "LOCAL_RANK",
                           "OMPI_COMM_WORLD_RANK",
                           "PMI_RANK",
                           "PMIX_RANK"})
    variables[name] = "1";
  const std::vector<std::string> before = plan().exported;
  set_env(variables);
  EXPECT_EQ(plan().exported, before);
}

TEST_F(PlanTest, ExportsNothingThatASchedulerMadeForOneHost) {
  set_env(
      {{"TMPDIR", "/tmp/7"}, {"CUDA_VISIBLE_DEVICES", "2,3"}, {"PBS_JOBCOOKIE", "c"}, {"A", "b"}});
  job("pbs", {"n1", "n2"}, {2, 2});
  request.hostfile.reset();
  EXPECT_EQ(exported(), std::vector<std::string>{"A"});
  request.env = {"CUDA_VISIBLE_DEVICES"};
  EXPECT_TRUE(holds(plan().exported, "CUDA_VISIBLE_DEVICES"));
}

TEST_F(PlanTest, HandsOnWhatRunHandsOverToARankWithoutAnAgent) {
  install_open_mpi();
  for (const char* name : {"HPCBOOT_RUN_ID", "HPCBOOT_RUN_SIZE", "HPCBOOT_RUN_SECRET",
                           "HPCBOOT_RUN_HOSTS", "HPCBOOT_RUN_CONTROL"})
    EXPECT_TRUE(holds(plan().exported, name)) << name;
  request.launcher = "ssh";
  EXPECT_EQ(plan().exported, exported());
}

TEST_F(PlanTest, LeavesWhatMpirunHandsOnItself) {
  set_env({{"OMPI_MCA_btl", "tcp"}, {"PMIX_MCA_gds", "hash"}, {"A", "b"}});
  install_open_mpi();
  EXPECT_EQ(exported(), (std::vector<std::string>{"A", "OMP_NUM_THREADS"}));
  install_hydra();
  EXPECT_TRUE(holds(plan().exported, "OMPI_MCA_btl"));
}

TEST_F(PlanTest, SetsAndHandsOnWhatTheUserNames) {
  set_env({{"DISPLAY", ":0"}, {"RANK", "3"}, {"WORLD_SIZE", "4"}});
  request.env = {"A=1=2", "EMPTY=", "DISPLAY", "MISSING", "WORLD_SIZE=8"};
  const Plan made = plan();
  EXPECT_EQ(made.set.at("A"), "1=2");
  EXPECT_EQ(made.set.at("EMPTY"), "");
  EXPECT_EQ(made.set.at("WORLD_SIZE"), "8");
  EXPECT_TRUE(holds(made.exported, "DISPLAY"));
  EXPECT_FALSE(holds(made.exported, "MISSING"));
  EXPECT_TRUE(holds(made.notes, "--env MISSING: not set in this environment"));
  EXPECT_TRUE(holds(made.unset, "RANK"));
  EXPECT_FALSE(holds(made.unset, "WORLD_SIZE"));
}

TEST_F(PlanTest, RefusesNamesThatNoShellTakesAndShowsNoValue) {
  for (const char* name : {"", "1A", "A-B", "A B", "BASH_FUNC_f%%"}) {
    request.env = {std::string(name) + "=hush"};
    EXPECT_TRUE(holds(refusal(), "malformed_value: --env")) << name;
    EXPECT_FALSE(holds(refusal(), "hush")) << name;
  }
}

TEST_F(PlanTest, KeepsWhatThePbsTaskManagerAsksFor) {
  set_env({{"PBS_TASKNUM", "1"}, {"PBS_NODENUM", "0"}});
  EXPECT_FALSE(holds(plan().unset, "PBS_TASKNUM"));
  EXPECT_FALSE(holds(plan().unset, "PBS_NODENUM"));
}

TEST_F(PlanTest, IsShownToPeople) {
  install_open_mpi();
  set_env({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"PATH", "/bin"}});
  request.env = {"GREETING=good day", "PASSWORD=hush"};
  request.command = {"python3", "my train.py"};
  const std::string text = dry_run_text(plan());
  for (const char* part : {"launcher: mpirun (Open MPI): --hostfile, and mpirun is in PATH\n",
                           "4 ranks on 2 hosts, from hosts", "GREETING='good day'",
                           "PASSWORD=REDACTED", "n1 slots=2\nn2 slots=2\n",
                           "env -u RANK -u WORLD_SIZE GREETING='good day' OMP_NUM_THREADS=4 "
                           "PASSWORD=REDACTED /invented/mpirun",
                           "-- python3 'my train.py'\n"})
    EXPECT_TRUE(holds(text, part)) << part << "\n" << text;
  EXPECT_FALSE(holds(text, "hush"));
}

TEST_F(PlanTest, IsShownWithEachHostsAgent) {
  const std::string text = dry_run_text(plan());
  for (const char* part :
       {"n1: /opt/hpcboot run-agent\n",
        "n2: ssh -o BatchMode=yes -o ConnectTimeout=10 -- n2 /opt/hpcboot run-agent\n",
        "each rank:\n  ./train --epochs 3\n"})
    EXPECT_TRUE(holds(text, part)) << part << "\n" << text;
}

TEST_F(PlanTest, IsShownWithOneEmptyLineBetweenItsParts) {
  set_env({{"RANK", "1"}, {"PATH", "/bin"}});
  EXPECT_FALSE(holds(dry_run_text(plan()), "\n\n\n"));
  set_env({});
  request.env.clear();
  EXPECT_FALSE(holds(dry_run_text(plan()), "\n\n\n"));
  install_open_mpi();
  EXPECT_FALSE(holds(dry_run_text(plan()), "\n\n\n"));
}

TEST_F(PlanTest, IsShownInEightyColumns) {
  std::string hosts;
  for (int i = 0; i < 300; ++i)
    hosts += "rack" + std::to_string(i * 7919 % 1000) + "-of-a-large-cluster" + ":4\n";
  hostfile(hosts);
  std::map<std::string, std::string> variables;
  for (int i = 0; i < 100; ++i) variables["VARIABLE_" + std::to_string(i)] = "x";
  set_env(variables);
  std::string text = dry_run_text(plan());
  text = text.substr(0, text.find("agents:"));
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_LE(longest, 80U) << text;
  EXPECT_GT(longest, 60U);
}

Surroundings of_this_process(const char* variable, const char* value) {
  return Surroundings::of_this_process(Env(std::map<std::string, std::string>{{variable, value}}));
}

TEST_F(PlanTest, OfThisProcessKnowsItsMachine) {
  const Surroundings here = of_this_process("PATH", "/nowhere:/bin");
  EXPECT_GE(here.cores, 1);
  EXPECT_GE(here.numa_nodes, 1);
  EXPECT_LE(here.numa_nodes, here.cores);
  EXPECT_TRUE(holds(here.self, "run_plan_tests"));
  EXPECT_EQ(here.find_program(here.env, "sh"), "/bin/sh");
  EXPECT_EQ(here.find_program(here.env, "no-such-program"), "");
  EXPECT_EQ(here.find_program(here.env, "/bin"), "");
  EXPECT_EQ(here.output_of({"sh", "-c", "echo out; echo err >&2; exit 3"}), "out\nerr\n");
  EXPECT_EQ(here.output_of({"no-such-program"}), "");
  EXPECT_EQ(here.output_of({"cat"}), "");  // without input
  EXPECT_LE(here.output_of({"yes"}).size(), (1U << 20U) + 4096);
  EXPECT_THROW(here.read_file("/no/such/file"), Error);
}

TEST_F(PlanTest, OfThisProcessCountsVisibleDevices) {
  const auto count = [](const char* mask) {
    return of_this_process("ROCR_VISIBLE_DEVICES", mask).visible_devices;
  };
  EXPECT_EQ(count("0,1,2"), 3);
  EXPECT_EQ(count(""), 0);
}

}  // namespace
}  // namespace hpcboot::run
