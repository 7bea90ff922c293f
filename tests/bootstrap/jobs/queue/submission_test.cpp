#include "jobs/queue/submission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::queue {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JobIdIn, IsFoundWhateverTheSiteSays) {
  EXPECT_EQ(job_id_in("slurm", "sbatch: lua: hello\n12\n"), "12");
  EXPECT_EQ(job_id_in("slurm", "12;rorqual\n"), "12");
  EXPECT_EQ(job_id_in("pbs", "Welcome to Sockeye\n17.pbs-server.local\n"), "17.pbs-server.local");
  EXPECT_EQ(job_id_in("pbs", "17[].pbs\n"), "17[].pbs");
  EXPECT_EQ(job_id_in("sge", "21\n"), "21");
  EXPECT_EQ(job_id_in("sge", "9.2-6:2\n"), "9");
  EXPECT_EQ(job_id_in("lsf", "Job <77> is submitted to default queue <normal>.\n"), "77");
  EXPECT_EQ(job_id_in("pbs", "qsub: waiting for 5 minutes\n"), "");
  EXPECT_EQ(job_id_in("slurm", "12; rm -rf\n"), "12");
  EXPECT_EQ(job_id_in("slurm", ""), "");
  EXPECT_EQ(job_id_in("pbs", "[].pbs\n"), "");
  EXPECT_EQ(job_id_in("pbs", ".pbs\n"), "");
  EXPECT_EQ(job_id_in("slurm", "4711\n2026-11-maintenance\n"), "4711");
  EXPECT_EQ(job_id_in("pbs", "17.pbs\n2026-11-maintenance\n"), "17.pbs");
}

TEST(Submit, TellsTheIdAndWhatElseWasSaid) {
  Answers answers;
  answers.say("qsub -v A,B job.sh", "Welcome\n17.pbs\n");
  const Answer answer = submit({"pbs", "job.sh", {"A", "B"}}, answers.run());
  EXPECT_TRUE(answer.is_ok);
  EXPECT_EQ(answer.id, "17.pbs");
  EXPECT_EQ(answer.said, "Welcome\n");
  answers.say("sbatch --parsable job.sh", "sbatch: error: no\n", 1);
  EXPECT_FALSE(submit({"slurm", "job.sh"}, answers.run()).is_ok);
  EXPECT_THROW(submit({"sge", "job.sh"}, answers.run()), Error);
}

TEST(Submit, KeepsAwayWhatWouldWinOverTheScript) {
  Answers answers;
  answers.say("env -u SBATCH_TIMELIMIT -u SLURM_MEM_PER_CPU sbatch --parsable job.sh", "12\n");
  const Submission submission{"slurm",
                              "job.sh",
                              {},
                              Env({{"HOME", "/home/u"},
                                   {"SBATCH_ACCOUNT", "lab"},
                                   {"SBATCH_TIMELIMIT", "3"},
                                   {"SLURM_CONF", "/etc/slurm.conf"},
                                   {"SLURM_MEM_PER_CPU", "100"}})};
  EXPECT_EQ(submit(submission, answers.run()).id, "12");
  answers.say("env -u SBATCH_TIMELIMIT -u SLURM_MEM_PER_CPU sbatch --parsable job.sh",
              "env: 'sbatch': No such file or directory\n", 127);
  EXPECT_THROW(submit(submission, answers.run()), Error);
}

JobDemand demand(int nodes, int seconds, const std::string& queue = "") {
  JobDemand job;
  job.shape.nodes = nodes;
  job.shape.cores = 8;
  job.shape.seconds = seconds;
  job.queue = queue;
  return job;
}

constexpr const char* kPartitions =
    "PartitionName=main Default=YES MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 "
    "MaxCPUsPerNode=UNLIMITED State=UP TotalNodes=2 MaxMemPerNode=UNLIMITED\n"
    "PartitionName=short Default=NO MaxNodes=1 MaxTime=00:10:00 MinNodes=1 MaxCPUsPerNode=4 "
    "State=DOWN TotalNodes=2 MaxMemPerNode=1024\n";

std::vector<std::string> found_in(const std::vector<LimitProblem>& problems) {
  std::vector<std::string> found;
  for (const LimitProblem& problem : problems) found.push_back(problem.found);
  return found;
}

TEST(SlurmLimits, AreThoseOfThePartition) {
  Answers answers;
  answers.say("scontrol --oneliner show partition", kPartitions);
  EXPECT_THAT(slurm_limit_problems(demand(2, 86400), answers.ask()), IsEmpty());
  EXPECT_THAT(found_in(slurm_limit_problems(demand(3, 86401), answers.ask())),
              ::testing::ElementsAre("a walltime of 24:00:01", "3 nodes"));
  JobDemand job = demand(2, 601, "short");
  job.shape.memory_gb = 2;
  const auto problems = slurm_limit_problems(job, answers.ask());
  EXPECT_THAT(
      found_in(problems),
      ::testing::ElementsAre("a walltime of 00:10:01", "2 nodes", "8 cores on a node",
                             "2048 MiB of memory on a node", "the partition short, which is DOWN"));
  EXPECT_EQ(problems[0].expected, "at most 00:10:00 (scontrol show partition short)");
  EXPECT_THAT(problems[0].remedy, HasSubstr("--set queue.name=… (main)"));
  // Of several, Slurm chooses the one that fits; unknown ones are reported by sbatch.
  EXPECT_THAT(slurm_limit_problems(demand(9, 601, "short,main"), answers.ask()), IsEmpty());
  EXPECT_THAT(slurm_limit_problems(demand(9, 601, "absent"), answers.ask()), IsEmpty());
  EXPECT_THAT(slurm_limit_problems(demand(9, 601), Answers().ask()), IsEmpty());
}

constexpr const char* kQueues =
    "Queue: workq\n    queue_type = Execution\n    enabled = True\n    started = True\n\n"
    "Queue: short\n    queue_type = Execution\n    resources_max.nodect = 1\n"
    "    resources_max.ngpus = 2\n    resources_max.walltime = 00:10:00\n    resources_min.ncpus = "
    "4\n    enabled = True\n\n"
    "Queue: long\n    resources_min.walltime = 12:00:00\n    enabled = True\n\n"
    "Queue: closed\n    queue_type = Execution\n    enabled = False\n\n"
    "Queue: route\n    queue_type = Route\n    route_destinations = short,workq@pbs\n"
    "    enabled = True\n\n"
    "Queue: circle\n    queue_type = Route\n    route_destinations = circle\n    enabled = True\n\n"
    "Queue: dead\n    queue_type = Route\n    route_destinations = short,closed\n"
    "    enabled = True\n";

Answers pbs_limits() {
  Answers answers;
  answers.say("qstat -Bf",
              "Server: pbs\n    default_queue = workq\n    resources_max.ncpus = 1000\n");
  answers.say("qstat -Qf", kQueues);
  answers.say("pbsnodes -a",
              "n1\n     Mom = n1\n     resources_available.mem = 200gb\n     "
              "resources_available.ncpus = 8\n     resources_available.ngpus = 4\n\n"
              "n2\n     Mom = n2\n     resources_available.mem = 200gb\n     "
              "resources_available.ncpus = 8\n");
  return answers;
}

TEST(PbsLimits, AreThoseOfQueueServerAndHosts) {
  const auto ask = pbs_limits().ask();
  EXPECT_THAT(pbs_limit_problems(demand(2, 86400), ask), IsEmpty());
  EXPECT_THAT(found_in(pbs_limit_problems(demand(2, 601, "short"), ask)),
              ::testing::ElementsAre("a walltime of 00:10:01", "2 nodes"));
  JobDemand small = demand(1, 60, "short");
  small.shape.cores = 2;
  EXPECT_EQ(pbs_limit_problems(small, ask).at(0).expected, "at least 4 (qstat -Qf short)");
  EXPECT_THAT(pbs_limit_problems(demand(1, 43200, "long"), ask), IsEmpty());
  EXPECT_EQ(pbs_limit_problems(demand(1, 43199, "long"), ask).at(0).expected,
            "at least 12:00:00 (qstat -Qf long)");
  EXPECT_EQ(pbs_limit_problems(demand(1, 60, "absent"), ask).at(0).found, "the queue absent");
  EXPECT_EQ(pbs_limit_problems(demand(1, 60, "closed"), ask).at(0).found,
            "the queue closed, which accepts no jobs");
  JobDemand gpus = demand(2, 60);
  gpus.shape.gpus = 1;
  EXPECT_THAT(pbs_limit_problems(gpus, ask).at(0).expected, HasSubstr("1 such hosts"));
  JobDemand many_gpus = demand(1, 60, "short");
  many_gpus.shape.gpus = 3;
  EXPECT_EQ(pbs_limit_problems(many_gpus, ask).at(0).found, "3 GPUs");
  EXPECT_EQ(pbs_limit_problems(demand(200, 60), ask).at(0).found, "1600 cores");
}

TEST(PbsLimits, OfARoutingQueueAreThoseOfWhatItLeadsTo) {
  const auto ask = pbs_limits().ask();
  EXPECT_THAT(pbs_limit_problems(demand(2, 3600, "route"), ask), IsEmpty());
  EXPECT_EQ(pbs_limit_problems(demand(1, 3600, "dead"), ask).at(0).found, "a walltime of 01:00:00");
  EXPECT_THAT(pbs_limit_problems(demand(2, 3600, "circle"), ask), IsEmpty());
}

TEST(PbsLimits, OfTorque) {
  Answers answers;
  answers.say("pbsnodes -a", "n1\n     state = free\n     np = 4\n     gpus = 2\n");
  EXPECT_EQ(pbs_limit_problems(demand(1, 60), answers.ask()).size(), 1U);
  JobDemand fits = demand(1, 60);
  fits.shape.cores = 4;
  fits.shape.gpus = 2;
  EXPECT_THAT(pbs_limit_problems(fits, answers.ask()), IsEmpty());
}

// sbatch gets these variables, and they override the options in its script.
TEST(ProblemsOf, JudgesThePartitionThatSbatchWouldTake) {
  Answers answers;
  answers.say("scontrol --oneliner show partition", kPartitions);
  answers.say("sbatch --test-only job.sh", "sbatch: Job 5 to start at 12:00\n");
  std::string said;
  const auto problems = [&](const JobDemand& job, const Env& env) {
    return problems_of({"slurm", "job.sh", {}, env}, job, answers.run(), said);
  };
  JobDemand job = demand(1, 601, "short");
  job.shape.cores = 4;
  EXPECT_THAT(
      found_in(problems(job, Env())),
      ::testing::ElementsAre("a walltime of 00:10:01", "the partition short, which is DOWN"));
  EXPECT_THAT(problems(job, Env::parse("SBATCH_PARTITION=main")), IsEmpty());
  EXPECT_THAT(problems(job, Env::parse("SBATCH_PARTITION=short,main")), IsEmpty());
  job.queue = "main";
  EXPECT_THAT(problems(job, Env::parse("SBATCH_PARTITION=")), IsEmpty());
  const auto found = problems(job, Env::parse("SBATCH_PARTITION=short"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].remedy, HasSubstr("another partition with SBATCH_PARTITION=… (main)"));
}

TEST(ProblemsOf, AsksTheClusterThatSbatchWouldTake) {
  Answers answers;
  answers.say("scontrol --oneliner show partition", kPartitions);
  answers.say("scontrol --clusters=big --oneliner show partition",
              "PartitionName=main Default=YES MaxTime=7-00:00:00 State=UP TotalNodes=9\n");
  answers.say("sbatch --test-only job.sh", "");
  std::string said;
  const auto count = [&](const std::string& cluster, const Env& env) {
    JobDemand job = demand(9, 86401);
    job.cluster = cluster;
    return problems_of({"slurm", "job.sh", {}, env}, job, answers.run(), said).size();
  };
  EXPECT_EQ(count("", Env()), 2U);
  EXPECT_EQ(count("big", Env()), 0U);
  EXPECT_EQ(count("", Env::parse("SBATCH_CLUSTERS=big")), 0U);
  // Of several, Slurm chooses the one that starts the job first; scontrol takes only one.
  EXPECT_EQ(count("", Env::parse("SBATCH_CLUSTERS=big,small")), 0U);
  EXPECT_EQ(count("big", Env::parse("SLURM_CLUSTERS=here")), 2U);  // which scontrol reads
}

TEST(ProblemsOf, AsksTheSchedulerItself) {
  Answers answers;
  std::string said;
  answers.say("sbatch --test-only job.sh", "sbatch: Job 5 to start at 12:00\n");
  EXPECT_THAT(problems_of({"slurm", "job.sh"}, demand(1, 60), answers.run(), said), IsEmpty());
  EXPECT_EQ(said, "sbatch: Job 5 to start at 12:00\n");
  answers.say("sbatch --test-only job.sh",
              "allocation failure: Requested node\nconfiguration is not available\n", 1);
  EXPECT_EQ(problems_of({"slurm", "job.sh"}, demand(1, 60), answers.run(), said).at(0).found,
            "sbatch says: allocation failure: Requested node configuration is not available");
  // No answer of the scheduler is not an answer about the job.
  for (const char* output :
       {"sbatch: fatal: \n"
        "allocation failure: Unable to contact slurm controller (connect failure)\n",
        "sbatch: error: failed to fetch config: DNS SRV lookup failed\n",
        "qsub: cannot connect to server pbs (errno=15010)\n"}) {
    answers.say("sbatch --test-only job.sh", output, 1);
    try {
      problems_of({"slurm", "job.sh"}, demand(1, 60), answers.run(), said);
      FAIL() << output;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::backend_unavailable) << output;
      EXPECT_THAT(error.found(), HasSubstr("sbatch does not reach the scheduler: "));
      EXPECT_THAT(error.remedy(), HasSubstr("login node"));
    }
  }
  // Grid Engine's qsub exits with 0 in either case.
  answers.say("qsub -w v job.sh", "verification: no suitable queues\n");
  EXPECT_EQ(problems_of({"sge", "job.sh"}, demand(1, 60), answers.run(), said).size(), 1U);
  answers.say("qsub -w v job.sh", "verification: found suitable queue(s)\n");
  EXPECT_THAT(problems_of({"sge", "job.sh"}, demand(1, 60), answers.run(), said), IsEmpty());
  EXPECT_THROW(problems_of({"pbs", "job.sh"}, demand(1, 60), Answers().run(), said), Error);
  said.clear();
  EXPECT_THAT(problems_of({"pbs", "job.sh"}, demand(1, 60), pbs_limits().run(), said), IsEmpty());
  EXPECT_EQ(said, "");
  EXPECT_THAT(problems_of({"lsf", "job.sh"}, demand(1, 60), Answers().run(), said), IsEmpty());
  EXPECT_EQ(said, "LSF checks a job only when it is submitted\n");
}

}  // namespace
}  // namespace hpcboot::queue
