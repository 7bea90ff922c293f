#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hpcboot/allocation.hpp"
#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// Schedulers other than Slurm and PBS Pro: job, hosts, and what distinguishes two runs of a job.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::IsEmpty;

Allocation of(const std::string& dump, const AllocationOptions& options = {}) {
  const auto job = read_allocation(Env::parse(dump), options);
  if (!job) throw std::runtime_error("no allocation");
  return *job;
}

AllocationOptions foreign() {
  AllocationOptions options;
  options.read_files = false;
  return options;
}

class Schedulers : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = (folder_.path() / "hosts").string();
    std::ofstream(path) << text;
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Schedulers, LsfHostsAndSlots) {
  const Allocation job =
      of("LSB_JOBID=7\nLSB_JOBINDEX=0\nLSB_MCPU_HOSTS=h1 4 h2 2 \nLSB_HOSTS=h1 h1 h1 h1 h2 h2\n");
  EXPECT_EQ(job.scheduler, "lsf");
  EXPECT_EQ(job.job_id, "7");
  EXPECT_THAT(job.hosts, ElementsAre("h1", "h2"));
  EXPECT_THAT(job.slots, ElementsAre(4, 2));
  EXPECT_EQ(job.num_tasks, 6);
  EXPECT_EQ(job.hosts_variable, "LSB_MCPU_HOSTS");
}

// Lightning#10216: LSB_HOSTS is empty for large jobs.
TEST_F(Schedulers, LsfHostsFromWhateverIsThere) {
  EXPECT_THAT(of("LSB_JOBID=7\nLSB_MCPU_HOSTS=h1 1048576\n").slots, ElementsAre(1048576));
  EXPECT_THROW(of("LSB_JOBID=7\nLSB_MCPU_HOSTS=h1 1048577\n"), Error);
  EXPECT_THAT(of("LSB_JOBID=7\nLSB_HOSTS=\nLSB_MCPU_HOSTS=h1 4 h2 4\n").hosts,
              ElementsAre("h1", "h2"));
  EXPECT_THAT(of("LSB_JOBID=7\nLSB_HOSTS=h2 h2 h1\n").slots, ElementsAre(2, 1));
  const std::string path = file("h3\nh3\nh4\n");
  const std::string by_file = "LSB_JOBID=7\nLSB_HOSTS=\nLSB_DJOB_HOSTFILE=" + path + "\n";
  EXPECT_THAT(of(by_file).slots, ElementsAre(2, 1));
  EXPECT_THAT(of(by_file, foreign()).hosts, IsEmpty());
}

TEST_F(Schedulers, LsfsLaunchNodeIsLeftOut) {
  // Summit: the script runs on batch5, the tasks on the others.
  const Allocation summit = of("LSB_JOBID=7\nLSB_MCPU_HOSTS=batch5 1 a01n01 42 a01n02 42\n");
  EXPECT_THAT(summit.hosts, ElementsAre("a01n01", "a01n02"));
  EXPECT_EQ(summit.num_tasks, std::nullopt);
  // Lassen: the launch node's name does not identify it.
  const std::string lassen = "LSB_JOBID=7\nLSB_MCPU_HOSTS=lassen708 1 lassen1 40 lassen2 40\n";
  EXPECT_THAT(of(lassen + "CSM_ALLOCATION_ID=1\n").hosts, ElementsAre("lassen1", "lassen2"));
  EXPECT_THAT(of(lassen + "JSM_NAMESPACE_RANK=0\n").hosts, ElementsAre("lassen1", "lassen2"));
  // Elsewhere the first host may simply have had one free slot.
  EXPECT_EQ(of(lassen).hosts.size(), 3U);
  EXPECT_EQ(of("LSB_JOBID=7\nLSB_MCPU_HOSTS=batch5 1 a01 1\nJSM_NAMESPACE_RANK=0\n").hosts.size(),
            2U);
}

TEST_F(Schedulers, LsfDamageIsNamed) {
  for (const char* bad : {"h1", "h1 x", "h1 0", "h1 4 h2", "4 h1", "h;1 4", "h1 99999999"}) {
    expect_error(
        ErrorCode::malformed_value,
        [&] { of("LSB_JOBID=7\nLSB_MCPU_HOSTS=" + std::string(bad) + "\n"); }, "LSB_MCPU_HOSTS");
  }
  expect_error(
      ErrorCode::malformed_value, [] { of("LSB_JOBID=7\nLSB_HOSTS=h1 h/2\n"); }, "LSB_HOSTS");
  expect_error(
      ErrorCode::malformed_value, [] { of("LSB_JOBID=7\nLSB_JOBINDEX=x\n"); }, "LSB_JOBINDEX");
}

TEST_F(Schedulers, SgeHostsFromItsFile) {
  const std::string path =
      file("h1.site 4 all.q@h1.site UNDEFINED\nh2.site 2 all.q@h2.site <NULL>\n");
  const Allocation job =
      of("JOB_ID=9\nSGE_TASK_ID=undefined\nNSLOTS=6\nNHOSTS=2\nPE_HOSTFILE=" + path + "\n");
  EXPECT_EQ(job.scheduler, "sge");
  EXPECT_EQ(job.job_id, "9");
  EXPECT_THAT(job.hosts, ElementsAre("h1.site", "h2.site"));
  EXPECT_THAT(job.slots, ElementsAre(4, 2));
  EXPECT_EQ(of("JOB_ID=9\nSGE_TASK_ID=undefined\nNSLOTS=6\n").num_tasks, 6);
  EXPECT_EQ(of("JOB_ID=9\nSGE_TASK_ID=3\n").job_id, "9.3");
  // JOB_ID is not specific to Grid Engine.
  EXPECT_FALSE(read_allocation(Env::parse("JOB_ID=9\n")));
}

TEST(PeHostfile, WhatIsNoLineIsNamed) {
  for (const char* bad : {"h1", "h1 x q", "h1 0 q", "h1 -1", "h/1 4 q"}) {
    expect_error(
        ErrorCode::malformed_file,
        [&] { parse_pe_hostfile("h0 1 q UNDEFINED\n" + std::string(bad), "/spool/pe_hostfile"); },
        "line 2", "/spool/pe_hostfile");
  }
  const std::string whole = "h1.site 14 all.q@h1.site UNDEFINED\nh2 2 q <NULL>\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      parse_pe_hostfile(whole.substr(0, length), "f");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_file);
    }
  }
}

TEST_F(Schedulers, CobaltGivesHostsAndNoTasks) {
  const Allocation job = of("COBALT_JOBID=5\nCOBALT_NODEFILE=" + file("h1\nh2\n") + "\n");
  EXPECT_EQ(job.scheduler, "cobalt");
  EXPECT_THAT(job.hosts, ElementsAre("h1", "h2"));
  EXPECT_THAT(job.slots, IsEmpty());
  EXPECT_EQ(job.num_tasks, std::nullopt);
}

TEST_F(Schedulers, FluxKnowsItsJobAndNoHosts) {
  EXPECT_EQ(of("FLUX_JOB_ID=ƒD2e73NP\nFLUX_TASK_RANK=0\n").job_id, "ƒD2e73NP");
  // A batch script has only the job that runs its instance; Slurm may be outside it.
  const Allocation batch =
      of("FLUX_ENCLOSING_ID=ƒD2e\nFLUX_URI=local:///run/flux\nSLURM_JOB_ID=5\n");
  EXPECT_EQ(batch.scheduler, "flux");
  EXPECT_EQ(batch.job_id, "ƒD2e");
  EXPECT_THAT(batch.hosts, IsEmpty());
  AllocationOptions given = foreign();
  given.nodefile = file("h1:4\nh2:4\n");
  EXPECT_THAT(of("FLUX_JOB_ID=ƒ1\n", given).hosts, ElementsAre("h1", "h2"));
}

TEST_F(Schedulers, TorqueNamesItsTasksAndArrays) {
  const Allocation job =
      of("PBS_JOBID=3.s\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NUM_NODES=2\nPBS_NUM_PPN=4\n");
  EXPECT_EQ(job.num_tasks, 8);
  expect_error(
      ErrorCode::malformed_value, [] { of("PBS_JOBID=3.s\nPBS_NUM_NODES=2\nPBS_NUM_PPN=x\n"); },
      "PBS_NUM_PPN");
}

TEST_F(Schedulers, AHostfileStandsInWhereThereIsNoJob) {
  AllocationOptions given = foreign();
  given.nodefile = file("n1 slots=2\nn2 slots=2\n");
  EXPECT_EQ(of("PATH=/bin\n", given).scheduler, "");
  Facts facts;
  facts.hostname = "n2";
  ResolveOptions options;
  options.allocation = given;
  const Resolution r = resolve(Env::parse("PMI_RANK=3\nPMI_SIZE=4\nMPI_LOCALRANKID=1\n"
                                          "MPI_LOCALNRANKS=2\n"),
                               facts, options);
  EXPECT_EQ(r.scheduler, std::nullopt);
  EXPECT_EQ(r.job_id, std::nullopt);
  EXPECT_EQ(r.placement.node_rank, 1);
  EXPECT_EQ(r.master_addr, "n1");
  EXPECT_EQ(r.provenance.at("hosts").variable, "--nodefile");
}

// A heterogeneous job under salloc has only its components' lists (22.05).
TEST_F(Schedulers, HeterogeneousJobsHaveAllTheirHosts) {
  const std::string het =
      "SLURM_JOB_ID=1\nSLURM_JOB_NODELIST_HET_GROUP_0=n9\nSLURM_JOB_NODELIST_HET_GROUP_1=n[2-3]\n"
      "SLURM_TASKS_PER_NODE_HET_GROUP_0=1\nSLURM_TASKS_PER_NODE_HET_GROUP_1=2,1\nSLURM_NTASKS=4\n";
  const Allocation job = of(het + "SLURM_HET_SIZE=2\n");
  EXPECT_THAT(job.hosts, ElementsAre("n9", "n2", "n3"));
  EXPECT_THAT(job.slots, ElementsAre(1, 2, 1));
  EXPECT_THAT(of(het + "SLURM_HET_SIZE=3\n").hosts, IsEmpty());
  expect_error(
      ErrorCode::malformed_value, [&] { of(het + "SLURM_HET_SIZE=x\n"); }, "SLURM_HET_SIZE");
}

struct TwoRuns {
  const char* what;
  std::string first;
  std::string other;
};

TEST_F(Schedulers, IdentityTellsArrayTasksAndRequeuesApart) {
  const TwoRuns runs[] = {
      {"Slurm, array task", "SLURM_JOB_ID=8\nSLURM_ARRAY_JOB_ID=7\nSLURM_ARRAY_TASK_ID=1\n",
       "SLURM_JOB_ID=7\nSLURM_ARRAY_JOB_ID=7\nSLURM_ARRAY_TASK_ID=2\n"},
      {"Slurm, requeue", "SLURM_JOB_ID=7\n", "SLURM_JOB_ID=7\nSLURM_RESTART_COUNT=1\n"},
      {"PBS, array", "PBS_JOBID=7[1].s\nPBS_ARRAY_INDEX=1\n",
       "PBS_JOBID=7[2].s\nPBS_ARRAY_INDEX=2\n"},
      {"Torque, array", "PBS_JOBID=7.s\nPBS_ARRAYID=1\n", "PBS_JOBID=7.s\nPBS_ARRAYID=2\n"},
      {"LSF, array", "LSB_JOBID=7\nLSB_JOBINDEX=1\n", "LSB_JOBID=7\nLSB_JOBINDEX=2\n"},
      {"LSF, restart", "LSB_JOBID=7\n", "LSB_JOBID=7\nLSB_RESTART=Y\n"},
      {"SGE, array", "JOB_ID=7\nSGE_TASK_ID=1\n", "JOB_ID=7\nSGE_TASK_ID=2\n"},
      {"SGE, restart", "JOB_ID=7\nSGE_TASK_ID=undefined\nRESTARTED=0\n",
       "JOB_ID=7\nSGE_TASK_ID=undefined\nRESTARTED=1\n"},
      {"Cobalt", "COBALT_JOBID=7\n", "COBALT_JOBID=8\n"},
      {"Flux, instance", "FLUX_JOB_ID=ƒ1\nFLUX_JOB_ID_PATH=/ƒa/ƒ1\n",
       "FLUX_JOB_ID=ƒ1\nFLUX_JOB_ID_PATH=/ƒb/ƒ1\n"},
  };
  for (const TwoRuns& run : runs) {
    EXPECT_NE(of(run.first).identity, of(run.other).identity) << run.what;
    EXPECT_EQ(of(run.first).identity, of(run.first).identity) << run.what;
  }
}

TEST_F(Schedulers, EveryOneIsNamedInTheAnswer) {
  for (const auto& [dump, scheduler] :
       {std::pair("SLURM_JOB_ID=7\n", "slurm"), std::pair("PBS_JOBID=7.s\n", "pbs"),
        std::pair("LSB_JOBID=7\n", "lsf"), std::pair("JOB_ID=7\nSGE_TASK_ID=undefined\n", "sge"),
        std::pair("COBALT_JOBID=7\n", "cobalt"), std::pair("FLUX_JOB_ID=7\n", "flux")}) {
    const Resolution r = resolve(Env::parse(dump), Facts{});
    EXPECT_EQ(r.scheduler, scheduler);
    EXPECT_EQ(r.launcher, "single") << "an allocation places no process";
  }
}

}  // namespace
}  // namespace hpcboot
