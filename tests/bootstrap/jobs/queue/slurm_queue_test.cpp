#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"
#include "jobs/queue/queue.hpp"

// The output of Slurm 22.05.8, shortened.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string slurm(const std::string& command) {
  return "env SLURM_TIME_FORMAT=%s " + command;
}

Answers slurm_here() {
  Answers answers;
  answers.say("scontrol show config", "Configuration data\nClusterName             = rorqual\n");
  return answers;
}

std::string squeue(const std::string& format) {
  return "squeue --noheader --states=all --user " + std::to_string(::geteuid()) +
         " --format=" + format;
}

constexpr const char* kListed = "%i|%T|%D|%V|%S|%e|%l|%r|%N";

TEST(SlurmQueue, ListsWhatRunsWaitsAndHasEnded) {
  Answers answers = slurm_here();
  answers.say(slurm(squeue(kListed)),
              "12|PENDING|2|1795472170|1795479999|N/A|10:00|Priority|\n"
              "13_4|RUNNING|2|1795472162|1795472163|1795475763|1-00:00:00|None|n[1-2]\n"
              "9|FAILED|1|1795472100|1795472101|1795472110|UNLIMITED|NonZeroExitCode|n1\n"
              "no line of squeue\n");
  // A name may contain bars, and lines that look like other jobs.
  answers.say(slurm(squeue("%i|%j")), "12|train\n9|x\n13_4|a|b\n9|another\n99|fake\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "slurm");
  EXPECT_EQ(queue->cluster(), "rorqual");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].stage, JobStage::waiting);
  EXPECT_EQ(jobs[0].state, "pending");
  EXPECT_EQ(jobs[0].reason, "Priority");
  EXPECT_EQ(time_of(jobs[0].start), 1795479999);
  EXPECT_EQ(jobs[0].limit, seconds(600));
  EXPECT_EQ(jobs[1].id, "13_4");
  EXPECT_EQ(jobs[1].stage, JobStage::running);
  EXPECT_EQ(jobs[1].name, "a|b");
  EXPECT_EQ(jobs[1].hosts, "n[1-2]");
  EXPECT_EQ(jobs[1].limit, seconds(86400));
  EXPECT_EQ(jobs[2].stage, JobStage::ended);
  EXPECT_EQ(jobs[2].reason, "");
  EXPECT_EQ(time_of(jobs[2].end), 1795472110);
  EXPECT_EQ(jobs[2].limit, std::nullopt);
}

TEST(SlurmQueue, TakesNoSettingsOfTheUserForSqueue) {
  Answers answers = slurm_here();
  const Env env = Env::parse("SQUEUE_FORMAT=%i\nSQUEUE_STATES=RUNNING\nHOME=/home/me\n", "test");
  for (const char* format : {kListed, "%i|%j"})
    answers.say("env -u SQUEUE_FORMAT -u SQUEUE_STATES SLURM_TIME_FORMAT=%s " + squeue(format), "");
  EXPECT_THAT(slurm_queue(env, answers.run())->jobs(), IsEmpty());
}

std::string line_of(const std::string& ids, const std::string& name, const std::string& state,
                    const std::string& code, const std::string& out) {
  return ids + " JobName=" + name + " UserId=tester(4242) GroupId=tester(4242) JobState=" + state +
         " Reason=NonZeroExitCode Dependency=(null) ExitCode=" + code +
         " SubmitTime=1795472167 StartTime=1795472168 EndTime=1795472169 TimeLimit=00:10:00 "
         "NodeList=n1 NumNodes=1 Command=/x/job.sh 5 WorkDir=/x StdErr=" +
         out + " StdIn=/dev/null StdOut=" + out + " Power= \n";
}

void say_job(Answers& answers, const std::string& id, const std::string& lines,
             const std::string& names, const std::string& ids) {
  answers.say(slurm("scontrol --oneliner show job " + id), lines);
  const std::string ask = "squeue --noheader --states=all --jobs " + id + " --format=";
  answers.say(slurm(ask + "%j"), names);
  answers.say(slurm(ask + "%i"), ids);
}

TEST(SlurmQueue, DescribesOneJob) {
  Answers answers = slurm_here();
  say_job(answers, "8", line_of("JobId=8", "a b", "FAILED", "0:9", "/x/my out.txt"), "a b\n",
          "8\n");
  const auto job = slurm_queue(Env(), answers.run())->job("8");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->name, "a b");
  EXPECT_EQ(job->state, "failed");
  EXPECT_EQ(job->exit_code, 137);
  EXPECT_THAT(job->output, ElementsAre("/x/my out.txt"));
  EXPECT_EQ(time_of(job->end), 1795472169);
}

// Newer versions of Slurm print no Power=, and StdErr= may be empty.
TEST(SlurmQueue, EndsAPathAtTheNextField) {
  for (const char* next :
       {"", "TresPerTask=cpu=1", "TresPerJob=gres/gpu:1", "TresBind=gres/gpu:none",
        "TresFreq=gpu:low", "MemPerTres=gpu:1", "Container=/x/bundle", "SELinuxContext=u:r:t",
        "ResvPorts=12000", "MailUser=me MailType=END"}) {
    Answers answers = slurm_here();
    say_job(answers, "8",
            "JobId=8 JobName=a UserId=me(1) JobState=COMPLETED ExitCode=0:0 StdErr= "
            "StdIn=/dev/null StdOut=/x/my out.txt " +
                std::string(next) + "\n",
            "a\n", "8\n");
    const auto job = slurm_queue(Env(), answers.run())->job("8");
    ASSERT_TRUE(job);
    EXPECT_THAT(job->output, ElementsAre("/x/my out.txt")) << next;
  }
}

TEST(SlurmQueue, TakesNoNameForAField) {
  for (const std::string name :
       {"x UserId=a JobState=COMPLETED ExitCode=0:0 StdOut=/etc/hostname Power=", "a\nb",
        "x\nJobId=8 JobState=COMPLETED ExitCode=0:0 StdOut=/etc/hostname"}) {
    Answers answers = slurm_here();
    say_job(answers, "8", line_of("JobId=8", name, "FAILED", "3:0", "/x/out"), name + "\n", "8\n");
    const auto job = slurm_queue(Env(), answers.run())->job("8");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->name, name);
    EXPECT_EQ(job->state, "failed");
    EXPECT_EQ(job->exit_code, 3);
    EXPECT_THAT(job->output, ElementsAre("/x/out"));
  }
}

TEST(SlurmQueue, TakesAnArrayAsOne) {
  Answers answers = slurm_here();
  const std::string one =
      line_of("JobId=9 ArrayJobId=7 ArrayTaskId=1", "a", "FAILED", "9:0", "/x/1");
  const std::string two =
      line_of("JobId=7 ArrayJobId=7 ArrayTaskId=2", "a", "COMPLETED", "0:0", "/x/2");
  const std::string rest =
      line_of("JobId=10 ArrayJobId=7 ArrayTaskId=3-5", "a", "PENDING", "0:0", "/x/4294967294");
  say_job(answers, "7", one + two, "a\na\n", "7_1\n7_2\n");
  auto job = slurm_queue(Env(), answers.run())->job("7");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, "failed");
  EXPECT_EQ(job->exit_code, 9);
  EXPECT_EQ(job->name, "a");
  EXPECT_THAT(job->output, ElementsAre("/x/1", "/x/2"));
  say_job(answers, "7", rest + one + two, "a\na\na\n", "7_[3-5]\n7_1\n7_2\n");
  job = slurm_queue(Env(), answers.run())->job("7");
  EXPECT_EQ(job->stage, JobStage::waiting);
  EXPECT_THAT(job->output, ElementsAre("/x/1", "/x/2"));
  // As squeue lists it.
  EXPECT_EQ(slurm_queue(Env(), answers.run())->job("7_[3-5]")->id, "7_[3-5]");
}

// squeue ignores the number after the +: it lists all components for any of them.
class Heterogeneous : public ::testing::Test {
 protected:
  void say(const std::string& leader, const std::string& other) {
    const std::string zero =
        line_of("JobId=14 HetJobId=14 HetJobOffset=0", leader, "RUNNING", "0:0", "/x/0");
    const std::string one =
        line_of("JobId=15 HetJobId=14 HetJobOffset=1", other, "FAILED", "3:0", "/x/1");
    for (const auto& [id, lines] :
         {std::pair{"14", zero + one}, {"14+0", zero}, {"14+1", one}, {"14+2", std::string()}}) {
      say_job(answers_, id, lines, other + "\n" + leader + "\n", "14+1\n14+0\n");
      answers_.say(
          slurm("squeue --noheader --states=all --jobs " + std::string(id) + " --format=%i|%j"),
          "14+1|" + other + "\n14+0|" + leader + "\n");
    }
    say_job(answers_, "15", one, other + "\n", "14+1\n");
  }
  std::optional<QueuedJob> job(const std::string& id) const {
    return slurm_queue(Env(), answers_.run())->job(id);
  }

  Answers answers_ = slurm_here();
};

TEST_F(Heterogeneous, ComponentsAreJobs) {
  say("server", "workers");
  const auto leader = job("14+0");
  ASSERT_TRUE(leader);
  EXPECT_EQ(leader->id, "14+0");
  EXPECT_EQ(leader->name, "server");
  EXPECT_EQ(leader->state, "running");
  EXPECT_THAT(leader->output, ElementsAre("/x/0"));
  const auto other = job("14+1");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->id, "14+1");
  EXPECT_EQ(other->name, "workers");
  EXPECT_EQ(other->exit_code, 3);
  EXPECT_THAT(other->output, ElementsAre("/x/1"));
  EXPECT_EQ(job("15")->name, "workers");
  EXPECT_EQ(job("15")->exit_code, 3);
  EXPECT_FALSE(job("14+2"));
  EXPECT_THAT(slurm_queue(Env(), answers_.run())->cancel_command("14+1"),
              ElementsAre("scancel", "--", "14+1"));
}

TEST_F(Heterogeneous, TheLeadersNumberNamesTheWhole) {
  say("server", "workers");
  const auto whole = job("14");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->id, "14");
  EXPECT_EQ(whole->name, "server");
  EXPECT_EQ(whole->state, "running");
  EXPECT_EQ(whole->nodes, 2);
  EXPECT_THAT(whole->output, ElementsAre("/x/0", "/x/1"));
}

TEST_F(Heterogeneous, NamesAreNoFields) {
  const std::string fake = "JobState=COMPLETED ExitCode=0:0 StdOut=/etc/hostname Power=";
  for (const auto& [leader, other] : {std::pair<std::string, std::string>{"a", "a"},
                                      {"a\nb", "x\nJobId=15 " + fake},
                                      {"a", "x " + fake + " JobName=a UserId=b"},
                                      {"", "x"}}) {
    say(leader, other);
    ASSERT_TRUE(job("14+1"));
    EXPECT_EQ(job("14")->name, leader);
    EXPECT_EQ(job("14+0")->name, leader);
    EXPECT_EQ(job("14+1")->name, other);
    EXPECT_EQ(job("14+1")->exit_code, 3);
    EXPECT_THAT(job("14")->output, ElementsAre("/x/0", "/x/1"));
  }
}

TEST(SlurmQueue, TakesNoOtherJobForTheOneThatIsAsked) {
  Answers answers = slurm_here();
  say_job(answers, "0", line_of("JobId=8", "a", "RUNNING", "0:0", "/x"), "", "");
  EXPECT_FALSE(slurm_queue(Env(), answers.run())->job("0"));
}

// A job that slurmctld has forgotten, from its lines of sacct.
std::optional<QueuedJob> in_accounts(const std::string& id, const std::string& lines) {
  Answers answers = slurm_here();
  answers.say(slurm("scontrol --oneliner show job " + id),
              "slurm_load_jobs error: Invalid job id specified\n", 1);
  if (!lines.empty()) {
    answers.say(slurm("sacct --noheader --parsable2 --allocations --jobs " + id +
                      " --format=JobID,State,ExitCode,NNodes,Submit,Start,End,JobName"),
                lines);
  }
  return slurm_queue(Env(), answers.run())->job(id);
}

TEST(SlurmQueue, AsksTheAccountsForWhatSlurmctldHasForgotten) {
  EXPECT_FALSE(in_accounts("8", ""));
  const auto job =
      in_accounts("8", "8|CANCELLED by 1000|0:15|2|1795472100|1795472101|1795472110|a|b\n");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "8");
  EXPECT_EQ(job->name, "a|b");
  EXPECT_EQ(job->state, "cancelled");
  EXPECT_EQ(job->exit_code, 143);
  EXPECT_EQ(job->nodes, 2);
}

TEST(SlurmQueue, TakesAnArrayInTheAccountsAsOne) {
  const auto job = in_accounts("12",
                               "12_0|COMPLETED|0:0|1|1795472100|1795472101|1795472110|arr\n"
                               "12_1|FAILED|7:0|1|1795472100|1795472101|1795472105|arr\n"
                               "12_2|COMPLETED|0:0|1|1795472100|1795472101|1795472120|arr\n");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "12");
  EXPECT_EQ(job->name, "arr");
  EXPECT_EQ(job->state, "failed");
  EXPECT_EQ(job->exit_code, 7);
  EXPECT_EQ(job->nodes, 1);
  EXPECT_EQ(time_of(job->end), 1795472120);
}

TEST(SlurmQueue, TakesAHeterogeneousJobInTheAccountsAsOne) {
  const auto job = in_accounts("14",
                               "14+0|COMPLETED|0:0|1|1795472100|1795472101|1795472110|server\n"
                               "14+1|FAILED|3:0|2|1795472100|1795472101|1795472105|workers\n");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "14");
  EXPECT_EQ(job->name, "server");
  EXPECT_EQ(job->exit_code, 3);
  EXPECT_EQ(job->nodes, 3);
}

TEST(SlurmQueue, ThatStopsAnsweringIsAnError) {
  Answers answers = slurm_here();
  answers.say(slurm("scontrol --oneliner show job 8"), "Unable to contact slurm controller\n", 1);
  answers.say("scontrol show job 8", "Unable to contact slurm controller\n", 1);
  const auto queue = slurm_queue(Env(), answers.run());
  for (const auto& ask : {std::function<void()>([&] { queue->job("8"); }),
                          std::function<void()>([&] { queue->jobs(); })}) {
    try {
      ask();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    }
  }
}

}  // namespace
}  // namespace hpcboot::queue
