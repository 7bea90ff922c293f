#include "../invented.hpp"
#include "jobs/run/job/scheduler_job.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot::run {
namespace {

double seconds_of(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

class FluxJobTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    set_env({{"FLUX_ENCLOSING_ID", "f12"}});
  }
  void prints_state(const std::string& text) {
    machine().outputs["flux --parent jobs -no {state} {t_run} {expiration} f12"] = text;
  }
  // As Flux 0.88 prints it, abridged. @param more further members of attributes.system
  void has_jobspec(const std::string& more) {
    machine().outputs["flux --parent job info f12 jobspec"] =
        R"({"tasks":[{"command":["flux","broker","{{tmpdir}}/script","a","b c"]}],)"
        R"("attributes":{"system":{"duration":90.0,"dependencies":[{"scheme":"after","value":"f1"}])" +
        more + R"(}},"version":1})";
    machine().outputs["flux --parent job info --original f12 jobspec"] =
        R"({"attributes":{"system":{"duration":60.0,"environment":{"MINE":"x"}}}})";
  }
  static Json submitted() { return parse_json(machine().input); }
  static Json system_of_submitted() { return submitted().at("attributes").at("system"); }
};

TEST_F(FluxJobTest, SaysWhenItStartedAndWhenItsTimeIsOver) {
  prints_state("RUN 1795434875.25 1795434935.5\n");
  const auto job = job_of(s);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->id(), "f12");
  const JobState state = job->state();
  EXPECT_DOUBLE_EQ(seconds_of(*state.start), 1795434875.25);
  EXPECT_DOUBLE_EQ(seconds_of(*state.end), 1795434935.5);
  EXPECT_FALSE(state.is_ending);
}

TEST_F(FluxJobTest, HasNoEndWithoutALimit) {
  prints_state("RUN 1795434875.25 0.0\n");
  EXPECT_FALSE(job_of(s)->state().end.has_value());
}

TEST_F(FluxJobTest, IsEndingOnceItWasCancelled) {
  prints_state("CLEANUP 1795434875.25 0.0\n");
  EXPECT_TRUE(job_of(s)->state().is_ending);
}

TEST_F(FluxJobTest, AnAnswerThatIsNoneIsAnError) {
  prints_state("flux-jobs: unknown field\n");
  EXPECT_THROW(job_of(s)->state(), Error);
}

TEST_F(FluxJobTest, ATaskAsksItsOwnInstance) {
  set_env({{"FLUX_JOB_ID", "f12"}});
  machine().outputs["flux jobs -no {state} {t_run} {expiration} f12"] = "RUN 5.0 0.0\n";
  EXPECT_DOUBLE_EQ(seconds_of(*job_of(s)->state().start), 5);
}

TEST_F(FluxJobTest, IsSubmittedAgainAsItWas) {
  has_jobspec("");
  machine().outputs["flux --parent job submit"] = "f13\n";
  const QueuedAgain again = job_of(s)->queue_again("");
  EXPECT_EQ(again.how, "flux job submit, as f13");
  EXPECT_EQ(again.job_id, "f13");
  EXPECT_EQ(again.note, "");
  EXPECT_FALSE(again.exit_code.has_value());
  EXPECT_EQ(submitted().at("tasks").at(0).at("command").dump(),
            R"(["flux","broker","{{tmpdir}}/script","a","b c"])");
  // Later changes count, and the dependencies have been fulfilled.
  EXPECT_EQ(system_of_submitted().dump(), R"({"duration":90.0,"environment":{"MINE":"x"}})");
}

TEST_F(FluxJobTest, TheNumberStandsAfterWarnings) {
  has_jobspec("");
  machine().outputs["flux --parent job submit"] = "flux-job: this scheme is deprecated\nf13\n";
  EXPECT_EQ(job_of(s)->queue_again("").job_id, "f13");
}

TEST_F(FluxJobTest, LeavesABadHostOut) {
  has_jobspec("");
  machine().outputs["flux --parent job submit"] = "f13\n";
  const QueuedAgain again = job_of(s)->queue_again("n2");
  EXPECT_EQ(again.how, "flux job submit, as f13, without n2");
  EXPECT_EQ(again.note, "");
  EXPECT_EQ(system_of_submitted().at("constraints").dump(), R"({"not":[{"hostlist":["n2"]}]})");
}

TEST_F(FluxJobTest, LeavesABadHostOutBesidesOtherConstraints) {
  has_jobspec(R"(,"constraints":{"properties":["fast"]})");
  machine().outputs["flux --parent job submit"] = "f13\n";
  job_of(s)->queue_again("n2");
  EXPECT_EQ(system_of_submitted().at("constraints").dump(),
            R"({"and":[{"properties":["fast"]},{"not":[{"hostlist":["n2"]}]}]})");
}

TEST_F(FluxJobTest, KeepsABadHostIfThereAreNoOthers) {
  has_jobspec("");
  machine().outputs["flux --parent job submit"] = "f13\n";
  machine().outputs["flux --parent job wait-event -t 2 f13 exception"] = "exception severity=0\n";
  EXPECT_NE(job_of(s)->queue_again("n2").note, "");
  EXPECT_FALSE(system_of_submitted().contains("constraints"));
}

TEST_F(FluxJobTest, WithoutAnAnswerItIsNotQueuedTwice) {
  has_jobspec("");
  s.run_command = [](const std::vector<std::string>& words, const std::string&) {
    std::string command;
    for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
    machine().ran.push_back(command);
    if (words.back() == "submit") return CommandResult{true, true, 137, ""};
    return CommandResult{true, false, 0, machine().outputs.at(command)};
  };
  EXPECT_THROW(job_of(s)->queue_again("n2"), Error);
  EXPECT_EQ(machine().ran.back(), "flux --parent job submit");
  EXPECT_EQ(std::count(machine().ran.begin(), machine().ran.end(), machine().ran.back()), 1);
}

TEST_F(FluxJobTest, AnInteractiveJobIsNotQueuedAgain) {
  has_jobspec(R"(,"shell":{"options":{"pty":{"interactive":1}}})");
  machine().outputs["flux --parent job submit"] = "f13\n";
  EXPECT_THROW(job_of(s)->queue_again(""), Error);
  EXPECT_FALSE(holds(machine().ran, "flux --parent job submit"));
}

TEST_F(FluxJobTest, AJobspecThatIsNoneIsAnError) {
  machine().outputs["flux --parent job info f12 jobspec"] = "[]";
  EXPECT_THROW(job_of(s)->queue_again(""), Error);
}

TEST_F(FluxJobTest, AFailureNamesTheCommand) {
  has_jobspec("");
  machine().failures["flux --parent job submit"] = "flux-job: Permission denied";
  try {
    job_of(s)->queue_again("");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(holds(error.found(), "flux --parent job submit")) << error.found();
    EXPECT_TRUE(holds(error.found(), "Permission denied")) << error.found();
  }
}

}  // namespace
}  // namespace hpcboot::run
