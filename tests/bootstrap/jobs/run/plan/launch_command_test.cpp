#include <unistd.h>

#include "../invented.hpp"
#include "elf_program.hpp"
#include "jobs/run/plan/hidden_colon.hpp"

namespace hpcboot::run {
namespace {

constexpr const char* kRank = "/opt/hpcboot run-rank --timeout 60 -- ./train --epochs 3";

class LaunchCommandTest : public InventedMachine {
 protected:
  void TearDown() override {
    if (!program_.empty()) unlink(program_.c_str());
  }

  void link_to(const char* library) {
    program_ = write_program(ElfProgram({library}).bytes());
    machine().programs["./train"] = program_;
  }

  std::string program_;
};

TEST_F(LaunchCommandTest, OfSrun) {
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_EXPORT_ENV", "NONE"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(command(),
            "srun --nodes=2 --ntasks=4 --ntasks-per-node=2 --input=0 --kill-on-bad-exit=1 --wait=0 "
            "--export=ALL " +
                std::string(kRank));
  EXPECT_TRUE(holds(plan().unset, "SLURM_EXPORT_ENV"));
  EXPECT_TRUE(holds(plan().unset, "SLURM_PROCID"));
  EXPECT_FALSE(holds(plan().unset, "SLURM_JOB_ID"));
  EXPECT_FALSE(holds(plan().unset, "SLURM_HOSTFILE"));  // it is not set
  EXPECT_TRUE(plan().hostfile.empty());
}

TEST_F(LaunchCommandTest, OfSrunOnSomeOfTheHosts) {
  slurm({{"SLURM_NTASKS", "4"}});
  request.nodes = 1;
  EXPECT_TRUE(holds(command(), "srun --nodes=1 --ntasks=2 --ntasks-per-node=2 --nodelist=n1 "));
}

TEST_F(LaunchCommandTest, OfSrunWithUnevenHosts) {
  slurm({{"SLURM_NTASKS", "3"}, {"SLURM_TASKS_PER_NODE", "2,1"}, {"SLURM_NTASKS_PER_NODE", "2"}});
  EXPECT_TRUE(
      holds(command(), "srun --nodes=2 --ntasks=3 --distribution=arbitrary --input=0 --kill"));
  EXPECT_EQ(plan().set["SLURM_HOSTFILE"], kHostfileWord);
  EXPECT_EQ(plan().hostfile_word, 0U);
  EXPECT_EQ(plan().hostfile, "n1\nn1\nn2\n");
  EXPECT_TRUE(holds(plan().unset, "SLURM_NTASKS_PER_NODE"));
}

TEST_F(LaunchCommandTest, OfSrunWithTheCpusOfATask) {
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_CPUS_PER_TASK", "3"}});
  EXPECT_TRUE(holds(command(), " --cpus-per-task=3 "));
  request.ranks_per_node = "4";  // of 8 CPUs
  EXPECT_TRUE(holds(command(), " --cpus-per-task=2 "));
  EXPECT_EQ(plan().set["OMP_NUM_THREADS"], "2");
  request.ranks_per_node.reset();
  EXPECT_EQ(plan().set["OMP_NUM_THREADS"], "3");
  request.torchrun = true;
  EXPECT_TRUE(holds(command(), "--ntasks=2 --ntasks-per-node=1 --cpus-per-task=6 "));
  EXPECT_TRUE(holds(command(), " --torchrun 2 -- ./train"));
}

TEST_F(LaunchCommandTest, OfSrunInAStepThatHoldsTheCpus) {
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "4294967290"}});
  EXPECT_EQ(plan().set.count("SLURM_OVERLAP"), 0U);  // an interactive step shares its own
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(plan().set["SLURM_OVERLAP"], "1");
  install_open_mpi();
  request.launcher = "mpirun";
  EXPECT_EQ(plan().set["SLURM_OVERLAP"], "1");
}

TEST_F(LaunchCommandTest, OfSrunWithMoreRanksThanCpus) {
  slurm({{"SLURM_GPUS_PER_NODE", "4"}, {"SLURM_JOB_CPUS_PER_NODE", "1(x2)"}});
  EXPECT_TRUE(holds(command(), "--ntasks=8 --ntasks-per-node=4 "));
  EXPECT_TRUE(holds(command(), " --overcommit "));
  EXPECT_TRUE(holds(plan().notes,
                    "4 ranks on host n1 share 1 CPU: ask for more with "
                    "--cpus-per-gpu or --ntasks-per-node"));
  slurm({{"SLURM_GPUS_PER_NODE", "4"}, {"SLURM_JOB_CPUS_PER_NODE", "4(x2)"}});
  EXPECT_FALSE(holds(command(), "--overcommit"));
  EXPECT_TRUE(plan().notes.empty());
}

TEST_F(LaunchCommandTest, OfSrunForgetsTheTasksOfAGpu) {
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_NTASKS_PER_GPU", "1"}});
  EXPECT_TRUE(holds(plan().unset, "SLURM_NTASKS_PER_GPU"));
  heterogeneous_slurm({{"SLURM_NTASKS_PER_GPU_HET_GROUP_1", "1"}});
  EXPECT_TRUE(holds(plan().unset, "SLURM_NTASKS_PER_GPU_HET_GROUP_1"));
}

TEST_F(LaunchCommandTest, OfSrunGivesATorchrunTheGpusOfItsRanks) {
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_GPUS_PER_TASK", "h200:2"}, {"SLURM_GPU_BIND", "single:1"}});
  EXPECT_FALSE(holds(command(), "--gpus"));
  EXPECT_TRUE(plan().unset.empty());
  request.torchrun = true;
  EXPECT_TRUE(holds(command(), " --gpus-per-node=4 "));
  EXPECT_TRUE(holds(plan().unset, "SLURM_GPUS_PER_TASK"));
  EXPECT_TRUE(holds(plan().unset, "SLURM_GPU_BIND"));
}

TEST_F(LaunchCommandTest, OfSrunWithTheGpusOfEachHost) {
  slurm({{"SLURM_GPUS", "4"}, {"SLURM_GPUS_ON_NODE", "3"}});
  machine().outputs["scontrol --details show job 7"] =
      "JobId=7\n   NumNodes=2\n   JOB_GRES=gpu:h200:4\n"
      "     Nodes=n1 CPU_IDs=0-1 Mem=0 GRES=nvme:9,gpu:h200:2(IDX:0,2),gpu:1(IDX:3)\n"
      "     Nodes=n2 CPU_IDs=0-1 Mem=0 GRES=gpu:h200:1(IDX:0)\n";
  EXPECT_EQ(layout(), "n1:3 n2:1");
  EXPECT_FALSE(holds(command(), "--gpus"));
  request.nodes = 1;
  EXPECT_TRUE(holds(command(), "--ntasks=3 --ntasks-per-node=3 --nodelist=n1 --gpus=3 "));
  machine().outputs["scontrol --details show job 7"] =
      "     Nodes=n[1-2] CPU_IDs=0-1 Mem=0 GRES_IDX=gpu(IDX:0-1)\n";
  request.nodes.reset();
  EXPECT_EQ(layout(), "n1:3 n2:3");
}

TEST_F(LaunchCommandTest, OfSrunInAHeterogeneousJob) {
  heterogeneous_slurm();
  request.launcher_args = {"--verbose"};
  EXPECT_EQ(command(),
            "srun --het-group=0 --nodes=1 --ntasks=1 --ntasks-per-node=1 --input=0 "
            "--kill-on-bad-exit=1 --wait=0 --export=ALL --verbose " +
                std::string(kRank) +
                " : --het-group=1 --nodes=2 --ntasks=4 --ntasks-per-node=2 --cpus-per-task=2 "
                "--input=none --kill-on-bad-exit=1 --wait=0 --export=ALL --verbose " +
                kRank);
  request.nodes = 2;
  EXPECT_TRUE(holds(command(), " --ntasks-per-node=1 --nodelist=n1 "));
  EXPECT_TRUE(holds(command(),
                    "--het-group=1 --nodes=1 --ntasks=2 --ntasks-per-node=2 "
                    "--nodelist=n2 --cpus-per-task=2 "));
  request.nodes = 1;  // srun without --het-group takes the first component
  EXPECT_TRUE(holds(command(), "srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --nodelist=n1 "));
  EXPECT_FALSE(holds(command(), " : "));
}

TEST_F(LaunchCommandTest, RefusesWhatSrunCannotStartInAHeterogeneousJob) {
  heterogeneous_slurm();
  request.ranks = 4;
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: different numbers of ranks on the hosts"));
  request.ranks = 3;  // one component has one host with ranks
  EXPECT_EQ(refusal(), "");
}

TEST_F(LaunchCommandTest, OfMpirunOnlyInTheFirstComponent) {
  heterogeneous_slurm();
  request.launcher = "mpirun";
  const auto is_refused_but_on_one_node = [&] {
    request.nodes.reset();
    EXPECT_TRUE(
        holds(refusal(), "in several components of a heterogeneous Slurm job under mpirun"));
    request.nodes = 1;
    EXPECT_EQ(refusal(), "");
  };
  install_open_mpi();
  is_refused_but_on_one_node();
  install_hydra();
  is_refused_but_on_one_node();
}

TEST_F(LaunchCommandTest, OfSrunWithTheProtocolOfTheProgramsMpi) {
  slurm({{"SLURM_NTASKS", "4"}});
  machine().outputs["srun --mpi=list"] = "MPI plugin types are...\n\tnone\n\tpmi2\n";
  EXPECT_FALSE(holds(command(), "--mpi"));
  link_to("libmpi.so.40");
  EXPECT_FALSE(holds(command(), "--mpi"));  // there is no pmix
  machine().outputs["srun --mpi=list"] += "\tpmix\n";
  EXPECT_TRUE(holds(command(), " --mpi=pmix "));
  link_to("libmpi.so.12");
  EXPECT_TRUE(holds(command(), " --mpi=pmi2 "));
  slurm({{"SLURM_NTASKS", "4"}, {"SLURM_MPI_TYPE", "cray_shasta"}});
  EXPECT_FALSE(holds(command(), "--mpi"));
  EXPECT_FALSE(holds(plan().unset, "SLURM_MPI_TYPE"));
}

TEST_F(LaunchCommandTest, OfSrunWithOptions) {
  slurm({{"SLURM_NTASKS", "4"}});
  request.chdir = "/data";
  request.oversubscribe = true;
  request.gpu_bind = true;
  request.prefix = false;
  request.output_dir = "logs";
  request.timeout = std::chrono::seconds(30);
  request.launcher_args = {"--label", "-v"};
  EXPECT_TRUE(holds(command(),
                    "--export=ALL --chdir=/data --overcommit --label -v /opt/hpcboot run-rank "
                    "--timeout 30 --gpu-bind auto --no-prefix --output-dir logs -- ./train"));
}

TEST_F(LaunchCommandTest, OfOpenMpi) {
  hostfile("n1 slots=4 max_slots=8\nn2 slots=2\n");
  install_open_mpi();
  set_env({{"PATH", "/bin"},
           {"HOME", "/home/me"},
           {"OMPI_MCA_btl", "tcp"},
           {"TOKEN", "hush"},
           {"RANK", "3"},
           {"WORLD_SIZE", "4"}});
  request.env = {"COLOUR=blue moon"};
  EXPECT_EQ(command(),
            "/invented/mpirun -np 6 --hostfile {hostfile} --map-by slot --bind-to none -x COLOUR "
            "-x HPCBOOT_RUN_CONTROL -x HPCBOOT_RUN_HOSTS -x HPCBOOT_RUN_ID -x HPCBOOT_RUN_SECRET "
            "-x HPCBOOT_RUN_SIZE -x OMP_NUM_THREADS -x PATH -x TOKEN " +
                std::string(kRank));
  EXPECT_EQ(plan().words.at(plan().hostfile_word), kHostfileWord);
  EXPECT_EQ(plan().hostfile, "n1 slots=4\nn2 slots=2\n");
  EXPECT_EQ(plan().set["COLOUR"], "blue moon");
  EXPECT_TRUE(holds(plan().unset, "RANK"));
  request.ranks = 5;
  EXPECT_EQ(plan().hostfile, "n1 slots=4\nn2 slots=1\n");
  request.ranks = 4;  // n1 alone, which is this host
  EXPECT_FALSE(holds(command(), " -x "));
}

TEST_F(LaunchCommandTest, OfOpenMpiWithOptions) {
  hostfile("n1:2\nn2:2\n");
  install_open_mpi();
  s.facts.user_id = 0;
  request.chdir = "/data";
  request.oversubscribe = true;
  request.launcher_args = {"--mca", "btl", "tcp,self"};
  const std::string text = command();
  EXPECT_TRUE(holds(text, "--map-by slot:OVERSUBSCRIBE --bind-to none "));
  EXPECT_TRUE(holds(text, " --wdir /data --allow-run-as-root --mca btl tcp,self /opt/hpcboot "));
}

TEST_F(LaunchCommandTest, OfOpenMpiInSlurmTakesTheHostFile) {
  slurm({{"SLURM_NTASKS", "4"}});
  install_open_mpi();
  request.launcher = "mpirun";
  EXPECT_EQ(plan().hostfile, "n1 slots=2\nn2 slots=2\n");
  EXPECT_EQ(plan().set["SLURM_TASKS_PER_NODE"], "2,2");
  EXPECT_FALSE(holds(command(), "OMPI_MCA"));
}

TEST_F(LaunchCommandTest, OfHydra) {
  hostfile("n1:4\nn2:2\n");
  install_hydra();
  request.chdir = "/data";
  EXPECT_EQ(command(), "mpirun -np 6 -machinefile {hostfile} -wdir /data " + std::string(kRank));
  EXPECT_EQ(plan().words.at(plan().hostfile_word), kHostfileWord);
  EXPECT_EQ(plan().hostfile, "n1:4\nn2:2\n");
  EXPECT_TRUE(holds(plan().exported, "OMP_NUM_THREADS"));
}

TEST_F(LaunchCommandTest, OfPals) {
  job("pbs", {"n1", "n2", "n3"}, {4, 4, 4});
  install({"mpiexec"});
  machine().outputs["/invented/mpiexec --version"] = "PALS 1.2.11";
  EXPECT_EQ(command(), "mpiexec -n 12 --ppn 4 --depth 2 --cpu-bind depth " + std::string(kRank));
  EXPECT_FALSE(plan().own_session);
  request.ranks = 6;  // the last host has fewer
  EXPECT_TRUE(holds(command(), "-n 6 --ppn 4 --depth 2 --cpu-bind depth --hosts n1,n2 "));
  job("pbs", {"n1", "n2"}, {2, 4});
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: different numbers of ranks on the hosts"));
}

TEST_F(LaunchCommandTest, OfFlux) {
  set_env({{"FLUX_ENCLOSING_ID", "f1"}, {"FLUX_URI", "local:///run/flux"}});
  install({"flux"});
  machine().outputs["flux getattr hostlist"] = "n[1-2]\n";
  machine().outputs["flux resource info"] = "2 Nodes, 8 Cores, 0 GPUs\n";
  request.ranks_per_node = "4";
  EXPECT_EQ(command(),
            "flux run --nodes=2 --tasks-per-node=4 --exclusive --input=0 " + std::string(kRank));
  EXPECT_FALSE(holds(plan().unset, "FLUX_URI"));
  request.ranks = 5;  // which Flux would deal as 3 and 2, not as 4 and 1
  EXPECT_TRUE(holds(refusal(), "under flux run"));
  request.ranks_per_node = "3";
  EXPECT_EQ(command(), "flux run --nodes=2 --ntasks=5 --exclusive --input=0 " + std::string(kRank));
}

TEST_F(LaunchCommandTest, OfJsrun) {
  job("lsf", {"n2", "n3"}, {});
  install({"jsrun"});
  request.ranks_per_node = "6";
  EXPECT_EQ(command(),
            "jsrun --nrs 2 --rs_per_host 1 --tasks_per_rs 6 --cpu_per_rs ALL_CPUS --gpu_per_rs "
            "ALL_GPUS --bind none --exit_on_error 1 " +
                std::string(kRank));
}

TEST_F(LaunchCommandTest, OfAgents) {
  hostfile("n1:2\nn2:2\n");
  install({"ssh"});
  using Words = std::vector<std::string>;
  ASSERT_EQ(plan().agents.size(), 2U);
  EXPECT_EQ(plan().agents[0].host, "n1");
  EXPECT_TRUE(plan().agents[0].shell.empty());
  EXPECT_EQ(plan().agents[1].shell,
            (Words{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", "n2"}));
  request.launcher_args = {"-p", "2222"};
  EXPECT_EQ(plan().agents[1].shell, (Words{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
                                           "-p", "2222", "--", "n2"}));
  request = {};
  request.command = {"./train"};
  job("sge", {"n1.cluster", "n2.cluster"}, {2, 2});
  install({"qrsh", "blaunch"});
  EXPECT_TRUE(plan().agents[0].shell.empty());
  EXPECT_EQ(plan().agents[1].shell, (Words{"/invented/qrsh", "-inherit", "n2.cluster"}));
  job("lsf", {"n1", "n2"}, {2, 2});
  EXPECT_EQ(plan().agents[1].shell, (Words{"blaunch", "n2"}));
}

TEST_F(LaunchCommandTest, LogsInAsTheUserThatTheHostfileNames) {
  hostfile("root@localhost slots=1\nann@n2 slots=2\nn3 username=bob\nn4\nann@fd00::5\n");
  install({"ssh"});
  EXPECT_TRUE(plan().agents[0].shell.empty());
  EXPECT_EQ(plan().agents[1].host, "n2");
  EXPECT_EQ(plan().agents[1].shell.back(), "ann@n2");
  EXPECT_EQ(plan().agents[2].shell.back(), "bob@n3");
  EXPECT_EQ(plan().agents[3].shell.back(), "n4");
  EXPECT_EQ(plan().agents[4].shell.back(), "ann@fd00::5");
  request.nodes = 2;
  install_open_mpi();
  EXPECT_EQ(plan().hostfile, "localhost slots=1 username=root\nn2 slots=2 username=ann\n");
  install_hydra();
  EXPECT_EQ(plan().hostfile, "localhost:1 user=root\nn2:2 user=ann\n");
}

TEST_F(LaunchCommandTest, RefusesAUserWhereTheSchedulerStartsTheRanks) {
  slurm();
  hostfile("n1\nann@n2\n");
  request.launcher = "srun";
  EXPECT_EQ(
      refusal(),
      "inconsistent_placement: user 'ann' of host n2 in hosts; expected no user: the ranks of "
      "a job run as the user who submitted it; do remove the users from that file, or give "
      "--launcher ssh");
  install_open_mpi();
  request.launcher = "mpirun";
  EXPECT_TRUE(holds(refusal(), "user 'ann' of host n2"));
  install({"ssh"});
  request.launcher = "ssh";
  EXPECT_EQ(plan().agents[1].shell.back(), "ann@n2");
}

TEST_F(LaunchCommandTest, HasASessionOfItsOwnInPbsUnlessTheTaskManagerStartsTheDaemons) {
  job("pbs", {"n1", "n2"}, {2, 2});
  install_open_mpi();
  EXPECT_TRUE(plan().own_session);
  machine().outputs["/invented/ompi_info --parsable"] = "mca:plm:rsh:version:\"mca:2.1.0\"\n";
  EXPECT_TRUE(plan().own_session);
  machine().outputs["/invented/ompi_info --parsable"] += "mca:plm:tm:version:\"mca:2.1.0\"\n";
  EXPECT_FALSE(plan().own_session);
  install_hydra();
  EXPECT_TRUE(plan().own_session);
  job("sge", {"n1", "n2"}, {2, 2});
  EXPECT_FALSE(plan().own_session);
}

TEST_F(LaunchCommandTest, RefusesSeveralProgramsByName) {
  request.command = {"./a", ":", "-n", "2", "./b"};
  EXPECT_TRUE(holds(refusal(), "malformed_value: several programs in one command (MPMD)"));
  request.command = {"./a", "x:y"};
  EXPECT_EQ(refusal(), "");
}

TEST_F(LaunchCommandTest, HidesAColonThatIsAnArgumentFromTheLauncher) {
  hostfile("n1:2\nn2:2\n");
  install_open_mpi();
  request.command = {"cut", "-d", ":", "-f1", "{:}"};
  EXPECT_TRUE(holds(command(), " -- cut -d {:} -f1 {{:}}"));
  for (const char* word : {":", "{:}", "{{:}}", "a:b", "{:", "::", "", "{}"})
    EXPECT_EQ(show_colon(hide_colon(word)), word);
}

// Any user can read /proc/*/cmdline.
TEST_F(LaunchCommandTest, HasNoValueOfAVariableInIt) {
  constexpr const char* kSecret = "hush-hush";
  const auto look = [&](const char* place) {
    request.env = {std::string("API_TOKEN=") + kSecret, "SESSION_KEY"};
    const Plan made = plan();
    EXPECT_EQ(made.set.at("API_TOKEN"), kSecret) << place;
    EXPECT_TRUE(holds(made.exported, "API_TOKEN")) << place;
    EXPECT_TRUE(holds(made.exported, "SESSION_KEY")) << place;
    for (const std::string& word : made.words) EXPECT_FALSE(holds(word, kSecret)) << place;
    for (const AgentPlace& agent : made.agents) {
      for (const std::string& word : agent.shell) EXPECT_FALSE(holds(word, kSecret)) << place;
    }
    EXPECT_FALSE(holds(made.hostfile, kSecret)) << place;
    EXPECT_FALSE(holds(dry_run_text(made), kSecret)) << place;
  };
  const std::map<std::string, std::string> environment = {{"SESSION_KEY", kSecret}};
  set_env(environment);
  look("local");
  slurm(environment);
  look("srun");
  install_open_mpi();
  request.launcher = "mpirun";
  look("mpirun of Open MPI");
  install_hydra();
  look("mpirun of MPICH");
  request.launcher.reset();
  install({"ssh", "flux", "jsrun", "mpiexec"});
  job("lsf", {"n1", "n2"}, {2, 2});
  look("jsrun");
  job("pbs", {"n1", "n2"}, {2, 2});
  machine().outputs["/invented/mpiexec --version"] = "PALS 1.2.11";
  look("pals");
  machine().programs.erase("mpirun");
  s.allocation.reset();
  hostfile("n1:2\nn2:2\n");
  look("ssh");
}

}  // namespace
}  // namespace hpcboot::run
