#include "../invented.hpp"
#include "jobs/run/job/grid_engine_answers.hpp"
#include "jobs/run/job/scheduler_job.hpp"

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

// What Grid Engine 8.1.9 prints, abridged.
std::string requested(const std::string& name, const std::string& value) {
  return "<qstat_l_requests><CE_name>" + name + "</CE_name>\n<CE_valtype>3</CE_valtype>\n" +
         "<CE_stringval>" + value + "</CE_stringval></qstat_l_requests>\n";
}

std::string running_task(int number, long long start) {
  return "<ulong_sublist>\n<JAT_status>128</JAT_status>\n<JAT_task_number>" +
         std::to_string(number) + "</JAT_task_number>\n<JAT_start_time>" + std::to_string(start) +
         "</JAT_start_time>\n</ulong_sublist>\n";
}

std::string details(const std::string& requests, const std::string& tasks) {
  return "<JB_job_number>12</JB_job_number>\n<JB_hard_resource_list>\n" + requests +
         "</JB_hard_resource_list>\n<JB_soft_resource_list>\n" + requested("arch", "lx-amd64") +
         "</JB_soft_resource_list>\n<JB_ja_tasks>\n" + tasks + "</JB_ja_tasks>\n";
}

std::string listed(const std::string& job, const std::string& state, const std::string& task = "") {
  return "<job_list state=\"running\">\n<JB_job_number>" + job + "</JB_job_number>\n<state>" +
         state + "</state>\n" + (task.empty() ? "" : "<tasks>" + task + "</tasks>\n") +
         "</job_list>\n";
}

class GridEngineJobTest : public InventedMachine {
 protected:
  void SetUp() override {
    InventedMachine::SetUp();
    environment["JOB_ID"] = "12";
    environment["SGE_TASK_ID"] = "undefined";
    environment["SGE_O_WORKDIR"] = "/home/a";
    environment["SGE_BINARY_PATH"] = "/sge/bin";
    environment["SGE_JOB_SPOOL_DIR"] = "/spool/12.1";
    environment["JOB_SCRIPT"] = "/spool/job_scripts/12";
    environment["LOGNAME"] = "a";
    set_env(environment);
    config("0");
    machine().outputs[kDetails] = details(requested("h_rt", "300"), running_task(1, 1795434926));
    machine().outputs[kList] = listed("12", "r");
  }
  void is_task_4_of(const std::string& tasks) {
    environment["SGE_TASK_ID"] = "4";
    environment["SGE_TASK_FIRST"] = "2";
    environment["SGE_TASK_LAST"] = tasks;
    environment["SGE_TASK_STEPSIZE"] = "2";
    set_env(environment);
  }
  static void config(const std::string& is_forbidden) {
    machine().files["/spool/12.1/config"] =
        "add_grp_id=65400\nforbid_reschedule=" + is_forbidden + "\nqueue=all.q\nhost=n2\n";
  }
  static void queue_has(const std::string& limit) {
    machine().outputs["/sge/bin/qconf -sq all.q@n2"] =
        "qname                 all.q\ns_rt                  0:1:0\nh_rt                  " + limit +
        "\n";
  }
  JobState state() { return job_of(s)->state(); }
  long long time_left() { return (*state().end - *state().start) / seconds(1); }

  static constexpr const char* kDetails = "/sge/bin/qstat -xml -j 12";
  static constexpr const char* kList = "/sge/bin/qstat -s rs -xml -u a";
  std::map<std::string, std::string> environment;
};

TEST_F(GridEngineJobTest, NamesATaskOfAnArray) {
  EXPECT_EQ(job_of(s)->id(), "12");
  is_task_4_of("6");
  EXPECT_EQ(job_of(s)->id(), "12.4");
}

TEST_F(GridEngineJobTest, SaysWhenItStartedAndWhenItsTimeIsOver) {
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*state().start), 1795434926);
  EXPECT_EQ(time_left(), 300);
  EXPECT_FALSE(state().is_ending);
}

TEST_F(GridEngineJobTest, ATaskHasAStartOfItsOwn) {
  is_task_4_of("6");
  machine().outputs[kDetails] =
      details(requested("h_rt", "300"), running_task(2, 1795434926) + running_task(4, 1795435000));
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*state().start), 1795435000);
}

TEST_F(GridEngineJobTest, TheSmallerLimitCounts) {
  queue_has("0:2:0");
  EXPECT_EQ(time_left(), 120);
  queue_has("24:00:00");
  EXPECT_EQ(time_left(), 300);
  queue_has("INFINITY");
  EXPECT_EQ(time_left(), 300);
  machine().outputs[kDetails] = details("", running_task(1, 1795434926));
  EXPECT_FALSE(state().end.has_value());
  queue_has("0:2:0");
  EXPECT_EQ(time_left(), 120);
}

// Otherwise no warning would be sent any more.
TEST_F(GridEngineJobTest, ALimitOfTheQueueStaysWhereQconfDoesNotAnswer) {
  machine().outputs[kDetails] = details("", running_task(1, 1795434926));
  queue_has("0:2:0");
  const auto job = job_of(s);
  EXPECT_TRUE(job->state().end.has_value());
  machine().outputs.erase("/sge/bin/qconf -sq all.q@n2");
  machine().failures["/sge/bin/qconf -sq all.q@n2"] = "error: commlib error: got read error\n";
  EXPECT_TRUE(job->state().end.has_value());
}

TEST_F(GridEngineJobTest, IsEndingOnceItWasDeleted) {
  machine().outputs[kList] = listed("11", "dr") + listed("12", "r") + listed("120", "dr");
  EXPECT_FALSE(state().is_ending);
  machine().outputs[kList] = listed("11", "r") + listed("12", "dr");
  EXPECT_TRUE(state().is_ending);
}

TEST_F(GridEngineJobTest, ATaskIsNotEndingBecauseAnotherIs) {
  is_task_4_of("6");
  machine().outputs[kList] = listed("12", "dr", "2") + listed("12", "r", "4");
  EXPECT_FALSE(state().is_ending);
  machine().outputs[kList] = listed("12", "r", "2") + listed("12", "dr", "4");
  EXPECT_TRUE(state().is_ending);
}

TEST_F(GridEngineJobTest, AJobThatGridEngineDoesNotKnowIsAnError) {
  machine().outputs.erase(kDetails);
  machine().failures[kDetails] = "<unknown_jobs>";
  EXPECT_THROW(state(), Error);
}

TEST_F(GridEngineJobTest, IsQueuedAgainByItsExitCode) {
  const QueuedAgain again = job_of(s)->queue_again("");
  EXPECT_EQ(again.exit_code, 99);
  EXPECT_EQ(again.job_id, "12");
  EXPECT_EQ(again.note, "");
  EXPECT_TRUE(machine().ran.empty()) << machine().ran.front();
}

TEST_F(GridEngineJobTest, LeavesABadHostOutAndKeepsTheOtherRequests) {
  machine().outputs[kDetails] = details(
      requested("h_rt", "300") + requested("hostname", "n*&amp;!n9") + requested("lic", "2"), "");
  machine().outputs["/sge/bin/qalter -l h_rt=300,hostname=(n*&!n9)&!n2,lic=2 12"] = "modified";
  const QueuedAgain again = job_of(s)->queue_again("n2");
  EXPECT_EQ(again.exit_code, 99);
  EXPECT_EQ(again.how, "exit code 99 of the job script, without n2");
  EXPECT_EQ(again.note, "");
}

TEST_F(GridEngineJobTest, IsQueuedAgainThoughABadHostCannotBeLeftOut) {
  machine().failures["/sge/bin/qalter -l h_rt=300,hostname=!n2 12"] = "denied";
  const QueuedAgain again = job_of(s)->queue_again("n2");
  EXPECT_EQ(again.exit_code, 99);
  EXPECT_TRUE(holds(again.note, "n2 is not excluded")) << again.note;
  EXPECT_TRUE(holds(again.note, "denied")) << again.note;
}

TEST_F(GridEngineJobTest, TheOtherTasksOfAnArrayKeepTheirHosts) {
  is_task_4_of("6");
  const QueuedAgain again = job_of(s)->queue_again("n2");
  EXPECT_EQ(again.exit_code, 99);
  EXPECT_EQ(again.job_id, "12.4");
  EXPECT_TRUE(holds(again.note, "n2")) << again.note;
  EXPECT_TRUE(machine().ran.empty()) << machine().ran.front();
}

TEST_F(GridEngineJobTest, IsCopiedWhereTheSiteForbidsTheExitCode) {
  config("1");
  machine().outputs["/sge/bin/qresub 12"] = "Your job 13 (\"train\") has been submitted\n";
  const QueuedAgain again = job_of(s)->queue_again("");
  EXPECT_EQ(again.how, "qresub 12, as 13");
  EXPECT_EQ(again.job_id, "13");
  EXPECT_FALSE(again.exit_code.has_value());
}

TEST_F(GridEngineJobTest, ACopyIsMadeAfterABadHostIsLeftOut) {
  config("1");
  machine().outputs["/sge/bin/qalter -l h_rt=300,hostname=!n2 12"] = "modified";
  machine().outputs["/sge/bin/qresub 12"] = "Your job 13 (\"train\") has been submitted\n";
  EXPECT_EQ(job_of(s)->queue_again("n2").note, "");
  EXPECT_EQ(machine().ran.back(), "/sge/bin/qresub 12");
}

TEST_F(GridEngineJobTest, ACopyOfATaskHasNoOtherTasks) {
  config("1");
  is_task_4_of("8");
  for (const char* command :
       {"qrls -h u 12", "qdel 13 -t 2-2:2", "qdel 13 -t 6-8:2", "qrls -h u 13"}) {
    machine().outputs[std::string("/sge/bin/") + command] = "";
  }
  machine().outputs["/sge/bin/qresub -h u 12"] =
      "modified hold of job-array task 12.2\nYour job-array 13.2-8:2 (\"t\") has been submitted\n";
  const QueuedAgain again = job_of(s)->queue_again("");
  EXPECT_EQ(again.how, "qresub 12.4, as 13.4");
  EXPECT_EQ(again.job_id, "13.4");
  EXPECT_EQ(machine().ran,
            (std::vector<std::string>{"/sge/bin/qresub -h u 12", "/sge/bin/qrls -h u 12",
                                      "/sge/bin/qdel 13 -t 2-2:2", "/sge/bin/qdel 13 -t 6-8:2",
                                      "/sge/bin/qrls -h u 13"}));
}

// Its remaining tasks would be held forever.
TEST_F(GridEngineJobTest, ACopyThatCannotBeFinishedIsRemoved) {
  config("1");
  is_task_4_of("4");
  machine().outputs["/sge/bin/qresub -h u 12"] =
      "Your job-array 13.2-4:2 (\"t\") has been submitted";
  machine().outputs["/sge/bin/qrls -h u 12"] = "";
  machine().failures["/sge/bin/qdel 13 -t 2-2:2"] = "denied";
  EXPECT_THROW(job_of(s)->queue_again(""), Error);
  EXPECT_EQ(machine().ran.back(), "/sge/bin/qdel 13");
}

TEST_F(GridEngineJobTest, ACopyWithoutANumberIsAnError) {
  config("1");
  machine().outputs["/sge/bin/qresub 12"] = "warning: something else\n";
  EXPECT_THROW(job_of(s)->queue_again(""), Error);
}

TEST_F(GridEngineJobTest, AnInteractiveJobIsNotQueuedAgain) {
  environment["JOB_SCRIPT"] = "QRSH";
  set_env(environment);
  EXPECT_THROW(job_of(s)->queue_again(""), Error);
}

TEST(GridEngineAnswers, ReadsTimes) {
  EXPECT_EQ(grid_engine_time("300"), seconds(300));
  EXPECT_EQ(grid_engine_time("0:5:30"), seconds(330));
  EXPECT_EQ(grid_engine_time("24:00:00"), seconds(86400));
  EXPECT_EQ(grid_engine_time(":30:"), seconds(1800));
  EXPECT_EQ(grid_engine_time("2147483647"), kLongestWalltime);
  for (const char* text :
       {"INFINITY", "NONE", "1:x", "-5", "2147483648", "600000:0:0", "9223372036854775807:59:59"})
    EXPECT_EQ(grid_engine_time(text), std::nullopt) << text;
}

TEST(GridEngineAnswers, ReadsStartsInMilliseconds) {
  const auto start_of = [](long long time) { return start_of_task(running_task(1, time), "1"); };
  EXPECT_EQ(start_of(1411388021763), wall_time_of(1411388021));
  // The clock would overflow.
  EXPECT_EQ(start_of(99'999'999'999), std::nullopt);
  EXPECT_EQ(start_of(9'223'372'036'854'775'807), std::nullopt);
}

TEST(GridEngineAnswers, ARequestWithoutAValueDoesNotTakeTheNextOnes) {
  const std::string text =
      "<JB_hard_resource_list><qstat_l_requests><CE_name>gpu</CE_name></qstat_l_requests>"
      "<qstat_l_requests><CE_name>h_rt</CE_name><CE_stringval>300</CE_stringval>"
      "</qstat_l_requests></JB_hard_resource_list>";
  const std::map<std::string, std::string> expected = {{"h_rt", "300"}};
  EXPECT_EQ(hard_requests(text), expected);
}

TEST(GridEngineAnswers, ATextThatIsCutOffHasNoAnswers) {
  const std::string whole = details(requested("h_rt", "300"), running_task(1, 1795434926));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    const auto start = start_of_task(part, "1");
    EXPECT_TRUE(!start || start == wall_time_of(1795434926)) << size;
    const auto requests = hard_requests(part);
    EXPECT_TRUE(requests.empty() || requests.at("h_rt") == "300") << size;
  }
}

}  // namespace
}  // namespace hpcboot::run
