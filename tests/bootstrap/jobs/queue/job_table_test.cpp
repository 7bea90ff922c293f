#include "jobs/queue/job_table.hpp"

#include <gtest/gtest.h>

// Complete output about jobs, for people and for programs.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;

const WallTime kNow = std::chrono::system_clock::from_time_t(1'795'472'170);

QueuedJob job_of(const std::string& id, JobStage stage, const std::string& state) {
  QueuedJob job;
  job.id = id;
  job.name = "train";
  job.stage = stage;
  job.state = state;
  return job;
}

TEST(JobTable, HasALineForEachJob) {
  QueuedJob running = job_of("7.pbs-server", JobStage::running, "running");
  running.nodes = 2;
  running.start = kNow - seconds(4000);
  running.limit = seconds(86400);
  running.hosts = "n[1-2]";
  running.reason = "not shown";
  QueuedJob waiting = job_of("8.3", JobStage::waiting, "pending");
  waiting.start = kNow + seconds(61);
  waiting.reason = "Priority";
  waiting.hosts = "not shown";
  QueuedJob late = job_of("9[].pbs", JobStage::waiting, "pending");
  late.start = kNow;  // should have started already
  QueuedJob failed = job_of("10", JobStage::ended, "failed");
  failed.exit_code = 3;
  failed.end = kNow - seconds(59);
  QueuedJob late_one = job_of("11.", JobStage::ended, "timeout");
  late_one.exit_code = 137;
  const std::vector<KnownJob> jobs = {
      {running, {}}, {waiting, {}}, {late, {}}, {failed, {}}, {late_one, {}}};
  EXPECT_EQ(job_table(jobs, kNow, 80).str(),
            "JOB  NAME   STATE     NODES  TIME            WHERE OR WHY\n"
            "7    train  running       2  1h06m of 1d00h  n[1-2]\n"
            "8.3  train  pending          in 1m           Priority\n"
            "9[]  train  pending\n"
            "10   train  failed 3         59s ago\n"
            "11.  train  timeout\n");
}

TEST(JobTable, CutsWhatIsTooLong) {
  QueuedJob job = job_of("1234567890123", JobStage::running, "a state of many letters");
  job.name = "123456789012345";
  job.hosts = std::string(100, 'h');
  EXPECT_EQ(job_table({{job, {}}}, kNow, 80).str(),
            "JOB           NAME            STATE          NODES  TIME  WHERE OR WHY\n"
            "12345678901…  1234567890123…  a state of m…               " +
                std::string(21, 'h') + "…\n");
}

TEST(JobDetails, HaveALineForEachThing) {
  QueuedJob job = job_of("12", JobStage::ended, "failed");
  job.exit_code = 3;
  job.nodes = 2;
  job.limit = seconds(5400);
  job.hosts = "n[1-2]";
  job.output = {"a.out", "b.out"};
  SubmittedJob submitted;
  submitted.folder = "/home/me";
  submitted.command = "hpcboot run --submit";
  EXPECT_EQ(job_details({job, submitted}, kNow).str(),
            "job         12\n"
            "  name      train\n"
            "  state     failed, exit code 3\n"
            "  nodes     2\n"
            "  hosts     n[1-2]\n"
            "  walltime  01:30:00\n"
            "  from      /home/me\n"
            "  by        hpcboot run --submit\n"
            "  output    a.out\n"
            "  output    b.out\n");
  job = job_of("13", JobStage::running, "running");
  EXPECT_EQ(job_details({job, {}}, kNow).str(),
            "job      13\n"
            "  name   train\n"
            "  state  running\n");
  job.start = kNow - seconds(120);
  EXPECT_NE(job_details({job, {}}, kNow).str().find(", 2m ago\n"), std::string::npos);
  job.stage = JobStage::waiting;
  job.start = kNow + seconds(120);
  EXPECT_NE(job_details({job, {}}, kNow).str().find(", in 2m\n"), std::string::npos);
}

TEST(JobJson, HasEverythingThatIsKnown) {
  QueuedJob job = job_of("12", JobStage::ended, "failed");
  job.exit_code = 3;
  job.nodes = 1;
  job.submitted = kNow;
  job.start = kNow + seconds(1);
  job.end = kNow + seconds(2);
  job.limit = seconds(5400);
  job.reason = "r";
  job.hosts = "n1";
  job.output = {"a.out"};
  SubmittedJob submitted;
  submitted.folder = "/home/me";
  EXPECT_EQ(job_json({job, submitted}), Json({{"id", "12"},
                                              {"name", "train"},
                                              {"stage", "ended"},
                                              {"state", "failed"},
                                              {"exit_code", 3},
                                              {"nodes", 1},
                                              {"submitted", 1'795'472'170},
                                              {"start", 1'795'472'171},
                                              {"end", 1'795'472'172},
                                              {"walltime", 5400},
                                              {"reason", "r"},
                                              {"hosts", "n1"},
                                              {"output", {"a.out"}},
                                              {"folder", "/home/me"},
                                              {"runs", Json::array()}}));
}

TEST(ReasonsToWait, AreExplainedByTheirBeginning) {
  EXPECT_EQ(meaning_of_reason("Dependency"), "it waits for another job");
  EXPECT_EQ(meaning_of_reason("DependencyNeverSatisfied").substr(0, 19), "it will never start");
  EXPECT_EQ(meaning_of_reason("QOSMaxJobsPerUserLimit"),
            "it reached a limit of its QOS: see sacctmgr show qos");
  EXPECT_EQ(meaning_of_reason("xPriority"), "");
  EXPECT_FALSE(will_never_start("xCan Never Run"));
}

TEST(ShortTime, ChangesItsUnitsAtFullOnes) {
  EXPECT_EQ(short_time(seconds(0)), "0s");
  EXPECT_EQ(short_time(seconds(60)), "1m");
  EXPECT_EQ(short_time(seconds(3600)), "1h00m");
  EXPECT_EQ(short_time(seconds(86399)), "23h59m");
  EXPECT_EQ(short_time(seconds(86400)), "1d00h");
}

}  // namespace
}  // namespace hpcboot::queue
