#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers.hpp"
#include "jobs/queue/queue.hpp"

// The output of Grid Engine 8.1.9, shortened.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

Answers grid_engine_here(const std::string& list) {
  Answers answers;
  answers.say("qconf -sql", "all.q\n");
  answers.say("qstat -u " + user_name() + " -xml", list);
  return answers;
}

constexpr const char* kQstat =
    "<?xml version='1.0'?>\n<job_info>\n<queue_info>\n<job_list state=\"running\">\n"
    "<JB_job_number>5</JB_job_number>\n<JB_name>a&amp;b</JB_name>\n<state>r</state>\n"
    "<JAT_start_time>2026-11-23T22:20:02</JAT_start_time>\n<queue_name>all.q@n1</queue_name>\n"
    "<slots>4</slots>\n</job_list>\n</queue_info>\n<job_info>\n<job_list state=\"pending\">\n"
    "<JB_job_number>7</JB_job_number>\n<JB_name>x</JB_name>\n<state>hqw</state>\n"
    "<JB_submission_time>2026-11-23T22:20:02</JB_submission_time>\n<queue_name></queue_name>\n"
    "<tasks>2</tasks>\n</job_list>\n</job_info>\n</job_info>\n";

TEST(GridEngineQueue, ListsJobsAndWhyTheyWait) {
  Answers answers = grid_engine_here(kQstat);
  answers.say("qstat -j 7",
              "job_number:                 7\ncwd:                        /home/me/p\n"
              "hard resource_list:         gpu=1,h_rt=300\n"
              "stdout_path_list:           NONE:NONE:logs/\n"
              "scheduling info:            queue instance \"all.q@n1\" dropped because it is full\n"
              "                            cannot run in PE\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "sge");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].id, "5");
  EXPECT_EQ(jobs[0].name, "a&b");
  EXPECT_EQ(jobs[0].state, "running");
  EXPECT_EQ(jobs[0].hosts, "n1");
  EXPECT_NE(time_of(jobs[0].start), 0);
  EXPECT_EQ(time_of(jobs[0].submitted), 0);
  EXPECT_EQ(jobs[0].stage, JobStage::running);
  EXPECT_EQ(jobs[1].id, "7.2");
  EXPECT_EQ(jobs[1].state, "held");
  EXPECT_EQ(jobs[1].stage, JobStage::waiting);
  EXPECT_EQ(time_of(jobs[1].start), 0);
  EXPECT_EQ(time_of(jobs[1].submitted), time_of(jobs[0].start));
  EXPECT_EQ(jobs[1].hosts, "");
  EXPECT_EQ(jobs[1].name, "x");
  EXPECT_EQ(jobs[1].limit, seconds(300));
  EXPECT_EQ(jobs[1].reason, "queue instance \"all.q@n1\" dropped because it is full");
  EXPECT_THAT(jobs[1].output, ElementsAre("/home/me/p/logs/x.o7.2"));
}

TEST(GridEngineQueue, TakesTheLastAttemptOfWhatHasEnded) {
  struct Case {
    const char* failed;
    const char* status;
    const char* state;
    int code;
  };
  const Case cases[] = {{"0", "0", "completed", 0},
                        {"0", "7", "failed", 7},
                        {"100 : assumedly after job", "137", "killed", 137},
                        {"37  : qmaster enforced h_rt limit", "137 (Killed)", "timeout", 137}};
  for (const Case& one : cases) {
    Answers answers = grid_engine_here("<job_info></job_info>");
    answers.say("qacct -j 4", std::string("==========\njobname x\nfailed 0\nexit_status 99\n"
                                          "==========\nqname        all.q\njobname      x\n") +
                                  "end_time     Mon Nov 23 22:20:05 2026\nfailed       " +
                                  one.failed + "\nexit_status  " + one.status + "\n");
    const auto job = grid_engine_queue(Env(), answers.run())->job("4");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->state, one.state);
    EXPECT_EQ(job->exit_code, one.code);
    EXPECT_NE(time_of(job->end), 0);
  }
  EXPECT_FALSE(grid_engine_queue(Env(), grid_engine_here("").run())->job("4"));
}

TEST(GridEngineQueue, TakesTheLastAttemptOfEachTaskOfAnArrayThatHasEnded) {
  const auto record = [](const char* task, const char* status, const char* minute) {
    return std::string("==============\nqname        all.q\njobname      x\ntaskid       ") + task +
           "\nend_time     Mon Nov 23 22:" + minute + ":05 2026\nfailed       0\nexit_status  " +
           status + "\n";
  };
  const auto job_with = [](const std::string& records) {
    Answers answers = grid_engine_here("<job_info></job_info>");
    answers.say("qacct -j 7", records);
    return grid_engine_queue(Env(), answers.run())->job("7");
  };
  const std::string latest = record("3", "0", "29");
  const auto failed =
      job_with(record("1", "0", "20") + record("2", "7", "21") + latest + record("1", "0", "22"));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->id, "7");
  EXPECT_EQ(failed->name, "x");
  EXPECT_EQ(failed->state, "failed");
  EXPECT_EQ(failed->exit_code, 7);
  EXPECT_EQ(failed->end, job_with(latest)->end);
  const auto repeated = job_with(record("2", "7", "21") + latest + record("2", "0", "22"));
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->state, "completed");
  EXPECT_EQ(repeated->exit_code, 0);
}

TEST(GridEngineQueue, CancelsATaskAlone) {
  const auto queue = grid_engine_queue(Env(), grid_engine_here("").run());
  EXPECT_THAT(queue->cancel_command("7"), ElementsAre("qdel", "7"));
  EXPECT_THAT(queue->cancel_command("7.2"), ElementsAre("qdel", "7", "-t", "2"));
}

}  // namespace
}  // namespace hpcboot::queue
