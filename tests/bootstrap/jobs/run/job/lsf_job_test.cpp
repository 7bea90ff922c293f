#include "../invented.hpp"
#include "jobs/run/job/scheduler_job.hpp"

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

class LsfJobTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    set_env({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "0"}});
  }
  void prints(const std::string& text) {
    machine().outputs["bjobs -noheader -o run_time time_left delimiter='|' 12"] = text;
  }
  JobState state() {
    const auto job = job_of(s);
    return job ? job->state() : JobState{};
  }
  // Relative to now, which is slightly later than the query.
  static double from_now(const std::optional<WallTime>& time) {
    if (!time) return 1e9;
    return std::chrono::duration<double>(*time - std::chrono::system_clock::now()).count();
  }
};

constexpr double kSlow = 60;  // seconds that a busy machine may take between the two

TEST_F(LsfJobTest, NamesATaskOfAnArray) {
  EXPECT_EQ(job_of(s)->id(), "12");
  set_env({{"LSB_JOBID", "12"}, {"LSB_JOBINDEX", "3"}});
  EXPECT_EQ(job_of(s)->id(), "12[3]");
}

TEST_F(LsfJobTest, SaysWhenItStartedAndWhenItsTimeIsOver) {
  prints("3600 second(s)|1:05 L\n");
  EXPECT_NEAR(from_now(state().start), -3600, kSlow);
  EXPECT_NEAR(from_now(state().end), 65 * 60, kSlow);
}

TEST_F(LsfJobTest, ReadsTimesWithSeconds) {
  prints("01:00:00|01:05:10 L\n");
  EXPECT_NEAR(from_now(state().start), -3600, kSlow);
  EXPECT_NEAR(from_now(state().end), 65 * 60 + 10, kSlow);
}

TEST_F(LsfJobTest, AnEstimateIsNoEnd) {
  for (const char* left : {"1:05 E", "0:00 X", "-", ""}) {
    prints(std::string("37 second(s)|") + left + "\n");
    EXPECT_FALSE(state().end.has_value()) << left;
    EXPECT_NEAR(from_now(state().start), -37, kSlow) << left;
  }
}

TEST_F(LsfJobTest, AnAnswerThatIsNoneIsAnError) {
  for (const char* text :
       {"Job <12> is not found\n", "-|-\n", "1:x|1:05 L\n", "2147483647:00|1:05 L\n", ""}) {
    prints(text);
    EXPECT_THROW(state(), Error) << text;
  }
}

TEST_F(LsfJobTest, IsQueuedAgainInPlace) {
  machine().outputs["brequeue 12"] = "Job <12> is being requeued\n";
  const QueuedAgain again = job_of(s)->queue_again("");
  EXPECT_EQ(again.how, "brequeue 12");
  EXPECT_EQ(again.job_id, "12");
  EXPECT_FALSE(again.exit_code.has_value());
  EXPECT_EQ(again.note, "");
}

TEST_F(LsfJobTest, SaysThatABadHostMayComeBack) {
  machine().outputs["brequeue 12"] = "";
  EXPECT_TRUE(holds(job_of(s)->queue_again("n2").note, "n2"));
}

TEST_F(LsfJobTest, AFailureNamesTheCommand) {
  machine().failures["brequeue 12"] = "User permission denied";
  try {
    job_of(s)->queue_again("");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(holds(error.found(), "brequeue 12")) << error.found();
    EXPECT_TRUE(holds(error.found(), "permission denied")) << error.found();
  }
}

}  // namespace
}  // namespace hpcboot::run
