#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"
#include "jobs/queue/queue.hpp"

// The output of OpenPBS 23.06.06, shortened; for Torque according to its manual.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Answers pbs_here() {
  Answers answers;
  answers.say("qstat -Bf", "Server: pbs\n    server_state = Active\n    default_queue = workq\n");
  return answers;
}

constexpr const char* kPbsRunning =
    "Job Id: 19.pbs\n    Job_Name = slow\n    Job_Owner = alice@pbs\n    job_state = R\n"
    "    ctime = Mon Nov 23 21:59:28 2026\n    exec_host = n1/0*2+n2/0*2+n1/1\n"
    "    Error_Path = pbs:/home/alice/slow.e19\n    Join_Path = oe\n"
    "    Output_Path = pbs:/home/alice/slow.o19\n    Resource_List.nodect = 2\n"
    "    Resource_List.walltime = 00:20:00\n    stime = Mon Nov 23 21:59:28 2026\n"
    "    substate = 42\n    Variable_List = PBS_O_HOME=/home/alice,PBS_O_PATH=/usr/local\n"
    "\t/games:/usr/games,PBS_O_HOST=pbs\n    comment = Job run at Mon Nov 23 at 21:59\n\n";

std::string pbs_ended(const std::string& id, const std::string& substate,
                      const std::string& status) {
  return "Job Id: " + id + "\n    Job_Name = x\n    job_state = F\n    substate = " + substate +
         "\n    obittime = Mon Nov 23 21:59:34 2026\n" +
         (status.empty() ? "" : "    Exit_status = " + status + "\n") + "\n";
}

TEST(PbsQueue, ListsWhatItKeepsOfTheUser) {
  Answers answers = pbs_here();
  answers.say("qselect -x -u " + user_name(), "19.pbs\n2.pbs\n3.pbs\n");
  answers.say("qstat -x -f 19.pbs 2.pbs 3.pbs",
              std::string(kPbsRunning) +
                  "Job Id: 2.pbs\n    Job_Name = toobig\n    job_state = Q\n"
                  "    comment = Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: "
                  "1\n\t6 T: 16)\n    Resource_List.nodect = 1\n\n" +
                  pbs_ended("3.pbs", "93", "3"));
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "pbs");
  EXPECT_EQ(queue->cluster(), "pbs");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].state, "running");
  EXPECT_EQ(jobs[0].hosts, "n1,n2");
  EXPECT_EQ(jobs[0].nodes, 2);
  EXPECT_EQ(jobs[0].limit, seconds(1200));
  EXPECT_NE(time_of(jobs[0].start), 0);
  EXPECT_THAT(jobs[0].output, ElementsAre("/home/alice/slow.o19"));
  EXPECT_EQ(jobs[1].stage, JobStage::waiting);
  EXPECT_EQ(jobs[1].reason,
            "Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: 16 T: 16)");
  EXPECT_EQ(jobs[2].state, "failed");
  EXPECT_EQ(jobs[2].exit_code, 3);
}

TEST(PbsQueue, KnowsHowJobsEnd) {
  struct Case {
    const char* substate;
    const char* status;
    const char* state;
    std::optional<int> code;
  };
  const Case cases[] = {{"93", "0", "completed", 0},  {"93", "3", "failed", 3},
                        {"93", "-29", "timeout", {}}, {"91", "271", "deleted", 143},
                        {"91", "", "deleted", {}},    {"93", "-1", "never ran", {}},
                        {"93", "265", "failed", 137}, {"93", "-4", "killed by PBS", {}}};
  for (const Case& one : cases) {
    Answers answers = pbs_here();
    answers.say("qstat -x -f 3.pbs", pbs_ended("3.pbs", one.substate, one.status));
    const auto job = pbs_queue(Env(), answers.run())->job("3.pbs");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->stage, JobStage::ended);
    EXPECT_EQ(job->state, one.state) << one.status;
    EXPECT_EQ(job->exit_code, one.code) << one.status;
  }
}

TEST(PbsQueue, OfTorqueHasNoHistory) {
  Answers answers = pbs_here();
  answers.say("qselect -x -u " + user_name(), "qselect: invalid option -- 'x'\n", 2);
  answers.say("qselect -u " + user_name(), "7.torque\n");
  answers.say("qstat -f 7.torque",
              "Job Id: 7.torque\n    Job_Name = x\n    job_state = C\n    exit_status = 5\n");
  const auto jobs = pbs_queue(Env(), answers.run())->jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].exit_code, 5);
  EXPECT_EQ(jobs[0].state, "failed");
}

TEST(PbsQueue, NamesTheFileOfAnArraysTask) {
  Answers answers = pbs_here();
  answers.say("qstat -x -f 7[2].pbs",
              "Job Id: 7[2].pbs\n    Job_Name = arr\n    job_state = R\n    Join_Path = oe\n"
              "    Output_Path = pbs:/home/alice/arr.o7.^array_index^\n");
  EXPECT_THAT(pbs_queue(Env(), answers.run())->job("7[2].pbs")->output,
              ElementsAre("/home/alice/arr.o7.2"));
}

TEST(PbsQueue, NamesNoFileOfAnArrayThatIsListedAsAWhole) {
  Answers answers = pbs_here();
  answers.say("qselect -x -u " + user_name(), "7[].pbs\n");
  answers.say("qstat -x -f 7[].pbs",
              "Job Id: 7[].pbs\n    Job_Name = arr\n    job_state = B\n    Join_Path = oe\n"
              "    Output_Path = pbs:/home/alice/arr.o7.^array_index^\n");
  const auto jobs = pbs_queue(Env(), answers.run())->jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_THAT(jobs[0].output, IsEmpty());
}

TEST(PbsQueue, TakesAnArrayAsOne) {
  Answers answers = pbs_here();
  const std::string whole =
      "Job Id: 28[].pbs\n    Job_Name = arr\n    job_state = F\n    substate = 93\n"
      "    Output_Path = pbs:/home/alice/arr.o28.^array_index^\n"
      "    Join_Path = oe\n    Exit_status = 0\n\n";
  const auto task = [](const std::string& index, const std::string& code) {
    return "Job Id: 28[" + index +
           "].pbs\n    Job_Name = arr\n    job_state = X\n    substate = 93\n"
           "    Join_Path = oe\n    Output_Path = pbs:/home/alice/arr.o28.^array_index^\n"
           "    Exit_status = " +
           code + "\n\n";
  };
  answers.say("qstat -x -t -f 28[]", whole + task("0", "9") + task("1", "0"));
  answers.say("qstat -f 28", "qstat: Unknown Job Id 28.pbs\n", 153);
  for (const char* asked : {"28[]", "28"}) {
    const auto job = pbs_queue(Env(), answers.run())->job(asked);
    ASSERT_TRUE(job) << asked;
    EXPECT_EQ(job->id, "28[].pbs");
    EXPECT_EQ(job->exit_code, 9);
    EXPECT_THAT(job->output, ElementsAre("/home/alice/arr.o28.0", "/home/alice/arr.o28.1"));
  }
}

TEST(PbsQueue, OfTorqueListsNoParentOfAnArray) {
  const auto task = [](const std::string& index, const std::string& code) {
    return "Job Id: 28[" + index + "].torque\n    Job_Name = arr-" + index +
           "\n    job_state = C\n    exit_status = " + code + "\n\n";
  };
  Answers answers = pbs_here();
  answers.say("qstat -f 28", "qstat: Unknown Job Id 28.torque\n", 153);
  for (const char* asked : {"28[].torque", "28[]", "28"}) {
    answers.say(std::string("qstat -t -f ") + (asked[2] == '[' ? asked : "28[]"),
                task("0", "0") + task("1", "7"));
    const auto job = pbs_queue(Env(), answers.run())->job(asked);
    ASSERT_TRUE(job) << asked;
    EXPECT_EQ(job->id, "28[].torque");
    EXPECT_EQ(job->state, "failed");
    EXPECT_EQ(job->exit_code, 7);
  }
  answers.say("qstat -t -f 28[]", task("1", "0"));
  EXPECT_EQ(pbs_queue(Env(), answers.run())->job("28[]")->id, "28[].torque");
  answers.say("qstat -f 28[1].torque", task("1", "7"));
  EXPECT_EQ(pbs_queue(Env(), answers.run())->job("28[1].torque")->id, "28[1].torque");
}

TEST(PbsQueue, TakesNoVariableForAJob) {
  Answers answers = pbs_here();
  std::string text = kPbsRunning;
  text.insert(text.find("    comment"), "x\n\nJob Id: 999.pbs\n    job_state = F\n");
  answers.say("qselect -x -u " + user_name(), "19.pbs\n");
  answers.say("qstat -x -f 19.pbs", text);
  const auto jobs = pbs_queue(Env(), answers.run())->jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].state, "running");
  answers.say("qstat -x -f short", text);  // of a queue
  answers.say("qstat -f short", text);
  EXPECT_FALSE(pbs_queue(Env(), answers.run())->job("short"));
}

TEST(PbsQueue, DoesNotKnowOthersJobs) {
  Answers answers = pbs_here();
  answers.say("qstat -x -f 99", "qstat: Unknown Job Id 99.pbs\n", 153);
  answers.say("qstat -f 99", "qstat: Unknown Job Id 99.pbs\n", 153);
  answers.say("qstat -t -f 99[]", "qstat: Unknown Job Id 99[].pbs\n", 153);
  EXPECT_FALSE(pbs_queue(Env(), answers.run())->job("99"));
  // An unreachable server does not mean that the job is unknown.
  answers.say("qstat -f 99", "qstat: cannot connect to server pbs (errno=15010)\n", 1);
  EXPECT_THROW(pbs_queue(Env(), answers.run())->job("99"), Error);
}

}  // namespace
}  // namespace hpcboot::queue
