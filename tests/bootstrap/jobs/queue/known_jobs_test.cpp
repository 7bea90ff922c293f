#include "jobs/queue/known_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "answers.hpp"
#include "hpcboot/error.hpp"
#include "jobs/queue/job_table.hpp"
#include "support/temporary_folder.hpp"
#include "text/display_width.hpp"

namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WallTime kNow = std::chrono::system_clock::from_time_t(1'795'472'200);

// A fake scheduler, with jobs set by the test.
class InventedQueue : public Queue {
 public:
  std::string scheduler() const override { return "slurm"; }
  std::string cluster() const override { return "rorqual"; }
  std::vector<QueuedJob> jobs() const override { return listed; }
  std::optional<QueuedJob> job(const std::string& id) const override {
    ++asked[id];
    const auto found = known.find(id);
    if (found == known.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> cancel_command(const std::string& id) const override {
    return {"scancel", id};
  }

  std::vector<QueuedJob> listed;
  std::map<std::string, QueuedJob> known;
  mutable std::map<std::string, int> asked;
};

QueuedJob queued(const std::string& id, JobStage stage, const std::string& state) {
  QueuedJob job;
  job.id = id;
  job.name = "train";
  job.stage = stage;
  job.state = state;
  return job;
}

SubmittedJob submitted(const std::string& id, long ago = 60) {
  SubmittedJob job;
  job.id = id;
  job.scheduler = "slurm";
  job.cluster = "rorqual";
  job.name = "train";
  job.folder = "/home/me/p";
  job.command = "hpcboot run --submit -- python3 train.py";
  job.output = {"/home/me/p/train-" + id + ".out"};
  job.submitted = 1'795'472'200 - ago;
  job.nodes = 2;
  return job;
}

class Memory : public ::testing::Test {
 protected:
  Env env() const { return Env::parse("XDG_STATE_HOME=" + folder_.path().string() + "\n", "test"); }
  std::filesystem::path files() const { return folder_.path() / "hpcboot/submitted"; }

  TemporaryFolder folder_;
  SubmittedJobs memory_{env()};
  InventedQueue queue_;
};

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777U;
}

TEST_F(Memory, KeepsWhatWasSubmittedToItsUserAlone) {
  ASSERT_TRUE(memory_.remember(submitted("12")));
  const auto found = memory_.find("12", &queue_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->command, "hpcboot run --submit -- python3 train.py");
  EXPECT_THAT(found->output, ElementsAre("/home/me/p/train-12.out"));
  EXPECT_EQ(found->exit_code, std::nullopt);
  EXPECT_EQ(mode_of(files()), 0700U);
  EXPECT_EQ(mode_of(files() / "slurm-rorqual-12.json"), 0600U);
}

TEST_F(Memory, FindsTheLatestAndShortIds) {
  memory_.remember(submitted("12.pbs-server", 50));
  memory_.remember(submitted("123.pbs-server", 60));
  EXPECT_EQ(memory_.find("12", nullptr)->id, "12.pbs-server");
  EXPECT_EQ(memory_.find("", nullptr)->id, "12.pbs-server");
  EXPECT_FALSE(memory_.find("1", nullptr));
}

TEST_F(Memory, KeepsClustersApart) {
  SubmittedJob elsewhere = submitted("12");
  elsewhere.cluster = "fir/../..";
  memory_.remember(elsewhere);
  EXPECT_FALSE(memory_.find("12", &queue_));
  memory_.remember(submitted("12"));
  EXPECT_EQ(memory_.of(nullptr).size(), 2U);
  EXPECT_EQ(memory_.of(&queue_).size(), 1U);
}

TEST_F(Memory, LeavesOutFilesThatCannotBeRead) {
  memory_.remember(submitted("12"));
  for (const auto& [name, text] : {std::pair{"a.json", "{"},
                                   {"b.json", "[1]"},
                                   {"c.json", ""},
                                   {"d.json", R"({"id": 5})"},
                                   {"e.json.x1y2z3", "{}"}})
    test::write_text(files() / name, text);
  std::filesystem::create_directory(files() / "f.json");
  EXPECT_EQ(memory_.of(&queue_).size(), 1U);
}

TEST_F(Memory, WithoutAHomeThereIsNone) {
  const SubmittedJobs none{Env()};
  EXPECT_FALSE(none.remember(submitted("12")));
  EXPECT_THAT(none.of(nullptr), IsEmpty());
}

TEST_F(Memory, ThatCannotBeWrittenIsAnError) {
  test::write_text(folder_.path() / "hpcboot", "a file");
  EXPECT_THROW(memory_.remember(submitted("12")), Error);
}

TEST_F(Memory, JobsAreToldInOrderAndTheirEndIsRemembered) {
  queue_.listed = {queued("20", JobStage::ended, "failed"),
                   queued("21", JobStage::waiting, "pending"),
                   queued("22", JobStage::running, "running")};
  queue_.known["20"] = queued("20", JobStage::ended, "failed");
  queue_.known["20"].exit_code = 7;
  for (const char* id : {"20", "22", "5"}) memory_.remember(submitted(id));
  for (int round = 0; round < 2; ++round) {
    const auto jobs = known_jobs(&queue_, memory_, kNow - seconds(100));
    ASSERT_EQ(jobs.size(), 4U);
    EXPECT_EQ(jobs[0].job.id, "22");
    EXPECT_THAT(jobs[0].job.output, ElementsAre("/home/me/p/train-22.out"));
    EXPECT_EQ(jobs[1].job.id, "21");
    EXPECT_FALSE(jobs[1].submitted);
    EXPECT_EQ(jobs[2].job.exit_code.value_or(-1) + jobs[3].job.exit_code.value_or(-1), 6);
  }
  // The queue is asked only once: how the job ended is recorded.
  EXPECT_EQ(queue_.asked["20"], 1);
  queue_.listed.clear();
  EXPECT_EQ(known_jobs(&queue_, memory_, kNow).size(), 2U);  // 5 and 22, whose end is unknown
  EXPECT_EQ(known_job("20", &queue_, memory_)->job.exit_code, 7);
}

TEST_F(Memory, WhatTheSchedulerDoesNotKnowIsForgottenAfterAWhile) {
  memory_.remember(submitted("5"));
  EXPECT_EQ(known_job("5", &queue_, memory_)->job.state, kForgotten);
  EXPECT_EQ(known_job("5", &queue_, memory_)->job.stage, JobStage::ended);
  // Its accounting may report it soon.
  SubmittedJob remembered = *memory_.find("5", &queue_);
  EXPECT_EQ(remembered.state, "");
  queue_.known["5"] = queued("5", JobStage::ended, "completed");
  EXPECT_EQ(known_job("5", &queue_, memory_)->job.state, "completed");
  // Not even after five minutes: the accounting of a busy cluster is late.
  remembered.missing_since -= 300;
  memory_.remember(remembered);
  queue_.known.clear();
  EXPECT_EQ(known_job("5", &queue_, memory_)->job.state, kForgotten);
  EXPECT_EQ(memory_.find("5", &queue_)->state, "");
  remembered.missing_since -= 3600;
  memory_.remember(remembered);
  EXPECT_EQ(known_job("5", &queue_, memory_)->job.state, kForgotten);
  EXPECT_EQ(memory_.find("5", &queue_)->state, kForgotten);
}

TEST_F(Memory, TasksOfAnArrayStandForIt) {
  for (const char* id : {"12", "7", "9[].pbs"}) memory_.remember(submitted(id));
  queue_.listed = {queued("12_1", JobStage::running, "running"),
                   queued("12_[2-9]", JobStage::waiting, "pending"),
                   queued("7.2", JobStage::running, "running"),
                   queued("9[3].pbs", JobStage::running, "running"),
                   queued("123", JobStage::running, "running")};
  const auto jobs = known_jobs(&queue_, memory_, kNow - seconds(100));
  ASSERT_EQ(jobs.size(), 5U);
  for (const KnownJob& one : jobs)
    EXPECT_EQ(one.submitted.has_value(), one.job.id != "123") << one.job.id;
  EXPECT_TRUE(queue_.asked.empty());
  EXPECT_EQ(memory_.find("12", &queue_)->state, "");
}

TEST_F(Memory, ComponentsOfAHeterogeneousJobStandForIt) {
  memory_.remember(submitted("14"));
  queue_.listed = {queued("14+0", JobStage::running, "running"),
                   queued("14+1", JobStage::running, "running")};
  const auto jobs = known_jobs(&queue_, memory_, kNow - seconds(100));
  ASSERT_EQ(jobs.size(), 2U);
  for (const KnownJob& one : jobs) EXPECT_TRUE(one.submitted) << one.job.id;
  EXPECT_TRUE(queue_.asked.empty());
}

TEST_F(Memory, OutlivesAScheduler) {
  memory_.remember(submitted("12"));
  const auto jobs = known_jobs(nullptr, memory_, kNow - seconds(100));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].job.state, "unknown");
  EXPECT_EQ(memory_.find("12", nullptr)->state, "");
}

TEST_F(Memory, TellsOfRunsWhoseRecordNamesTheJob) {
  SubmittedJob job = submitted("12");
  job.folder = folder_.path().string();
  job.runs_dir = "runs";
  const auto runs = folder_.path() / "runs";
  for (const auto& [name, id] :
       {std::pair{"a_12", "12"}, {"b_12", "12"}, {"c_12", "312"}, {"d", "12"}}) {
    std::filesystem::create_directories(runs / name);
    test::write_text(runs / name / "run.json", std::string(R"({"job_id": ")") + id + "\"}");
  }
  std::filesystem::create_directories(runs / "e_12");
  EXPECT_THAT(run_folders_of(job), ElementsAre((runs / "b_12").string(), (runs / "a_12").string()));
  const KnownJob known{queued("12", JobStage::ended, "completed"), job};
  EXPECT_THAT(job_details(known, kNow).str(),
              HasSubstr("run    " + (runs / "b_12").string() + "\n  run    " +
                        (runs / "a_12").string() + "\n"));
  EXPECT_EQ(job_json(known).at("runs"), Json({(runs / "b_12").string(), (runs / "a_12").string()}));
}

TEST_F(Memory, TellsOfTheNewestRunFirst) {
  SubmittedJob job = submitted("12");
  job.folder = folder_.path().string();
  job.runs_dir = "runs";
  const auto runs = folder_.path() / "runs";
  std::vector<std::string> newest_first;
  for (const char* name : {"6_12", "5_12", "4_12", "3_12", "2_12", "1_12"}) {
    std::filesystem::create_directories(runs / name);
    test::write_text(runs / name / "run.json", R"({"job_id": "12"})");
    newest_first.push_back((runs / name).string());
  }
  EXPECT_EQ(run_folders_of(job), newest_first);
}

TEST_F(Memory, TellsOfRunsInTheFolderOfTheJobsComparison) {
  SubmittedJob job = submitted("12.server");
  job.folder = folder_.path().string();
  job.runs_dir = "runs";
  const auto runs = folder_.path() / "runs";
  for (const char* name : {"compare_12.server/a_12", "compare_12.server/b_12", "compare_99/c_12",
                           "compare_12.server/deeper_12/d_12"}) {
    std::filesystem::create_directories(runs / name);
    test::write_text(runs / name / "run.json", R"({"job_id": "12.server"})");
  }
  std::filesystem::create_directory_symlink(".", runs / "loop_12");
  std::filesystem::create_directory_symlink("loop_12", runs / "compare_12.server/loop_12");
  const auto group = runs / "compare_12.server";
  EXPECT_THAT(run_folders_of(job),
              ElementsAre((group / "b_12").string(), (group / "a_12").string()));
}

TEST(JobTable, FitsTheTerminal) {
  std::vector<KnownJob> jobs;
  for (const JobStage stage : {JobStage::running, JobStage::waiting, JobStage::ended}) {
    QueuedJob job = queued("1234567.pbs-server.cluster.example.org", stage, "out_of_memory");
    job.name = "a name that is longer than any column of a table should be, with \x1b[31m";
    job.nodes = 1000;
    job.start = kNow + (stage == JobStage::waiting ? seconds(90000) : seconds(-4000));
    job.end = kNow - seconds(40);
    job.limit = seconds(86400);
    job.exit_code = 137;
    job.reason = job.hosts = "n[1-1000],語語語語語語語語語語語語語語語語";
    jobs.push_back({job, std::nullopt});
  }
  for (const std::size_t columns : {80U, 100U, 200U}) {
    const std::string table = job_table(jobs, kNow, columns).str();
    std::size_t begin = 0;
    while (begin < table.size()) {
      const std::size_t end = table.find('\n', begin);
      EXPECT_LE(display_width(table.substr(begin, end - begin)), columns) << table;
      begin = end + 1;
    }
    EXPECT_THAT(table, HasSubstr("1h06m of 1d00h"));
    EXPECT_THAT(table, HasSubstr("in 1d01h"));
    EXPECT_THAT(table, HasSubstr("40s ago"));
    EXPECT_EQ(table.find('\x1b'), std::string::npos);
  }
}

TEST(JobDetails, SayWhyAndSinceWhen) {
  QueuedJob job = queued("12", JobStage::waiting, "pending");
  job.reason = "PartitionTimeLimit";
  job.output = {"/home/me/a b.out"};
  const std::string text = job_details({job, submitted("12")}, kNow).str();
  EXPECT_THAT(text, HasSubstr("pending: PartitionTimeLimit, it will never start: "));
  EXPECT_THAT(text, HasSubstr("/home/me/a b.out"));
  EXPECT_THAT(text, HasSubstr("by      hpcboot run --submit"));
  EXPECT_TRUE(will_never_start("PartitionTimeLimit"));
  EXPECT_TRUE(will_never_start("Can Never Run: Insufficient amount of resource"));
  EXPECT_FALSE(will_never_start("Priority"));
  EXPECT_FALSE(will_never_start(""));
}

TEST(JobJson, HasNullForWhatIsNotKnown) {
  const Json json = job_json({queued("12", JobStage::waiting, "pending"), std::nullopt});
  EXPECT_EQ(json.at("stage"), "waiting");
  EXPECT_TRUE(json.at("exit_code").is_null());
  EXPECT_TRUE(json.at("start").is_null());
  EXPECT_TRUE(json.at("runs").empty());
}

TEST(ShortTime, HasTwoParts) {
  EXPECT_EQ(short_time(seconds(-5)), "0s");
  EXPECT_EQ(short_time(seconds(59)), "59s");
  EXPECT_EQ(short_time(seconds(3599)), "59m");
  EXPECT_EQ(short_time(seconds(3660)), "1h01m");
  EXPECT_EQ(short_time(seconds(2 * 86400 + 7200)), "2d02h");
}
}  // namespace
}  // namespace hpcboot::queue
