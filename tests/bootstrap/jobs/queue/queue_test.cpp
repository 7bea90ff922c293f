#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"
#include "jobs/queue/job_table.hpp"
#include "jobs/queue/queue.hpp"

// The output follows the manuals of LSF and Flux.
namespace hpcboot::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Everything that a queue reports about a job, except its start time.
Json told(const QueuedJob& job) {
  Json json = job_json({job, std::nullopt});
  for (const char* of_nobody : {"folder", "runs", "start"}) json.erase(of_nobody);
  return json;
}

Answers slurm_that_answers() {
  Answers answers;
  answers.say("scontrol show config", "ClusterName             = rorqual\n");
  return answers;
}

const std::string kBjobs =
    "bjobs -a -noheader -o jobid jobindex stat exit_code nexec_host run_time time_left exec_host "
    "output_file sub_cwd pend_reason job_name delimiter='|'";

Answers lsf_that_answers() {
  return Answers().say("lsid",
                       "IBM Spectrum LSF 10.1\nMy cluster name is lassen\nMy master is l1\n");
}

TEST(LsfQueue, ListsJobs) {
  Answers answers = lsf_that_answers();
  answers.say(kBjobs,
              "7|0|RUN|-|2|60 second(s)|0:59 L|h1:h2|%J.out|/home/me|-|a|b\n"
              "8|2|PEND|-|-|-|-|-|-|/home/me|Job slot limit reached;|x\n"
              "9|0|EXIT|3|1|5 second(s)|-|h1|/home/me/o|/home/me|-|y\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->cluster(), "lassen");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  const std::vector<std::string> none;
  EXPECT_EQ(told(jobs[0]), Json({{"id", "7"},
                                 {"name", "a|b"},
                                 {"stage", "running"},
                                 {"state", "run"},
                                 {"exit_code", nullptr},
                                 {"nodes", 2},
                                 {"submitted", nullptr},
                                 {"end", nullptr},
                                 {"walltime", 3600},
                                 {"reason", ""},
                                 {"hosts", "h1:h2"},
                                 {"output", std::vector<std::string>{"/home/me/%J.out"}}}));
  EXPECT_NEAR(static_cast<double>(time_of(jobs[0].start)),
              static_cast<double>(std::time(nullptr)) - 60, 30);
  EXPECT_EQ(told(jobs[1]), Json({{"id", "8[2]"},
                                 {"name", "x"},
                                 {"stage", "waiting"},
                                 {"state", "pend"},
                                 {"exit_code", nullptr},
                                 {"nodes", nullptr},
                                 {"submitted", nullptr},
                                 {"end", nullptr},
                                 {"walltime", nullptr},
                                 {"reason", "Job slot limit reached;"},
                                 {"hosts", ""},
                                 {"output", none}}));
  EXPECT_EQ(told(jobs[2]), Json({{"id", "9"},
                                 {"name", "y"},
                                 {"stage", "ended"},
                                 {"state", "exit"},
                                 {"exit_code", 3},
                                 {"nodes", 1},
                                 {"submitted", nullptr},
                                 {"end", nullptr},
                                 {"walltime", nullptr},
                                 {"reason", ""},
                                 {"hosts", ""},
                                 {"output", std::vector<std::string>{"/home/me/o"}}}));
  answers.say(kBjobs, "No job found\n", 255);
  EXPECT_THAT(lsf_queue(Env(), answers.run())->jobs(), IsEmpty());
  // "No jobs" differs from "no answer".
  answers.say(kBjobs, "LSF is down. Please wait ...\n", 255);
  EXPECT_THROW(lsf_queue(Env(), answers.run())->jobs(), Error);
}

TEST(LsfQueue, TakesAnArrayAsOne) {
  const auto element = [](const std::string& index, const std::string& state) {
    return "12|" + index + "|" + state + "|-|h1|/home/me/" + index + ".out|/home/me|-|arr\n";
  };
  Answers answers = lsf_that_answers();
  const auto say = [&](const std::string& id, const std::string& said) {
    answers.say(kBjobs + " " + id, said);
    return lsf_queue(Env(), answers.run());
  };
  const auto running =
      say("12", element("1", "DONE|-|1|5 second(s)") + element("2", "RUN|-|1|5 second(s)") +
                    element("3", "PEND|-|-|-"))
          ->job("12");
  ASSERT_TRUE(running);
  EXPECT_EQ(running->id, "12");
  EXPECT_EQ(running->state, "run");
  EXPECT_THAT(running->output, ElementsAre("/home/me/2.out", "/home/me/1.out", "/home/me/3.out"));
  const auto ended =
      say("12", element("1", "DONE|-|1|5 second(s)") + element("2", "EXIT|7|1|5 second(s)"))
          ->job("12");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->id, "12");
  EXPECT_EQ(ended->state, "exit");
  EXPECT_EQ(ended->exit_code, 7);
  EXPECT_EQ(say("12[2]", element("2", "EXIT|7|1|5 second(s)"))->job("12[2]")->id, "12[2]");
}

TEST(FluxQueue, IsTheInstanceThatThisIsIn) {
  Answers answers = slurm_that_answers();
  const std::string list =
      "flux jobs -a --suppress-header --format={id}|{state}|{status}|{nnodes}|{t_submit}|{t_run}|"
      "{t_inactive}|{duration}|{returncode}|{nodelist}|{name}";
  answers.say("flux getattr size", "2\n");
  answers.say(list,
              "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n"
              "f13|INACTIVE|FAILED|1|1795472170.5|1795472171.5|1795472180.1|0.0|-9|n1|x\n"
              "f14|INACTIVE|COMPLETED|1|1795472170.5|1795472171.5|1795472180.1|0.0|0|n1|y\n");
  answers.say(list + " f12", "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n");
  answers.say("flux job info f12 jobspec",
              R"({"attributes": {"system": {"shell": {"options": {"output": {"stdout":
                 {"type": "file", "path": "flux-{{id}}.out"}}}}}}})");
  const Env env = Env::parse("FLUX_URI=local:///tmp/flux\n", "test");
  const auto queue = queue_here(env, answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "flux");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2].exit_code, 0);
  const std::vector<std::string> none;
  EXPECT_EQ(told(jobs[0]), Json({{"id", "f12"},
                                 {"name", "train"},
                                 {"stage", "running"},
                                 {"state", "run"},
                                 {"exit_code", nullptr},
                                 {"nodes", 2},
                                 {"submitted", 1795472170},
                                 {"end", nullptr},
                                 {"walltime", 3600},
                                 {"reason", ""},
                                 {"hosts", "n[1-2]"},
                                 {"output", none}}));
  EXPECT_EQ(time_of(jobs[0].start), 1795472171);
  EXPECT_EQ(told(jobs[1]), Json({{"id", "f13"},
                                 {"name", "x"},
                                 {"stage", "ended"},
                                 {"state", "failed"},
                                 {"exit_code", 137},
                                 {"nodes", 1},
                                 {"submitted", 1795472170},
                                 {"end", 1795472180},
                                 {"walltime", nullptr},
                                 {"reason", ""},
                                 {"hosts", ""},
                                 {"output", none}}));
  EXPECT_THAT(queue->job("f12")->output, ElementsAre("flux-f12.out"));
  EXPECT_EQ(queue_here(Env(), answers.run())->scheduler(), "slurm");
}

TEST(Times, BeyondTheClocksAreNone) {
  EXPECT_EQ(time_of(time_of_epoch("1795472170.5")), 1795472170);
  for (const char* text : {"0", "-1", "4294967296", "9223372036854775807", "x", ""})
    EXPECT_EQ(time_of_epoch(text), std::nullopt) << text;
}

TEST(ExitStatus, IsASmallNumber) {
  EXPECT_EQ(exit_status_in("-15"), -15);
  EXPECT_EQ(exit_status_in("271"), 271);
  for (const char* text : {"65536", "-9223372036854775808", "9223372036854775807", "", "1:0"})
    EXPECT_EQ(exit_status_in(text), std::nullopt) << text;
}

TEST(AskBy, TakesTheOutputOfAFailedOrLateCommandForNoAnswer) {
  Answers answers;
  answers.say("qstat -Qf", "Queue: workq\n").say("qstat -Bf", "cannot connect\n", 1);
  EXPECT_EQ(ask_by(answers.run())({"qstat", "-Qf"}), "Queue: workq\n");
  EXPECT_EQ(ask_by(answers.run())({"qstat", "-Bf"}), std::nullopt);
  const auto late = ask_by([](const std::vector<std::string>&) {
    CommandResult result;
    result.is_late = true;
    result.exit_code = 0;
    result.output = "Queue: wo";
    return result;
  });
  EXPECT_EQ(late({"qstat", "-Qf"}), std::nullopt);
}

TEST(Merged, AnArrayIsWhatItsTasksMakeOfIt) {
  const auto task = [](const char* name, JobStage stage, std::optional<int> exit_code,
                       std::time_t end) {
    QueuedJob job;
    job.name = name;
    job.stage = stage;
    job.state = exit_code == 0 ? "completed" : "failed";
    job.exit_code = exit_code;
    if (end != 0) job.end = std::chrono::system_clock::from_time_t(end);
    job.output = {std::string(name) + ".out", "all.out"};
    return job;
  };
  const QueuedJob good = task("good", JobStage::ended, 0, 2000);
  const QueuedJob bad = task("bad", JobStage::ended, 3, 1000);
  const QueuedJob waits = task("waits", JobStage::waiting, std::nullopt, 0);
  const QueuedJob runs = task("runs", JobStage::running, std::nullopt, 0);
  EXPECT_EQ(merged({good}).name, "good");
  EXPECT_EQ(merged({good, bad, waits, runs}).name, "runs");
  EXPECT_EQ(merged({good, bad, waits}).name, "waits");
  const QueuedJob ended = merged({good, bad, task("later", JobStage::ended, 4, 0)});
  EXPECT_EQ(ended.name, "bad");
  EXPECT_EQ(time_of(ended.end), 2000);
  EXPECT_THAT(ended.output, ElementsAre("bad.out", "all.out", "good.out", "later.out"));
  // sacct reports the exit code 0 for a task that was ended at its walltime.
  QueuedJob late = task("late", JobStage::ended, 0, 1000);
  late.state = "timeout";
  EXPECT_EQ(merged({good, late}).name, "late");
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
