#include <sys/stat.h>
#include <unistd.h>

#include "../invented.hpp"
#include "elf_program.hpp"

namespace hpcboot::run {
namespace {

class LauncherChoiceTest : public InventedMachine {
 protected:
  void TearDown() override {
    if (!program_.empty()) unlink(program_.c_str());
  }

  // ./train is linked to this library.
  void link_to(const char* library) {
    program_ = write_program(ElfProgram({library}).bytes());
    machine().programs["./train"] = program_;
  }

  std::string program_;
};

TEST_F(LauncherChoiceTest, IsLocalOnThisHostAlone) {
  EXPECT_EQ(launcher(), Launcher::local);
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::local);
  EXPECT_TRUE(plan().notes.empty());
  request.launcher_args = {"-v"};
  ASSERT_EQ(plan().notes.size(), 1U);
  EXPECT_TRUE(holds(plan().notes.front(), "--launcher-args"));
  ASSERT_EQ(plan().agents.size(), 1U);
  EXPECT_TRUE(plan().agents.front().shell.empty());
  EXPECT_EQ(plan().words, request.command);
}

TEST_F(LauncherChoiceTest, TakesMpirunForProgramsOfMpi) {
  link_to("libmpi.so.40");
  EXPECT_TRUE(
      holds(refusal(), "backend_unavailable: ./train is linked to Open MPI, and no mpirun"));
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
  EXPECT_TRUE(plan().notes.empty());
  install_hydra();
  EXPECT_EQ(launcher(), Launcher::hydra);
  ASSERT_EQ(plan().notes.size(), 1U);
  EXPECT_TRUE(holds(plan().notes.front(), "/invented/mpirun belongs to another MPI"));
  request.launcher = "local";
  EXPECT_EQ(launcher(), Launcher::local);
  EXPECT_TRUE(holds(plan().notes.front(), "rank 0 of 1"));
}

TEST_F(LauncherChoiceTest, FindsTheProgramWhereItWillBeStarted) {
  link_to("libmpi.so.12");
  const std::string path = program_;
  machine().programs.clear();
  request.chdir = path.substr(0, path.rfind('/'));
  request.command = {"./" + path.substr(path.rfind('/') + 1)};
  install_hydra();
  EXPECT_EQ(launcher(), Launcher::hydra);
}

TEST_F(LauncherChoiceTest, TakesMpirunOrSshOverAHostfile) {
  hostfile("n1:2\nn2:2\n");
  EXPECT_TRUE(holds(refusal(), "backend_unavailable: neither mpirun nor ssh"));
  request.nodes = 1;  // this host
  EXPECT_EQ(launcher(), Launcher::local);
  request.nodes.reset();
  install({"ssh"});
  EXPECT_EQ(launcher(), Launcher::ssh);
  install({"mpirun"});  // of unknown kind
  EXPECT_EQ(launcher(), Launcher::ssh);
  install_hydra();
  EXPECT_EQ(launcher(), Launcher::hydra);
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
}

TEST_F(LauncherChoiceTest, TakesSrunInSlurm) {
  slurm();
  EXPECT_EQ(launcher(), Launcher::srun);
  request.launcher = "mpirun";
  EXPECT_TRUE(holds(refusal(), "backend_unavailable"));
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
  request.launcher.reset();
  machine().programs.erase("srun");
  install({"ssh"});
  EXPECT_EQ(launcher(), Launcher::ssh);
  request.nodes = 1;
  EXPECT_EQ(launcher(), Launcher::local);
}

TEST_F(LauncherChoiceTest, TakesPalsThenMpirunThenSshInPbs) {
  job("pbs", {"n1", "n2"}, {2, 2});
  install({"ssh"});
  EXPECT_EQ(launcher(), Launcher::ssh);
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
  install({"mpiexec"});
  EXPECT_EQ(launcher(), Launcher::openmpi);
  machine().outputs["/invented/mpiexec --version"] = "PALS 1.2.11";
  EXPECT_EQ(launcher(), Launcher::pals);
  request.nodes = 1;
  EXPECT_EQ(launcher(), Launcher::local);
  link_to("libmpi_cray.so.12");
  EXPECT_EQ(launcher(), Launcher::pals);
}

TEST_F(LauncherChoiceTest, TakesMpirunThenQrshInGridEngine) {
  job("sge", {"n1", "n2"}, {2, 2});
  install({"ssh", "qrsh"});
  EXPECT_EQ(launcher(), Launcher::qrsh);
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
  request.nodes = 1;
  EXPECT_EQ(launcher(), Launcher::local);
}

TEST_F(LauncherChoiceTest, FindsTheProgramsOfGridEngineInAJobWithoutThemInPath) {
  set_env({{"SGE_BINARY_PATH", "/sge/bin/lx-amd64"}});
  machine().programs["/sge/bin/lx-amd64/qrsh"] = "/sge/bin/lx-amd64/qrsh";
  job("sge", {"n1", "n2"}, {2, 2});
  EXPECT_EQ(launcher(), Launcher::qrsh);
  EXPECT_EQ(plan().agents[1].shell.front(), "/sge/bin/lx-amd64/qrsh");
  request.launcher = "qrsh";
  EXPECT_EQ(launcher(), Launcher::qrsh);
  install({"qrsh"});
  EXPECT_EQ(plan().agents[1].shell.front(), "/invented/qrsh");
}

TEST_F(LauncherChoiceTest, TakesJsrunThenMpirunThenBlaunchInLsf) {
  job("lsf", {"n1", "n2"}, {2, 2});
  install({"ssh", "blaunch"});
  EXPECT_EQ(launcher(), Launcher::blaunch);
  install_open_mpi();
  EXPECT_EQ(launcher(), Launcher::openmpi);
  install({"jsrun"});
  EXPECT_EQ(launcher(), Launcher::jsrun);
}

TEST_F(LauncherChoiceTest, TakesFluxInItsScriptsAndNotInItsTasks) {
  set_env({{"FLUX_ENCLOSING_ID", "f1"}});
  machine().outputs["flux getattr hostlist"] = "n[1-2]\n";
  EXPECT_TRUE(holds(refusal(), "backend_unavailable: flux is not in PATH"));
  install({"flux"});
  EXPECT_EQ(launcher(), Launcher::flux);
  set_env({{"FLUX_JOB_ID", "f2"}});
  EXPECT_EQ(launcher(), Launcher::local);
}

TEST_F(LauncherChoiceTest, DoesNotStartProgramsOfMpiByShells) {
  link_to("libmpi.so.40");
  install({"ssh"});
  hostfile("n1:2\nn2:2\n");
  EXPECT_TRUE(holds(refusal(), "backend_unavailable: ./train is an MPI program, and no mpirun"));
}

TEST_F(LauncherChoiceTest, RefusesLaunchersThatDoNotBelongHere) {
  request.launcher = "srnu";
  EXPECT_TRUE(holds(refusal(), "malformed_value: --launcher srnu"));
  EXPECT_TRUE(holds(refusal(), "local, ssh, qrsh, blaunch, srun, mpirun, pals, flux, jsrun"));
  EXPECT_TRUE(holds(refusal(), "write srun"));
  for (const char* name : {"srun", "qrsh", "blaunch", "flux", "jsrun"}) {
    request.launcher = name;
    install({name});
    EXPECT_TRUE(holds(refusal(), "inconsistent_placement: --launcher")) << name;
    EXPECT_TRUE(holds(refusal(), "outside a job")) << name;
  }
  request.launcher = "pals";
  EXPECT_TRUE(holds(refusal(), "backend_unavailable: mpiexec of PALS"));
  request.launcher = "ssh";
  EXPECT_TRUE(holds(refusal(), "backend_unavailable: ssh is not in PATH"));
  request.launcher = "local";
  hostfile("n2");
  EXPECT_TRUE(holds(refusal(), "inconsistent_placement: --launcher local with ranks on n2"));
}

TEST_F(LauncherChoiceTest, TellsWhoseRealMpirunItIs) {
  const std::string folder = testing::TempDir() + "mpi_" + std::to_string(getpid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::map<std::string, Launcher> kinds = {{"orterun", Launcher::openmpi},
                                                 {"prterun", Launcher::openmpi},
                                                 {"mpiexec.hydra", Launcher::hydra}};
  hostfile("n1:2\nn2:2\n");
  for (const auto& [name, kind] : kinds) {
    const std::string real = folder + "/" + name;
    machine().programs["mpirun"] = write_program("", real);
    EXPECT_EQ(launcher(), kind) << name;
    unlink(real.c_str());
  }
  rmdir(folder.c_str());
}

}  // namespace
}  // namespace hpcboot::run
