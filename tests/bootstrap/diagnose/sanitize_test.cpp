#include "hpcboot/sanitize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hpcboot/allocation.hpp"
#include "hpcboot/resolve.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// What a launch that is started inside another one must not inherit, and what it must.
namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Env without(const Env& env, const std::vector<std::string>& names) {
  std::map<std::string, std::string> left(env.variables().begin(), env.variables().end());
  for (const std::string& name : names) left.erase(name);
  return Env(left);
}

struct Case {
  const char* name;
  const char* dump;
  std::vector<std::string> unset;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"laptop", "HOME=/home/u\nPATH=/bin\n", {}},
      {"batch script",
       "SLURM_JOB_ID=1\nSLURM_NODELIST=n[1-2]\nSLURM_TASKS_PER_NODE=2(x2)\nSLURM_PROCID=0\n",
       {"SLURM_PROCID"}},
      {"srun with PMIx",
       "SLURM_JOB_ID=1\nSLURM_NODELIST=n[1-2]\nSLURM_TASKS_PER_NODE=2(x2)\nSLURM_CONF=/etc/s\n"
       "SLURM_PROCID=1\nSLURM_STEP_ID=0\nSLURM_STEP_NODELIST=n1\nSLURM_MPI_TYPE=pmix\n"
       "PMIX_NAMESPACE=slurm.pmix.1.0\nPMIX_RANK=1\nPMIX_MCA_gds=hash\nSLURM_CPU_BIND=none\n",
       {"PMIX_NAMESPACE", "PMIX_RANK", "SLURM_CPU_BIND", "SLURM_MPI_TYPE", "SLURM_PROCID",
        "SLURM_STEP_ID", "SLURM_STEP_NODELIST"}},
      {"srun -m arbitrary: the inner step is dealt out anew",
       "SLURM_JOB_ID=1\nSLURM_PROCID=0\nSLURM_STEP_ID=0\nSLURM_DISTRIBUTION=arbitrary\n"
       "SLURM_ARBITRARY_NODELIST=n2,n1\n",
       {"SLURM_ARBITRARY_NODELIST", "SLURM_DISTRIBUTION", "SLURM_PROCID", "SLURM_STEP_ID"}},
      {"mpirun: its user's settings stay",
       "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=1\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"
       "OMPI_MCA_orte_hnp_uri=1.0\nOMPI_MCA_btl=self,tcp\nOMPI_ALLOW_RUN_AS_ROOT=1\n"
       "OMPI_MCA_plm_rsh_agent=ssh\n",
       {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
        "OMPI_MCA_orte_hnp_uri"}},
      {"Hydra",
       "PMI_RANK=0\nPMI_SIZE=2\nPMI_FD=6\nMPI_LOCALRANKID=0\nMPI_LOCALNRANKS=2\n"
       "I_MPI_FABRICS=shm\nPMI_NO_FORK=1\n",
       {"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "PMI_FD", "PMI_RANK", "PMI_SIZE"}},
      {"torchrun: the master was this launch's",
       "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=1\nMASTER_ADDR=n1\nMASTER_PORT=29500\n"
       "TORCHELASTIC_RUN_ID=x\nNCCL_SOCKET_IFNAME==eth0\nCUDA_VISIBLE_DEVICES=1\n",
       {"LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "RANK", "TORCHELASTIC_RUN_ID", "WORLD_SIZE"}},
      {"explicit: the user's choices stay",
       "HPCBOOT_RANK=0\nHPCBOOT_WORLD_SIZE=1\nHPCBOOT_INTERFACE=ib0\nHPCBOOT_MASTER_PORT=1\n",
       {"HPCBOOT_RANK", "HPCBOOT_WORLD_SIZE"}},
      {"PBS with PALS",
       "PBS_JOBID=1.s\nPBS_NODEFILE=/n\nPALS_RANKID=0\nPALS_NODEID=0\nPALS_LOCAL_RANKID=0\n"
       "PALS_CPU_BIND=depth\nPMI_RANK=0\nPMI_SIZE=1\n",
       {"PALS_LOCAL_RANKID", "PALS_NODEID", "PALS_RANKID", "PMI_RANK", "PMI_SIZE"}},
      {"Flux: the instance stays",
       "FLUX_URI=local:///x\nFLUX_JOB_ID=f1\nFLUX_TASK_RANK=0\nFLUX_JOB_SIZE=1\n",
       {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"}},
      {"jsrun",
       "LSB_JOBID=1\nJSM_NAMESPACE_RANK=0\nJSM_NAMESPACE_SIZE=1\n",
       {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"}},
      {"set but empty", "RANK=\n", {"RANK"}},
  };
  return table;
}

TEST(Sanitize, UnsetsTheLaunchAndKeepsTheAllocation) {
  for (const Case& c : cases()) {
    EXPECT_EQ(variables_to_unset(Env::parse(c.dump), Inherit::allocation), c.unset) << c.name;
  }
}

TEST(Sanitize, AllUnsetsTheJobToo) {
  EXPECT_THAT(variables_to_unset(Env::parse("SLURM_JOB_ID=1\nSLURM_CONF=/c\nSLURMD_NODENAME=n1\n"
                                            "PBS_JOBID=1\nPBS_O_WORKDIR=/w\nHOME=/h\n"),
                                 Inherit::nothing),
              ElementsAre("PBS_JOBID", "SLURMD_NODENAME", "SLURM_JOB_ID"));
}

// The essential property, for every environment that was captured from a real launch.
TEST(Sanitize, NobodyPlacedTheProcessAfterwards) {
  int environments = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::golden_environments())) {
    if (entry.path().extension() != ".env") continue;
    ++environments;
    const Env env = Env::parse(test::read_text(entry.path()));
    ResolveOptions options;
    options.allocation.read_files = false;
    const auto before = read_allocation(env, options.allocation);

    const Env nested = without(env, variables_to_unset(env, Inherit::allocation));
    const Resolution r = resolve(nested, Facts{}, options);
    EXPECT_EQ(r.launcher, "single") << entry.path();
    EXPECT_EQ(r.job_id, before ? std::optional(before->job_id) : std::nullopt) << entry.path();
    if (before) {
      EXPECT_EQ(r.hosts, before->hosts) << entry.path();
    }
    EXPECT_THAT(variables_to_unset(nested, Inherit::allocation), IsEmpty());

    const Env alone = without(env, variables_to_unset(env, Inherit::nothing));
    EXPECT_EQ(resolve(alone, Facts{}, options).launcher, "single") << entry.path();
    EXPECT_FALSE(read_allocation(alone, options.allocation)) << entry.path();
  }
  EXPECT_GT(environments, 10);
}

}  // namespace
}  // namespace hpcboot
