#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"
#include "jobs/queue/queue.hpp"

// What is printed follows the manuals of LSF and Flux.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Answers slurm_that_answers() {
  Answers answers;
  answers.say("scontrol show config", "ClusterName             = rorqual\n");
  return answers;
}

TEST(LsfQueue, ListsJobs) {
  Answers answers;
  const std::string columns =
      "jobid jobindex stat exit_code nexec_host run_time time_left exec_host output_file sub_cwd "
      "pend_reason job_name delimiter='|'";
  answers.say("lsid", "IBM Spectrum LSF 10.1\nMy cluster name is lassen\nMy master is l1\n");
  answers.say("bjobs -a -noheader -o " + columns,
              "7|0|RUN|-|2|60 second(s)|0:59 L|h1:h2|%J.out|/home/me|-|a|b\n"
              "8|2|PEND|-|-|-|-|-|-|/home/me|Job slot limit reached;|x\n"
              "9|0|EXIT|3|1|5 second(s)|-|h1|/home/me/o|/home/me|-|y\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->cluster(), "lassen");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].stage, JobStage::running);
  EXPECT_EQ(jobs[0].limit, seconds(3600));
  EXPECT_EQ(jobs[0].name, "a|b");
  EXPECT_EQ(jobs[1].id, "8[2]");
  EXPECT_EQ(jobs[1].reason, "Job slot limit reached;");
  EXPECT_EQ(jobs[2].exit_code, 3);
  EXPECT_THAT(jobs[2].output, ElementsAre("/home/me/o"));
  answers.say("bjobs -a -noheader -o " + columns, "No job found\n", 255);
  EXPECT_THAT(lsf_queue(Env(), answers.run())->jobs(), IsEmpty());
  // No jobs and no answer are two things.
  answers.say("bjobs -a -noheader -o " + columns, "LSF is down. Please wait ...\n", 255);
  EXPECT_THROW(lsf_queue(Env(), answers.run())->jobs(), Error);
}

TEST(FluxQueue, IsTheInstanceThatThisIsIn) {
  Answers answers = slurm_that_answers();
  const std::string list =
      "flux jobs -a --suppress-header --format={id}|{state}|{status}|{nnodes}|{t_submit}|{t_run}|"
      "{t_inactive}|{duration}|{returncode}|{nodelist}|{name}";
  answers.say("flux getattr size", "2\n");
  answers.say(list,
              "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n"
              "f13|INACTIVE|FAILED|1|1795472170.5|1795472171.5|1795472180.1|0.0|-9|n1|x\n");
  answers.say(list + " f12", "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n");
  answers.say("flux job info f12 jobspec",
              R"({"attributes": {"system": {"shell": {"options": {"output": {"stdout":
                 {"type": "file", "path": "flux-{{id}}.out"}}}}}}})");
  const Env env = Env::parse("FLUX_URI=local:///tmp/flux\n", "test");
  const auto queue = queue_here(env, answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "flux");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].limit, seconds(3600));
  EXPECT_EQ(jobs[1].exit_code, 137);
  EXPECT_EQ(jobs[1].state, "failed");
  EXPECT_THAT(queue->job("f12")->output, ElementsAre("flux-f12.out"));
  EXPECT_EQ(queue_here(Env(), answers.run())->scheduler(), "slurm");
}

TEST(QueueHere, IsNullWhereNoneAnswers) {
  EXPECT_FALSE(queue_here(Env(), Answers().run()));
  Answers answers = slurm_that_answers();
  EXPECT_FALSE(queue_here(Env(), answers.run(), "pbs"));
  answers.say("scontrol show config", "Unable to contact slurm controller", 1);
  EXPECT_FALSE(queue_here(Env(), answers.run()));
}

}  // namespace
}  // namespace hpcboot::queue
