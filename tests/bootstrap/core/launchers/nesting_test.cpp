#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/apinfo_file.hpp"
#include "support/expect_error.hpp"

// Launchers inside launchers, and variables that one sets for another: which placed this process?
// Pairs of Open MPI, Hydra, torchrun and Slurm are in resolve_test.cpp.
namespace hpcboot {
namespace {

using test::expect_error;

const std::string kPals =
    "PALS_RANKID=3\nPALS_NODEID=1\nPALS_LOCAL_RANKID=1\nPALS_LOCAL_SIZE=2\nPALS_APID=a\n";
const std::string kCrayPmi = "PMI_RANK=3\nPMI_SIZE=4\nPMI_LOCAL_RANK=1\nPMI_LOCAL_SIZE=2\n";
const std::string kStep =
    "SLURM_JOB_ID=5\nSLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_NODEID=1\n"
    "SLURM_STEP_NUM_TASKS=4\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\n"
    "SLURM_STEP_TASKS_PER_NODE=2(x2)\nSLURM_GTIDS=2,3\nSLURMD_NODENAME=n2\n";
const std::string kFlux =
    "FLUX_TASK_RANK=3\nFLUX_JOB_SIZE=4\nFLUX_TASK_LOCAL_ID=1\nFLUX_JOB_NNODES=2\nFLUX_JOB_ID=ƒD\n";
const std::string kOpenmpi =
    "OMPI_COMM_WORLD_RANK=5\nOMPI_COMM_WORLD_SIZE=8\nOMPI_COMM_WORLD_LOCAL_RANK=2\n"
    "OMPI_COMM_WORLD_LOCAL_SIZE=4\n";
const std::string kJsrun =
    "JSM_NAMESPACE_RANK=3\nJSM_NAMESPACE_SIZE=4\nJSM_NAMESPACE_LOCAL_RANK=1\n"
    "JSM_NAMESPACE_LOCAL_SIZE=2\nPMIX_NAMESPACE=1\nPMIX_RANK=3\n";
const std::string kSpectrum =
    "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
    "OMPI_COMM_WORLD_LOCAL_SIZE=2\n";

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

TEST(Nesting, CrayShastasPalsVariablesAreSlurms) {
  const Resolution r = of(kStep + kPals + kCrayPmi);
  EXPECT_EQ(r.launcher, "slurm");
  EXPECT_EQ(r.placement.rank, 3);
  // In a batch script, PALS's mpiexec placed the process.
  EXPECT_EQ(of("SLURM_JOB_ID=5\nSLURM_PROCID=0\nSLURM_LOCALID=0\n" + kPals + kCrayPmi).launcher,
            "pals");
  EXPECT_EQ(of(kStep + kPals + kCrayPmi +
               "SLURM_PROCID=0\nSLURM_LOCALID=0\nSLURM_GTIDS=0\n"
               "SLURM_STEP_TASKS_PER_NODE=1(x2)\nSLURM_STEP_NUM_TASKS=2\n"
               "SLURMD_NODENAME=n2\nSLURM_NODEID=1\nSLURM_PROCID=1\n"
               "SLURM_GTIDS=1\n")
                .launcher,
            "pals")
      << "a step of one daemon per node, inside which PALS started four";
}

TEST(Nesting, FluxsPalsVariablesAreFluxs) {
  // Flux's plugin sets no PALS_LOCAL_RANKID, and uses Flux's numbering.
  const Resolution r = of(kFlux + "PALS_RANKID=3\nPALS_NODEID=1\nPALS_APID=f\n");
  EXPECT_EQ(r.launcher, "flux");
  EXPECT_EQ(r.placement.local_rank, 1);
  // A Flux batch script inherits its broker's variables.
  Facts facts;
  facts.apinfo = test::apinfo_file(1, {"n1", "n2"}, {0, 1});
  const Resolution batch = of(
      "FLUX_URI=local:///run/flux\nFLUX_ENCLOSING_ID=ƒD\nPALS_RANKID=0\nPALS_APINFO=/x\n", facts);
  EXPECT_EQ(batch.launcher, "single");
  EXPECT_EQ(batch.scheduler, "flux");
}

TEST(Nesting, FluxInsideAJobOfAnother) {
  EXPECT_EQ(of(kFlux + kJsrun + kSpectrum + "JSM_NAMESPACE_RANK=0\nOMPI_COMM_WORLD_RANK=0\n" +
               "PMIX_RANK=0\n")
                .launcher,
            "flux");
  EXPECT_EQ(of(kFlux + kStep + "SLURM_PROCID=2\nSLURM_LOCALID=0\n").launcher, "flux");
}

TEST(Nesting, MpirunInsideAFluxTask) {
  const std::string inner = "PMI_RANK=1\nPMI_SIZE=2\nPMI_FD=9\nMPI_LOCALRANKID=1\n";
  EXPECT_EQ(of(kFlux + inner).launcher, "hydra") << "PMI_* are no longer Flux's";
  EXPECT_EQ(of(kFlux + kOpenmpi + "PMIX_NAMESPACE=7\nPMIX_RANK=5\n").launcher, "openmpi");
}

// Neither Flux's own PMI nor Hydra's identifies the owner of the other variables.
TEST(Nesting, FluxAndOpenMpiThatNothingTellsApartAreAmbiguous) {
  expect_error(
      ErrorCode::ambiguous_environment, [] { of(kFlux + kOpenmpi); }, "flux reports rank=3",
      "openmpi reports rank=5", "HPCBOOT_METHODS=flux");
  Facts open;
  open.pmi_fd_is_open_socket = true;
  EXPECT_EQ(of(kFlux + kOpenmpi + "PMI_RANK=3\nPMI_SIZE=4\nPMI_FD=9\n", open).launcher, "flux");
}

TEST(Nesting, PrrtesRanksInheritThePalsVariablesOfTheirDaemon) {
  const Resolution r =
      of(kPals + kCrayPmi + kOpenmpi + "PMIX_NAMESPACE=prterun-x1-9@1\nPMIX_RANK=5\n");
  EXPECT_EQ(r.launcher, "openmpi");
  EXPECT_EQ(r.placement.rank, 5);
}

TEST(Nesting, PalsAndMvapichThatDisagreeAreAmbiguous) {
  expect_error(
      ErrorCode::ambiguous_environment,
      [] {
        of(kPals + kCrayPmi +
           "MV2_COMM_WORLD_RANK=0\nMV2_COMM_WORLD_SIZE=2\nMV2_COMM_WORLD_LOCAL_RANK=0\n");
      },
      "mvapich reports rank=0 world_size=2", "pals reports rank=3 world_size=4",
      "HPCBOOT_METHODS=pals");
}

TEST(Nesting, PmixServesTheInnermostOfOpenMpiAndPals) {
  const std::string both = kPals + kCrayPmi + kOpenmpi + "PMIX_NAMESPACE=x\n";
  EXPECT_EQ(of(both + "PMIX_RANK=3\n").launcher, "pals");
  EXPECT_EQ(of(both + "PMIX_RANK=5\n").launcher, "openmpi");
}

// Scripts for Aurora export MPI_LOCALRANKID for oneCCL.
TEST(Nesting, AnExportedLocalRankMakesNoHydra) {
  const Resolution r = of(kPals + kCrayPmi + "MPI_LOCALRANKID=1\nMPI_LOCALNRANKS=2\n");
  EXPECT_EQ(r.launcher, "pals");
  EXPECT_EQ(of(kStep + "MPI_LOCALRANKID=1\n").launcher, "slurm");
  EXPECT_EQ(of(kOpenmpi + "MPI_LOCALRANKID=1\n").launcher, "openmpi");
  expect_error(
      ErrorCode::missing_variable, [] { of("MPI_LOCALRANKID=1\n"); }, "PMI_RANK");
}

// Ranks of Hydra's mpiexec inside a rank of mpirun inherit PMIx variables; the other way round,
// PMI_FD is a number that no longer refers to a socket.
TEST(Nesting, HydraInsideARankOfMpirun) {
  const std::string both = kOpenmpi + "PMIX_NAMESPACE=7\nPMIX_RANK=5\nPMI_FD=9\nPMI_RANK=1\n" +
                           "PMI_SIZE=2\nMPI_LOCALRANKID=1\nMPI_LOCALNRANKS=2\n";
  Facts facts;
  facts.pmi_fd_is_open_socket = true;
  EXPECT_EQ(of(both, facts).launcher, "hydra");
  facts.pmi_fd_is_open_socket = false;
  EXPECT_EQ(of(both, facts).launcher, "openmpi");
}

TEST(Nesting, JsrunsOpenMpiVariablesAreLsfs) {
  const Resolution r = of(kJsrun + kSpectrum);
  EXPECT_EQ(r.launcher, "lsf");
  EXPECT_EQ(r.placement.rank, 3);
  EXPECT_EQ(of(kJsrun + kOpenmpi + "PMIX_NAMESPACE=99\nPMIX_RANK=5\n").launcher, "openmpi")
      << "mpirun inside jsrun's task";
}

TEST(Nesting, MpirunsDaemonsAreStartedByBlaunch) {
  EXPECT_EQ(of(kOpenmpi + "LSF_PM_TASKID=2\n").launcher, "openmpi");
}

TEST(Nesting, ATaskOfSrunHasInheritedWhatOtherLaunchersSet) {
  Facts task;
  task.is_slurm_task = true;
  for (const std::string& outer :
       {kFlux, std::string("MV2_COMM_WORLD_RANK=0\nMV2_COMM_WORLD_SIZE=2\n"), kPals}) {
    EXPECT_EQ(of(outer + kStep, task).launcher, "slurm");
  }
}

TEST(Nesting, ATableThatContradictsTheEnvironmentIsAnError) {
  Facts facts;
  facts.apinfo = test::apinfo_file(5, {"x1", "x2"}, {0, 1, 0, 1});
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(kPals + "PALS_NODEID=0\n", facts); },
      "PALS_NODEID=0", "PALS_APINFO");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(kPals + kCrayPmi + "PMI_SIZE=8\n", facts); },
      "PMI_SIZE=8", "PALS_APINFO");
  expect_error(
      ErrorCode::inconsistent_placement, [&] { of(kPals + "PALS_RANKID=4\n", facts); },
      "PALS_RANKID=4", "4 processes");
  facts.apinfo = "damaged";
  expect_error(
      ErrorCode::malformed_file, [&] { of(kPals + "PALS_APINFO=/spool/apinfo\n", facts); },
      "/spool/apinfo");
}

// No size anywhere: refused, with a remedy.
TEST(Nesting, PalsWithoutASizeIsRefused) {
  expect_error(
      ErrorCode::missing_variable, [] { of(kPals + "PALS_APINFO=/spool/apinfo\n"); }, "PMI_SIZE",
      "/spool/apinfo", "mpiexec -n N --env PMI_SIZE=N");
}

// Rank 0 need not run on the first node of the table.
TEST(Nesting, TheTableOfPalsSaysWhereRankZeroIs) {
  Facts facts;
  facts.apinfo = test::apinfo_file(5, {"x1", "x2"}, {1, 0, 0, 1});
  EXPECT_EQ(of("PALS_RANKID=2\nPALS_APINFO=/x\n", facts).master_addr, "x2");
}

}  // namespace
}  // namespace hpcboot
