#include <csignal>
#include <ctime>

#include "pbs_fixture.hpp"

namespace hpcboot::run {
namespace {

WallTime time_of(int day, int hour, int minute, int second) {
  std::tm parts{};
  parts.tm_year = 126;
  parts.tm_mon = 10;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  parts.tm_isdst = -1;
  return std::chrono::system_clock::from_time_t(std::mktime(&parts));
}

TEST_F(PbsJobTest, OnlyAJobOfPbsIsOne) {
  EXPECT_EQ(pbs_job(s)->id(), "65.pbs");
  slurm({{"PBS_JOBID", "7"}});  // by Slurm's plugin for PBS
  EXPECT_EQ(pbs_job(s), nullptr);
  set_env({});
  EXPECT_EQ(pbs_job(s), nullptr);
}

TEST_F(PbsJobTest, EndsItsWalltimeAfterItsStart) {
  EXPECT_EQ(state().start, time_of(23, 11, 52, 56));
  EXPECT_EQ(state().end, time_of(23, 12, 2, 56));
  EXPECT_FALSE(state().is_ending);
  show("", {{"= 00:10:00", "= 1:00:00:10"}});
  EXPECT_EQ(state().end, time_of(24, 11, 53, 6));
  show("", {{"= 00:10:00", "= 90"}});
  EXPECT_EQ(state().end, time_of(23, 11, 54, 26));
  show("", {{"    stime", "    start_time"}});  // Torque
  EXPECT_EQ(state().end, time_of(23, 12, 2, 56));
}

TEST_F(PbsJobTest, WithoutALimitOrAStartNobodyKnowsItsEnd) {
  show("", {{"    Resource_List.walltime = 00:10:00\n", ""}});
  EXPECT_TRUE(state().start);
  EXPECT_FALSE(state().end);
  show("", {{"    stime = Mon Nov 23 11:52:56 2026\n", ""}});  // it is being sent to its host
  EXPECT_FALSE(state().start);
  EXPECT_FALSE(state().end);
  show("", {{"= 00:10:00", "= soon"}});
  EXPECT_FALSE(state().end);
}

TEST_F(PbsJobTest, TimeInSuspensionDoesNotCount) {
  const auto now = std::chrono::system_clock::now();
  // It started long ago, and has used one of ten hours.
  show("", {{"= 00:10:00", "= 10:00:00"},
            {"2026\n    substate", "2020\n    substate"},
            {"    job_state", "    resources_used.walltime = 01:00:00\n    job_state"}});
  ASSERT_TRUE(state().end);
  EXPECT_GT(*state().end, now + std::chrono::hours(8));
  EXPECT_LE(*state().end, std::chrono::system_clock::now() + std::chrono::hours(9));
}

TEST_F(PbsJobTest, ADeletedJobIsEnding) {
  show("", {{"ncpus=1)\n    run_c", "ncpus=1) and terminated by \n\talice@pbs\n    run_c"}});
  EXPECT_TRUE(state().is_ending);
  show("", {{"job_state = R", "job_state = E"}});
  EXPECT_TRUE(state().is_ending);
  show("", {{"substate = 42", "substate = 60"}});  // by qrerun, or for a job of higher priority
  EXPECT_TRUE(state().is_ending);
}

TEST_F(PbsJobTest, ALineOfAVariableDoesNotHideThat) {
  show("A=x\n    comment = y,",
       {{"ncpus=1)\n    run_c", "ncpus=1) and terminated by alice@pbs\n    run_c"}});
  EXPECT_TRUE(state().is_ending);
}

TEST_F(PbsJobTest, ALineOfAVariableIsNoAnswer) {
  show("A=x\n    job_state = E\n    stime = Mon Nov 23 11:00:00 2026\ny,");
  EXPECT_FALSE(state().is_ending);
  EXPECT_EQ(state().start, time_of(23, 11, 52, 56));
  EXPECT_EQ(failure(), "`qstat -f 65.pbs` shows job_state twice");
}

TEST_F(PbsJobTest, IsQueuedAgainInPlaceWhereThatIsAllowed) {
  machine().failures.clear();
  machine().outputs["qrerun 65.pbs"] = "";
  const QueuedAgain again = queue_again();
  EXPECT_EQ(again.how, "qrerun 65.pbs");
  EXPECT_EQ(again.job_id, "65.pbs");
  EXPECT_EQ(machine().ran.back(), "qrerun 65.pbs");
}

TEST_F(PbsJobTest, WhatIsDeletedIsNotQueuedAgain) {
  show("", {{"ncpus=1)\n    run_c", "ncpus=1) and terminated by alice@pbs\n    run_c"}});
  EXPECT_EQ(failure(), "PBS is ending job 65.pbs");
  EXPECT_EQ(machine().ran.size(), 1U);  // qstat
}

// OpenPBS answers when the job has ended, and may kill qrerun for that.
TEST_F(PbsJobTest, WithoutAnAnswerItIsNotQueuedTwice) {
  static CommandResult qrerun;
  s.run_command = [](const std::vector<std::string>& words, const std::string&) {
    machine().ran.push_back(words.front());
    if (words.front() == "qrerun") {
      if (!machine().input.empty()) machine().outputs["qstat -f 65.pbs"] = machine().input;
      return qrerun;
    }
    return CommandResult{true, false, 0, machine().outputs.at("qstat -f 65.pbs")};
  };
  const CommandResult late = {true, true, 137, "", SIGKILL};
  const CommandResult killed = {true, false, 137, "", SIGKILL};
  const std::string running = machine().outputs.at("qstat -f 65.pbs");
  for (const CommandResult& result : {late, killed}) {
    qrerun = result;
    EXPECT_EQ(failure(), "`qrerun 65.pbs`: no answer in time");
    EXPECT_FALSE(holds(machine().ran, "sh"));
  }
  show("", {{"substate = 42", "substate = 60"}});
  const std::string rerun = machine().outputs.at("qstat -f 65.pbs");
  for (const CommandResult& result : {late, killed, CommandResult{true, false, 159, "?"}}) {
    qrerun = result;
    machine().input = rerun;  // from qrerun on
    machine().outputs["qstat -f 65.pbs"] = running;
    EXPECT_EQ(queue_again().how, "qrerun 65.pbs");
  }
}

}  // namespace
}  // namespace hpcboot::run
