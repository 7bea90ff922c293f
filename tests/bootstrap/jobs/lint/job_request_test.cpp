#include "jobs/lint/job_request.hpp"

#include <gtest/gtest.h>

// The numbers that directives request, and those they leave open, on which no rule reports
// anything.
namespace hpcboot::lint {
namespace {

std::string told(const JobRequest& job) {
  std::string all;
  const auto add = [&](const char* name, const std::optional<int>& number) {
    if (number) all += (all.empty() ? "" : " ") + (name + std::to_string(*number));
  };
  add("nodes=", job.nodes);
  add("tasks=", job.tasks);
  add("each=", job.tasks_per_node);
  add("gpus=", job.gpus_per_node);
  if (job.exclusive) all += " exclusive";
  if (job.several_parts) all += "several";
  return all;
}

struct Case {
  const char* directives;
  const char* request;
};

TEST(JobRequest, OfSlurm) {
  const Case cases[] = {
      {"-N 2", "nodes=2 tasks=2 each=1"},
      {"-N 0", "nodes=0 tasks=0"},
      {"-N 1-4", ""},
      {"-n 6", "tasks=6"},
      {"-n x", ""},
      {"-N 2 -n 6", "nodes=2 tasks=6 each=3"},
      {"-N 2 -n 5", "nodes=2 tasks=5"},
      {"-N 2 -n x", "nodes=2"},
      {"-N 2 --ntasks-per-node=4", "nodes=2 tasks=8 each=4"},
      {"-N 2 --ntasks-per-node=x", "nodes=2"},
      {"--ntasks-per-node=4", "each=4"},
      {"-N 2 --ntasks-per-gpu=1", "nodes=2"},
      {"-N 1000000 --ntasks-per-node=1", "nodes=1000000 tasks=1000000 each=1"},
      {"-N 1000000 --ntasks-per-node=2", "nodes=1000000 each=2"},
      {"-N 1000001", ""},
      {"-n 1 --gpus-per-node=4", "tasks=1 gpus=4"},
      {"-n 1 --gpus-per-node=a100:4", "tasks=1 gpus=4"},
      {"-n 1 --gpus-per-node=a100", "tasks=1 gpus=1"},
      {"-n 1 --gpus-per-node=a100:$N", "tasks=1"},
      {"-n 1 --gres=gpu", "tasks=1 gpus=1"},
      {"-n 1 --gres=gpu:2,nvme:1,gres:gpu:a100:3", "tasks=1 gpus=5"},
      {"-n 1 --gres=gpu,gpu", "tasks=1 gpus=2"},
      {"-n 1 --gres=gpu:$N,gpu:1", "tasks=1"},
      {"-n 1 --gres=gpu:999999,gpu", "tasks=1 gpus=1000000"},
      {"-n 1 --gres=gpu:1000000,gpu:1", "tasks=1"},
      {"-n 1 --gres=nvme:1", "tasks=1"},
      {"-N 2 -n 2 --gpus=8", "nodes=2 tasks=2 each=1 gpus=4"},
      {"-N 2 -n 2 --gpus=7", "nodes=2 tasks=2 each=1"},
      {"-N 0 --gpus=8", "nodes=0 tasks=0"},
      {"-n 1 --gpus=8", "tasks=1"},
      {"-n 1 --exclusive", "tasks=1 exclusive"},
      {"-n 1 --exclusive=user", "tasks=1"},
      {"-n 1\n#SBATCH hetjob\n#SBATCH -n 2", "several"},
      {"-n 1\n#SBATCH packjob\n#SBATCH -n 2", "several"},
  };
  for (const Case& one : cases) {
    const std::string script = std::string("#!/bin/bash\n#SBATCH ") + one.directives + "\n";
    EXPECT_EQ(told(job_request_of(read_script(script))), one.request) << script;
  }
}

TEST(JobRequest, OfPbs) {
  const Case cases[] = {
      {"select=2:ncpus=8:mpiprocs=4", "nodes=2 tasks=8"},
      {"select=2:ncpus=8+1:mpiprocs=3", "nodes=3 tasks=5"},
      {"select=ncpus=8", "nodes=1 tasks=1"},
      {"select=4:mpiprocs=2,place=pack:excl", "nodes=1 tasks=8 exclusive"},
      {"select=4,place=scatter", "nodes=4 tasks=4"},
      {"select=1000000+1", "nodes=1000000 tasks=1000000"},
      {"nodes=2:ppn=8", "nodes=2 tasks=16"},
      {"nodes=2", "nodes=2"},
      {"nodes=1:ppn=8+2:ppn=4", ""},
      {"walltime=1:00:00", ""},
  };
  for (const Case& one : cases) {
    const std::string script = std::string("#!/bin/bash\n#PBS -l ") + one.directives + "\n";
    EXPECT_EQ(told(job_request_of(read_script(script))), one.request) << script;
  }
}

TEST(JobRequest, OfLsf) {
  const Case cases[] = {
      {"-n 8", "tasks=8"},
      {"-n 8\n#BSUB -R \"span[ptile=4]\"", "tasks=8 each=4"},
      {"-n 2\n#BSUB -R \"span[ptile=4] rusage[mem=1]\"", "tasks=2 each=2"},
      {"-n 2\n#BSUB -gpu \"num=2:mode=exclusive_process\"", "tasks=2 gpus=2"},
      {"-n 2\n#BSUB -gpu \"mode=shared\"", "tasks=2"},
  };
  for (const Case& one : cases) {
    const std::string script = std::string("#!/bin/bash\n#BSUB ") + one.directives + "\n";
    EXPECT_EQ(told(job_request_of(read_script(script))), one.request) << script;
  }
  EXPECT_EQ(told(job_request_of(read_script("#!/bin/bash\nsrun -n 4 ./a\n"))), "");
}

TEST(JobRequest, ResourcesOfPbsStandWhereTheyStand) {
  const std::string script = "#!/bin/bash\n#PBS -l select=1:ngpus=2:ompthreads=3,walltime=10\n";
  const auto resources = pbs_resources(read_script(script));
  ASSERT_EQ(resources.size(), 2U);
  EXPECT_EQ(resources[0].name, "select");
  EXPECT_EQ(resources[0].at, script.find("select"));
  EXPECT_EQ(resources[1].name, "walltime");
  EXPECT_EQ(resources[1].value, "10");
  EXPECT_EQ(resources[1].at, script.find("walltime"));
  const auto chunks = parse_select(resources[0].value);
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].ngpus, 2);
  EXPECT_EQ(chunks[0].ompthreads, 3);
  EXPECT_EQ(chunks[0].ncpus, std::nullopt);
}

}  // namespace
}  // namespace hpcboot::lint
