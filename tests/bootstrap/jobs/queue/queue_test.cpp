#include "jobs/queue/queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "answers.hpp"
#include "hpcboot/error.hpp"

// What schedulers print is that of Slurm 22.05.8, OpenPBS 23.06.06 and Grid Engine 8.1.9,
// shortened; of LSF and Flux it follows their manuals.
namespace hpcboot::queue {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::time_t time_of(const std::optional<WallTime>& time) {
  return time ? std::chrono::system_clock::to_time_t(*time) : 0;
}

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
  // A name may have bars, and lines that look like others.
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

TEST(SlurmQueue, TakesNoOtherJobForTheOneThatIsAsked) {
  Answers answers = slurm_here();
  say_job(answers, "0", line_of("JobId=8", "a", "RUNNING", "0:0", "/x"), "", "");
  EXPECT_FALSE(slurm_queue(Env(), answers.run())->job("0"));
}

TEST(SlurmQueue, AsksTheAccountsForWhatSlurmctldHasForgotten) {
  Answers answers = slurm_here();
  answers.say(slurm("scontrol --oneliner show job 8"),
              "slurm_load_jobs error: Invalid job id specified\n", 1);
  EXPECT_FALSE(slurm_queue(Env(), answers.run())->job("8"));
  answers.say(slurm("sacct --noheader --parsable2 --allocations --jobs 8 "
                    "--format=State,ExitCode,NNodes,Submit,Start,End,JobName"),
              "CANCELLED by 1000|0:15|2|1795472100|1795472101|1795472110|a|b\n");
  const auto job = slurm_queue(Env(), answers.run())->job("8");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, "cancelled");
  EXPECT_EQ(job->exit_code, 143);
  EXPECT_EQ(job->nodes, 2);
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

Answers pbs_here() {
  Answers answers;
  answers.say("qstat -Bf", "Server: pbs\n    server_state = Active\n    default_queue = workq\n");
  return answers;
}

constexpr const char* kPbsRunning =
    "Job Id: 19.pbs\n    Job_Name = slow\n    Job_Owner = alice@pbs\n    job_state = R\n"
    "    ctime = Mon Nov 23 21:59:28 2026\n    exec_host = n1/0*2+n2/0*2\n"
    "    Error_Path = pbs:/home/alice/slow.e19\n    Join_Path = oe\n"
    "    Output_Path = pbs:/home/alice/slow.o19\n    Resource_List.nodect = 2\n"
    "    Resource_List.walltime = 00:20:00\n    stime = Mon Nov 23 21:59:28 2026\n"
    "    substate = 42\n    Variable_List = PBS_O_HOME=/home/alice,PBS_O_PATH=/usr/local\n"
    "\t/games:/usr/games,PBS_O_HOST=pbs\n    comment = Job run at Mon Nov 23 at 21:59\n\n";

std::string pbs_ended(const std::string& id, const std::string& substate,
                      const std::string& status) {
  return "Job Id: " + id + "\n    Job_Name = x\n    job_state = F\n    substate = " + substate +
         "\n    obittime = Mon Nov 23 21:59:34 2026\n" +
         (status.empty() ? "" : "    Exit_status = " + status + "\n") + "\n";
}

TEST(PbsQueue, ListsWhatItKeepsOfTheUser) {
  Answers answers = pbs_here();
  answers.say("qselect -x -u " + user_name(), "19.pbs\n2.pbs\n3.pbs\n");
  answers.say("qstat -x -f 19.pbs 2.pbs 3.pbs",
              std::string(kPbsRunning) +
                  "Job Id: 2.pbs\n    Job_Name = toobig\n    job_state = Q\n"
                  "    comment = Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: "
                  "1\n\t6 T: 16)\n    Resource_List.nodect = 1\n\n" +
                  pbs_ended("3.pbs", "93", "3"));
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "pbs");
  EXPECT_EQ(queue->cluster(), "pbs");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].state, "running");
  EXPECT_EQ(jobs[0].hosts, "n1,n2");
  EXPECT_EQ(jobs[0].nodes, 2);
  EXPECT_EQ(jobs[0].limit, seconds(1200));
  EXPECT_NE(time_of(jobs[0].start), 0);
  EXPECT_THAT(jobs[0].output, ElementsAre("/home/alice/slow.o19"));
  EXPECT_EQ(jobs[1].stage, JobStage::waiting);
  EXPECT_EQ(jobs[1].reason,
            "Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: 16 T: 16)");
  EXPECT_EQ(jobs[2].state, "failed");
  EXPECT_EQ(jobs[2].exit_code, 3);
}

TEST(PbsQueue, KnowsHowJobsEnd) {
  struct Case {
    const char* substate;
    const char* status;
    const char* state;
    std::optional<int> code;
  };
  const Case cases[] = {{"93", "0", "completed", 0},  {"93", "3", "failed", 3},
                        {"93", "-29", "timeout", {}}, {"91", "271", "deleted", 143},
                        {"91", "", "deleted", {}},    {"93", "-1", "never ran", {}},
                        {"93", "265", "failed", 137}, {"93", "-4", "killed by PBS", {}}};
  for (const Case& one : cases) {
    Answers answers = pbs_here();
    answers.say("qstat -x -f 3.pbs", pbs_ended("3.pbs", one.substate, one.status));
    const auto job = pbs_queue(Env(), answers.run())->job("3.pbs");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->stage, JobStage::ended);
    EXPECT_EQ(job->state, one.state) << one.status;
    EXPECT_EQ(job->exit_code, one.code) << one.status;
  }
}

TEST(PbsQueue, OfTorqueHasNoHistory) {
  Answers answers = pbs_here();
  answers.say("qselect -x -u " + user_name(), "qselect: invalid option -- 'x'\n", 2);
  answers.say("qselect -u " + user_name(), "7.torque\n");
  answers.say("qstat -f 7.torque",
              "Job Id: 7.torque\n    Job_Name = x\n    job_state = C\n    exit_status = 5\n");
  const auto jobs = pbs_queue(Env(), answers.run())->jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].exit_code, 5);
  EXPECT_EQ(jobs[0].state, "failed");
}

TEST(PbsQueue, NamesTheFileOfAnArraysTask) {
  Answers answers = pbs_here();
  answers.say("qstat -x -f 7[2].pbs",
              "Job Id: 7[2].pbs\n    Job_Name = arr\n    job_state = R\n    Join_Path = oe\n"
              "    Output_Path = pbs:/home/alice/arr.o7.^array_index^\n");
  EXPECT_THAT(pbs_queue(Env(), answers.run())->job("7[2].pbs")->output,
              ElementsAre("/home/alice/arr.o7.2"));
}

TEST(PbsQueue, TakesAnArrayAsOne) {
  Answers answers = pbs_here();
  const std::string whole =
      "Job Id: 28[].pbs\n    Job_Name = arr\n    job_state = F\n    substate = 93\n"
      "    Output_Path = pbs:/home/alice/arr.o28.^array_index^\n"
      "    Join_Path = oe\n    Exit_status = 0\n\n";
  const auto task = [](const std::string& index, const std::string& code) {
    return "Job Id: 28[" + index +
           "].pbs\n    Job_Name = arr\n    job_state = X\n    substate = 93\n"
           "    Join_Path = oe\n    Output_Path = pbs:/home/alice/arr.o28.^array_index^\n"
           "    Exit_status = " +
           code + "\n\n";
  };
  answers.say("qstat -x -t -f 28[]", whole + task("0", "9") + task("1", "0"));
  answers.say("qstat -f 28", "qstat: Unknown Job Id 28.pbs\n", 153);
  for (const char* asked : {"28[]", "28"}) {
    const auto job = pbs_queue(Env(), answers.run())->job(asked);
    ASSERT_TRUE(job) << asked;
    EXPECT_EQ(job->id, "28[].pbs");
    EXPECT_EQ(job->exit_code, 9);
    EXPECT_THAT(job->output, ElementsAre("/home/alice/arr.o28.0", "/home/alice/arr.o28.1"));
  }
}

TEST(PbsQueue, TakesNoVariableForAJob) {
  Answers answers = pbs_here();
  std::string text = kPbsRunning;
  text.insert(text.find("    comment"), "x\n\nJob Id: 999.pbs\n    job_state = F\n");
  answers.say("qselect -x -u " + user_name(), "19.pbs\n");
  answers.say("qstat -x -f 19.pbs", text);
  const auto jobs = pbs_queue(Env(), answers.run())->jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].state, "running");
  answers.say("qstat -x -f short", text);  // of a queue
  answers.say("qstat -f short", text);
  EXPECT_FALSE(pbs_queue(Env(), answers.run())->job("short"));
}

TEST(PbsQueue, DoesNotKnowOthersJobs) {
  Answers answers = pbs_here();
  answers.say("qstat -x -f 99", "qstat: Unknown Job Id 99.pbs\n", 153);
  answers.say("qstat -f 99", "qstat: Unknown Job Id 99.pbs\n", 153);
  answers.say("qstat -t -f 99[]", "qstat: Unknown Job Id 99[].pbs\n", 153);
  EXPECT_FALSE(pbs_queue(Env(), answers.run())->job("99"));
  // A server that is away does not know that it knows none.
  answers.say("qstat -f 99", "qstat: cannot connect to server pbs (errno=15010)\n", 1);
  EXPECT_THROW(pbs_queue(Env(), answers.run())->job("99"), Error);
}

Answers grid_engine_here(const std::string& list) {
  Answers answers;
  answers.say("qconf -sql", "all.q\n");
  answers.say("qstat -u " + user_name() + " -xml", list);
  return answers;
}

constexpr const char* kQstat =
    "<?xml version='1.0'?>\n<job_info>\n<queue_info>\n<job_list state=\"running\">\n"
    "<JB_job_number>5</JB_job_number>\n<JB_name>a&amp;b</JB_name>\n<state>r</state>\n"
    "<JAT_start_time>2026-11-23T22:20:02</JAT_start_time>\n<queue_name>all.q@n1</queue_name>\n"
    "<slots>4</slots>\n</job_list>\n</queue_info>\n<job_info>\n<job_list state=\"pending\">\n"
    "<JB_job_number>7</JB_job_number>\n<JB_name>x</JB_name>\n<state>hqw</state>\n"
    "<JB_submission_time>2026-11-23T22:20:02</JB_submission_time>\n<queue_name></queue_name>\n"
    "<tasks>2</tasks>\n</job_list>\n</job_info>\n</job_info>\n";

TEST(GridEngineQueue, ListsJobsAndWhyTheyWait) {
  Answers answers = grid_engine_here(kQstat);
  answers.say("qstat -j 7",
              "job_number:                 7\ncwd:                        /home/me/p\n"
              "hard resource_list:         gpu=1,h_rt=300\n"
              "stdout_path_list:           NONE:NONE:logs/\n"
              "scheduling info:            queue instance \"all.q@n1\" dropped because it is full\n"
              "                            cannot run in PE\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "sge");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].id, "5");
  EXPECT_EQ(jobs[0].name, "a&b");
  EXPECT_EQ(jobs[0].state, "running");
  EXPECT_EQ(jobs[0].hosts, "n1");
  EXPECT_EQ(jobs[1].id, "7.2");
  EXPECT_EQ(jobs[1].state, "held");
  EXPECT_EQ(jobs[1].stage, JobStage::waiting);
  EXPECT_EQ(jobs[1].limit, seconds(300));
  EXPECT_EQ(jobs[1].reason, "queue instance \"all.q@n1\" dropped because it is full");
  EXPECT_THAT(jobs[1].output, ElementsAre("/home/me/p/logs/x.o7.2"));
}

TEST(GridEngineQueue, TakesTheLastAttemptOfWhatHasEnded) {
  struct Case {
    const char* failed;
    const char* status;
    const char* state;
    int code;
  };
  const Case cases[] = {{"0", "0", "completed", 0},
                        {"0", "7", "failed", 7},
                        {"100 : assumedly after job", "137", "killed", 137},
                        {"37  : qmaster enforced h_rt limit", "137 (Killed)", "timeout", 137}};
  for (const Case& one : cases) {
    Answers answers = grid_engine_here("<job_info></job_info>");
    answers.say("qacct -j 4", std::string("==========\njobname x\nfailed 0\nexit_status 99\n"
                                          "==========\nqname        all.q\njobname      x\n") +
                                  "end_time     Mon Nov 23 22:20:05 2026\nfailed       " +
                                  one.failed + "\nexit_status  " + one.status + "\n");
    const auto job = grid_engine_queue(Env(), answers.run())->job("4");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->state, one.state);
    EXPECT_EQ(job->exit_code, one.code);
    EXPECT_NE(time_of(job->end), 0);
  }
  EXPECT_FALSE(grid_engine_queue(Env(), grid_engine_here("").run())->job("4"));
}

TEST(GridEngineQueue, CancelsATaskAlone) {
  const auto queue = grid_engine_queue(Env(), grid_engine_here("").run());
  EXPECT_THAT(queue->cancel_command("7"), ElementsAre("qdel", "7"));
  EXPECT_THAT(queue->cancel_command("7.2"), ElementsAre("qdel", "7", "-t", "2"));
}

TEST(LsfQueue, ListsJobs) {
  Answers answers;
  const std::string columns =
      "jobid jobindex stat exit_code nexec_host run_time time_left exec_host output_file sub_cwd "
      "pend_reason job_name delimiter='|'";
  answers.say("lsid", "IBM Spectrum LSF 10.1\nMy cluster name is lassen\nMy master is l1\n");
  answers.say("bjobs -a -noheader -o " + columns,
              "7|0|RUN|-|2|60 second(s)|0:59 L|h1:h2|%J.out|/home/me|-|a|b\n"
              "8|2|PEND|-|-|-|-|-|-|/home/me|Job slot limit reached;|x\n"
              "9|0|EXIT|3|1|5 second(s)|-|h1|/home/me/o|/home/me|-|y\n");
  const auto queue = queue_here(Env(), answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->cluster(), "lassen");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].stage, JobStage::running);
  EXPECT_EQ(jobs[0].limit, seconds(3600));
  EXPECT_EQ(jobs[0].name, "a|b");
  EXPECT_EQ(jobs[1].id, "8[2]");
  EXPECT_EQ(jobs[1].reason, "Job slot limit reached;");
  EXPECT_EQ(jobs[2].exit_code, 3);
  EXPECT_THAT(jobs[2].output, ElementsAre("/home/me/o"));
  answers.say("bjobs -a -noheader -o " + columns, "No job found\n", 255);
  EXPECT_THAT(lsf_queue(Env(), answers.run())->jobs(), IsEmpty());
}

TEST(FluxQueue, IsTheInstanceThatThisIsIn) {
  Answers answers = slurm_here();
  const std::string list =
      "flux jobs -a --suppress-header --format={id}|{state}|{status}|{nnodes}|{t_submit}|{t_run}|"
      "{t_inactive}|{duration}|{returncode}|{nodelist}|{name}";
  answers.say("flux getattr size", "2\n");
  answers.say(list,
              "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n"
              "f13|INACTIVE|FAILED|1|1795472170.5|1795472171.5|1795472180.1|0.0|-9|n1|x\n");
  answers.say(list + " f12", "f12|RUN|RUN|2|1795472170.5|1795472171.5|0.0|3600.0||n[1-2]|train\n");
  answers.say("flux job info f12 jobspec",
              R"({"attributes": {"system": {"shell": {"options": {"output": {"stdout":
                 {"type": "file", "path": "flux-{{id}}.out"}}}}}}})");
  const Env env = Env::parse("FLUX_URI=local:///tmp/flux\n", "test");
  const auto queue = queue_here(env, answers.run());
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->scheduler(), "flux");
  const auto jobs = queue->jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].limit, seconds(3600));
  EXPECT_EQ(jobs[1].exit_code, 137);
  EXPECT_EQ(jobs[1].state, "failed");
  EXPECT_THAT(queue->job("f12")->output, ElementsAre("flux-f12.out"));
  EXPECT_EQ(queue_here(Env(), answers.run())->scheduler(), "slurm");
}

TEST(QueueHere, IsNullWhereNoneAnswers) {
  EXPECT_FALSE(queue_here(Env(), Answers().run()));
  Answers answers = slurm_here();
  EXPECT_FALSE(queue_here(Env(), answers.run(), "pbs"));
  answers.say("scontrol show config", "Unable to contact slurm controller", 1);
  EXPECT_FALSE(queue_here(Env(), answers.run()));
}

}  // namespace
}  // namespace hpcboot::queue
