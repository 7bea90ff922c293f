#include "jobs/run/job/next_step.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace hpcboot::run {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// A run that was warned, stopped cleanly and saved.
EndOfJob stopped_in_order() {
  EndOfJob end;
  end.run.exit_code = 46;
  end.run.was_warned = true;
  end.lasted = seconds(3000);
  end.walltime = seconds(3600);
  end.warning = seconds(120);
  return end;
}

EndOfJob with_lost_host() {
  EndOfJob end;
  end.run.exit_code = 44;
  end.run.lost_host = "n2";
  return end;
}

TEST(NextStep, OfWhatStoppedInOrderIsToBeQueuedAgain) {
  EXPECT_TRUE(next_step(stopped_in_order()).is_queued_again);
  EndOfJob without_limit = stopped_in_order();
  without_limit.walltime.reset();
  EXPECT_TRUE(next_step(without_limit).is_queued_again);
}

TEST(NextStep, OfWhatEndedOtherwiseIsTheEnd) {
  for (const int code : {0, 1, 44, 137}) {
    EndOfJob end = stopped_in_order();
    end.run.exit_code = code;
    EXPECT_FALSE(next_step(end).is_queued_again) << code;
    EXPECT_EQ(next_step(end).reason, "") << code;
  }
}

TEST(NextStep, OfACancelledRunIsTheEnd) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    EndOfJob end = stopped_in_order();
    end.run.asked_by = signal;
    EXPECT_FALSE(next_step(end).is_queued_again) << signal;
    EXPECT_THAT(next_step(end).reason, HasSubstr("told to end"));
  }
}

TEST(NextStep, IsLeftToASchedulerThatEndsTheJobItself) {
  for (EndOfJob end : {stopped_in_order(), with_lost_host()}) {
    end.is_ending = true;
    EXPECT_FALSE(next_step(end).is_queued_again);
    EXPECT_THAT(next_step(end).reason, HasSubstr("scheduler"));
  }
}

// Slurm does not requeue a job that ends within its GraceTime.
TEST(NextStep, OfAPreemptedJobIsToBeQueuedAgainUnlessTheSchedulerDoesIt) {
  for (const int code : {46, 143}) {
    EndOfJob end = stopped_in_order();
    end.run.exit_code = code;
    end.run.asked_by = SIGTERM;
    end.is_preempted = true;
    EXPECT_TRUE(next_step(end).is_queued_again) << code;
    EXPECT_EQ(next_step(end).attempts_in_vain, 0);
    end.is_ending = true;
    EXPECT_FALSE(next_step(end).is_queued_again) << code;
  }
  EndOfJob finished;
  finished.is_preempted = true;
  EXPECT_FALSE(next_step(finished).is_queued_again);
}

TEST(NextStep, IsTheEndIfTheWalltimeIsNotLongerThanTheWarning) {
  EndOfJob end = stopped_in_order();
  for (const int walltime : {60, 120}) {
    end.walltime = seconds(walltime);
    EXPECT_FALSE(next_step(end).is_queued_again);
    EXPECT_THAT(next_step(end).reason, HasSubstr("not longer than the warning"));
  }
  end.walltime = seconds(121);
  EXPECT_TRUE(next_step(end).is_queued_again);
}

TEST(NextStep, AfterLostHostsIsTheEndOnceTheRetriesAreUsed) {
  EndOfJob end = with_lost_host();
  end.retries = 2;
  for (int attempt = 0; attempt < 2; ++attempt) {
    end.attempts_in_vain = attempt;
    const NextStep step = next_step(end);
    EXPECT_TRUE(step.is_queued_again);
    EXPECT_EQ(step.attempts_in_vain, attempt + 1);
    EXPECT_THAT(step.reason, HasSubstr("n2"));
  }
  end.attempts_in_vain = 2;
  EXPECT_FALSE(next_step(end).is_queued_again);
  EXPECT_THAT(next_step(end).reason, HasSubstr("--retries 2"));
}

TEST(NextStep, AfterProgressCountsFromTheStart) {
  EndOfJob end = stopped_in_order();
  end.attempts_in_vain = 3;
  EXPECT_TRUE(next_step(end).is_queued_again);
  EXPECT_EQ(next_step(end).attempts_in_vain, 0);
}

// It would be queued again forever.
TEST(NextStep, OfAProgramThatStopsAtOnceUnaskedIsARetry) {
  EndOfJob end = stopped_in_order();
  end.run.was_warned = false;
  EXPECT_EQ(next_step(end).attempts_in_vain, 0) << "by its own time limit";
  end.lasted = seconds(5);
  EXPECT_EQ(next_step(end).attempts_in_vain, 1);
  end.attempts_in_vain = 3;
  EXPECT_FALSE(next_step(end).is_queued_again);
}

// Earlier commands of the job take all of the time.
TEST(NextStep, OfAProgramThatIsWarnedAtItsStartIsARetry) {
  EndOfJob end = stopped_in_order();
  end.lasted = seconds(5);
  EXPECT_EQ(next_step(end).attempts_in_vain, 1);
  end.attempts_in_vain = 3;
  EXPECT_FALSE(next_step(end).is_queued_again);
  end.walltime = seconds(140);  // the job has no more time than this
  EXPECT_EQ(next_step(end).attempts_in_vain, 0);
  end.walltime.reset();  // unknown: whoever sent the warning knows the limit
  EXPECT_EQ(next_step(end).attempts_in_vain, 0);
}

TEST(NextStep, UnderTorchrunWhichEndsWith1DependsOnTheWarning) {
  EndOfJob end = stopped_in_order();
  end.run.exit_code = 1;
  end.is_torchrun = true;
  EXPECT_TRUE(next_step(end).is_queued_again);
  end.run.was_warned = false;
  EXPECT_FALSE(next_step(end).is_queued_again);
}

}  // namespace
}  // namespace hpcboot::run
