#include "jobs/run/job/slurm_sbatch.hpp"
#include "jobs/run/job/slurm_squeue.hpp"
#include "slurm_machine.hpp"

namespace hpcboot::run {
namespace {

class SlurmJobTest : public SlurmMachine {};

TEST_F(SlurmJobTest, IsNotTheOneAroundAJobOfAnotherScheduler) {
  set_env({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n1"}});
  EXPECT_NE(slurm_job(s), nullptr);
  job("flux", {"n1"}, {1});
  EXPECT_EQ(slurm_job(s), nullptr);
}

TEST_F(SlurmJobTest, IsKnownByItsVariables) {
  EXPECT_EQ(the_job(), nullptr);
  slurm();
  EXPECT_EQ(the_job()->id(), "7");
  slurm({{"SLURM_HET_JOB_ID", "5"}, {"SLURM_HET_SIZE", "2"}});
  EXPECT_EQ(the_job()->id(), "5");
  EXPECT_TRUE(machine().ran.empty());
  // Slurm's own number of a task does not identify the array; that of the last task is the array's.
  set_task();
  EXPECT_EQ(the_job()->id(), "6_3");
}

// Slurm 22.05 passes the variables of the calling task on to sbatch.
TEST_F(SlurmJobTest, WhatATaskOfAnArrayHasSubmittedIsNoTask) {
  set_task();
  id = "7";
  machine().outputs[squeue("--Format", format_of({"JobArrayID", "JobID"}, "64"))] =
      padded({"7", "7"}, 64);
  machine().outputs[requeue()] = "";
  set_state({"7", "100", "200", "RUNNING", "N/A"});
  EXPECT_EQ(the_job()->state().end, WallTime(std::chrono::seconds(200)));
  EXPECT_EQ(queue_again().how, "scontrol requeue 7");
  set_plain_job();
  EXPECT_EQ(sbatch_options(s, the_job()->id()).front(), "--partition=main");
}

TEST_F(SlurmJobTest, AnAnswerAboutOtherTasksIsRefused) {
  set_task();
  machine().outputs[squeue("--Format", format_of({"JobArrayID", "JobID"}, "64"))] =
      padded({"6_4", "8"}, 64);
  EXPECT_THROW(the_job()->state(), Error);
}

TEST_F(SlurmJobTest, NobodyIsQueuedAgainForAnother) {
  slurm({{"SLURM_ARRAY_JOB_ID", "6"}, {"SLURM_ARRAY_TASK_ID", "3"}});
  EXPECT_THROW(queue_again(), Error);
  EXPECT_EQ(machine().ran.size(), 1U);  // squeue, which does not answer
}

TEST_F(SlurmJobTest, HasATextForEachColumn) {
  slurm();
  set_texts({"Name", "Comment"}, {"two words", "(null)"});
  EXPECT_EQ(squeue_texts(s, id, {"Name", "Comment"}), (Texts{"two words", ""}));
}

TEST_F(SlurmJobTest, HasItsTimesFromSqueue) {
  slurm();
  set_state({"7", "1795434655", "1795435255", "RUNNING", "N/A"});
  const JobState state = the_job()->state();
  EXPECT_EQ(state.start, WallTime(std::chrono::seconds(1795434655)));
  EXPECT_EQ(state.end, WallTime(std::chrono::seconds(1795435255)));
  EXPECT_FALSE(state.is_ending);
  for (const char* unknown : {"N/A", "Unknown", "NONE"}) {
    set_state({"7", "1795434655", unknown, "RUNNING", "N/A"});
    EXPECT_EQ(the_job()->state().end, std::nullopt) << unknown;
  }
}

TEST_F(SlurmJobTest, OfAHeterogeneousJobTheLeaderCounts) {
  slurm({{"SLURM_HET_JOB_ID", "7"}, {"SLURM_HET_SIZE", "2"}});
  machine().outputs[state_command()] = padded({"7+1", "5", "6", "PENDING", "N/A"}, 64) +
                                       padded({"7+0", "5", "8", "RUNNING", "N/A"}, 64);
  EXPECT_EQ(the_job()->state().end, WallTime(std::chrono::seconds(8)));
}

TEST_F(SlurmJobTest, KnowsWhenTheJobIsAboutToEnd) {
  slurm();
  for (const char* state :
       {"COMPLETING", "CANCELLED", "PREEMPTED", "PENDING", "TIMEOUT", "NODE_FAIL"}) {
    set_state({"7", "100", "200", state, "N/A"});
    EXPECT_TRUE(the_job()->state().is_ending) << state;
  }
  for (const char* state : {"RUNNING", "SUSPENDED"}) {
    set_state({"7", "100", "200", state, "N/A"});
    EXPECT_FALSE(the_job()->state().is_ending) << state;
  }
}

TEST_F(SlurmJobTest, KnowsWhenItHasBeenPreempted) {
  slurm();
  set_state({"7", "100", "200", "RUNNING", "150"});
  EXPECT_TRUE(the_job()->state().is_preempted);
  set_state({"7", "100", "200", "RUNNING", "100"});
  EXPECT_TRUE(the_job()->state().is_preempted) << "in its first second";
  set_state({"7", "100", "200", "RUNNING", "50"});  // an earlier attempt was preempted
  EXPECT_FALSE(the_job()->state().is_preempted);
}

TEST_F(SlurmJobTest, AsksWithoutTheUsersSettings) {
  slurm({{"SQUEUE_STATES", "PD"}, {"SLURM_CLUSTERS", "other"}});
  EXPECT_THROW(the_job()->state(), Error);
  EXPECT_EQ(machine().ran.back().rfind("env -u SLURM_CLUSTERS -u SQUEUE_STATES SLURM_TIME", 0), 0U)
      << machine().ran.back();
}

TEST_F(SlurmJobTest, AnAnswerThatIsNoneIsAnError) {
  slurm();
  for (const char* answer : {"", "7 1 2 RUNNING\n", "8 1 2 RUNNING N/A\n"}) {
    machine().outputs[state_command()] = answer;
    EXPECT_THROW(the_job()->state(), Error) << answer;
  }
}

TEST_F(SlurmJobTest, IsQueuedAgainInPlace) {
  set_task();
  machine().outputs[requeue()] = "";
  const QueuedAgain queued = queue_again();
  EXPECT_EQ(queued.how, "scontrol requeue 6_3");
  EXPECT_EQ(queued.job_id, "6_3");
  EXPECT_EQ(queued.note, "");
  EXPECT_EQ(machine().ran.back(), requeue());
}

// Before that Slurm answers "Requested operation is presently disabled".
TEST_F(SlurmJobTest, IsQueuedAgainInSpiteOfNoRequeue) {
  slurm();
  static const auto invented = s.run_command;
  s.run_command = [](const std::vector<std::string>& words, const std::string& input) {
    if (words.back() == "Requeue=1") machine().outputs.swap(machine().failures);
    return invented(words, input);
  };
  machine().failures = {{requeue(), ""}, {"scontrol update JobId=7 Requeue=1", ""}};
  EXPECT_EQ(queue_again().how, "scontrol requeue 7");
}

// A slow controller may have accepted it nevertheless.
TEST_F(SlurmJobTest, WithoutAnAnswerItIsNotQueuedTwice) {
  slurm();
  set_plain_job();
  set_script("");
  machine().outputs["env sbatch --parsable --export=ALL " + options + " /dev/stdin"] = "13\n";
  static const auto invented = s.run_command;
  s.run_command = [](const std::vector<std::string>& words, const std::string& input) {
    if (words.front() == "sh" && words[2].find("scontrol requeue") != std::string::npos)
      return CommandResult{true, true, 137, ""};
    return invented(words, input);
  };
  EXPECT_EQ(error_of_queue_again(), "`scontrol requeue 7`: no answer in time");
  EXPECT_TRUE(machine().ran.empty());
}

// Slurm requeues a job even while it is ending after a cancellation.
TEST_F(SlurmJobTest, WhatIsCancelledWhileAHostIsTriedIsNotQueuedAgain) {
  slurm();
  set_plain_job();
  set_columns("x", {""});
  set_state({"7", "100", "200", "COMPLETING", "N/A"});
  machine().outputs[requeue("n2")] = machine().outputs[requeue()] = "";
  machine().outputs["env sbatch --parsable --export=ALL " + options + " --exclude=n2 --test-only"] =
      "";
  EXPECT_THROW(queue_again("n2"), Error);
  EXPECT_EQ(machine().ran.back(), state_command());
}

TEST_F(SlurmJobTest, AHostThatSlurmDoesNotLeaveOutIsNoted) {
  slurm();
  set_plain_job();
  set_columns("x", {""});
  machine().outputs["env sbatch --parsable --export=ALL " + options + " --exclude=n2 --test-only"];
  static const auto invented = s.run_command;
  s.run_command = [](const std::vector<std::string>& words, const std::string& input) {
    if (words.back() == "n2") return CommandResult{true, false, 2, "no\n"};
    return invented(words, input);
  };
  EXPECT_EQ(queue_again("n2").note, "ExcNodeList=n2 was refused: no");
}

TEST_F(SlurmJobTest, ABadHostIsLeftOutBesideThoseThatWere) {
  slurm();
  set_plain_job();
  set_columns("x", {"n8"});
  machine().outputs[requeue("n8,n2")] = "";
  machine()
      .outputs["env sbatch --parsable --export=ALL " + options + " --exclude=n8,n2 --test-only"] =
      "sbatch: Job 22 to start at 2026-11-24T12:00:07 using 2 processors on nodes n[1,3]\n";
  EXPECT_EQ(queue_again("n2").note, "");
}

// Slurm forgets the GPUs of such a job if it is requeued in place.
TEST_F(SlurmJobTest, AJobWithGpusThatHasLostAHostIsSubmittedAnew) {
  slurm({{"SLURM_JOB_GPUS", "0,1"}});
  set_plain_job();
  set_script("");
  set_columns("x", {""});
  const std::string sbatch = "env sbatch --parsable --export=ALL " + options + " --exclude=n2";
  machine().outputs[sbatch + " --test-only"] = "";
  machine().outputs[sbatch + " /dev/stdin"] = "13\n";
  EXPECT_EQ(queue_again("n2").how, "sbatch, as 13");
  machine().outputs[requeue()] = "";
  EXPECT_EQ(queue_again().how, "scontrol requeue 7");
}

TEST_F(SlurmJobTest, ABadHostStaysIfTheJobCouldNotRunWithoutIt) {
  slurm();
  set_plain_job();
  set_columns("x", {""});
  machine().outputs[requeue()] = "";
  machine()
      .failures["env sbatch --parsable --export=ALL " + options + " --exclude=n2 --test-only"] =
      "allocation failure: Requested node configuration is not available\n";
  EXPECT_EQ(
      queue_again("n2").note,
      "n2 is not excluded: allocation failure: Requested node configuration is not available");
  EXPECT_EQ(machine().ran.back(), requeue());
}

}  // namespace
}  // namespace hpcboot::run
