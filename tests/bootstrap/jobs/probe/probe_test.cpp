#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hpcboot/error.hpp"
#include "jobs/job.hpp"
#include "jobs/job_script.hpp"
#include "jobs/probe/probe_text.hpp"
#include "jobs/probe/probed_site.hpp"
#include "jobs/shipped_files.hpp"

// The output of Slurm 22.05.8, OpenPBS 23.06.06 and Grid Engine 8.1.9, shortened; for Torque and
// LSF according to their manuals.
namespace hpcboot::jobscripts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Answers = std::map<std::string, std::string>;

Ask from(const Answers& answers) {
  return [&answers](const std::vector<std::string>& words) -> std::optional<std::string> {
    std::string command;
    for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
    const auto found = answers.find(command);
    return found == answers.end() ? std::nullopt : std::optional(found->second);
  };
}

SiteProfile profile_of_answers(const Answers& answers) {
  return SiteProfile::parse("probed.toml", probe(from(answers)));
}

// A script can be rendered for every job of the site.
void expect_scripts(const SiteProfile& site) {
  for (const Job& job : jobs_of(site)) {
    ScriptRequest request;
    request.job = job.name;
    EXPECT_NO_THROW(render_job_script(TemplateRenderer(shipped_templates()), site, request))
        << job.name;
  }
}

constexpr const char* kSinfo = "sinfo --exact --noheader --format=%P|%D|%c|%m|%G|%l|%L|%a";

TEST(Probe, SlurmTellsPartitionsWithTheirHosts) {
  const Answers answers = {
      {kSinfo,
       "cpu*|30|128|256000|(null)|7-00:00:00|1:00:00|up\n"
       "gpu|8|64|512000|gpu:h100:4(S:0-1),nvme:1|1-00:00:00|n/a|up\n"
       "gpu|2|64+|256000|gpu:2|30:00|n/a|up\n"
       "old|90|64|512000|gpu:k80:8|infinite|n/a|down\n"},
      {"scontrol show config",
       "Configuration data as of now\nClusterName             = rorqual\nJobRequeue              = "
       "0\n"},
      {"sh -c sacctmgr -nP show user \"$(id -un)\" format=defaultaccount", "def-prof\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("scheduler"), "slurm");
  EXPECT_EQ(site.text("description"), "rorqual");
  EXPECT_EQ(site.text("queue.name"), "gpu");
  EXPECT_EQ(site.number("node.gpus"), 4);
  EXPECT_EQ(site.text("node.gpu_type"), "h100");
  EXPECT_EQ(site.number("node.cores"), 64);
  EXPECT_EQ(site.number("node.memory_gb"), 500);
  EXPECT_EQ(site.text("queue.time"), "01:00:00");
  EXPECT_FALSE(site.truth("queue.requeue"));
  EXPECT_EQ(site.text("account.example"), "def-prof");
  const std::string text = probe(from(answers));
  EXPECT_THAT(text, HasSubstr("# cpu: 30 nodes with 128 cores, 250 GiB, at most 168:00:00; the "
                              "default\n"));
  EXPECT_THAT(text, HasSubstr("# gpu: 2 nodes with 64 cores, 250 GiB, 2 GPUs, at most 00:30:00\n"));
  EXPECT_THAT(text, Not(HasSubstr("k80")));
  expect_scripts(site);
}

TEST(Probe, OfHostsWithoutGpusThoseOfTheDefaultPartition) {
  const Answers answers = {{kSinfo,
                            "big|90|128|1024|(null)|infinite|n/a|up\n"
                            "main*|2|8|1000|(null)|10:00|n/a|up\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.number("node.gpus"), 0);
  EXPECT_EQ(site.number("node.cores"), 8);
  EXPECT_EQ(site.text("queue.name"), "");
  EXPECT_EQ(site.text("queue.time"), "00:10:00");
  // Memory below 1 GiB is not printed.
  EXPECT_THAT(probe(from(answers)), HasSubstr("# big: 90 nodes with 128 cores, 1 GiB\n"));
  EXPECT_THAT(probe(from(answers)), HasSubstr("# main: 2 nodes with 8 cores, at most 00:10:00"));
  expect_scripts(site);
}

constexpr const char* kPbsHost =
    "     Mom = %\n     ntype = PBS\n     state = free\n     pcpus = 64\n"
    "     resources_available.host = %\n     resources_available.mem = 527523696kb\n"
    "     resources_available.ncpus = 64\n     resources_available.ngpus = 4\n"
    "     resources_assigned.ncpus = 0\n\n";

TEST(Probe, PbsTellsHostsAndTheDefaultQueue) {
  Answers answers = {
      {"pbsnodes -a", std::string("n1\n") + kPbsHost + "n2\n" + kPbsHost +
                          "c1\n     ntype = PBS\n     resources_available.mem = 1tb\n"
                          "     resources_available.ncpus = 128\n"},
      {"qstat -Bf",
       "Server: sockeye\n    server_state = Active\n    default_queue = workq\n"
       "    pbs_version = 23.06.06\n"},
      {"qstat -Qf",
       "Queue: other\n    resources_max.walltime = 99:00:00\n\nQueue: workq\n    queue_type = "
       "Execution\n    resources_max.walltime = 00:30:00\n    enabled = True\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("scheduler"), "pbs");
  EXPECT_EQ(site.text("launcher"), "mpirun");
  EXPECT_EQ(site.text("description"), "sockeye");
  EXPECT_EQ(site.number("node.gpus"), 4);
  EXPECT_EQ(site.number("node.cores"), 64);
  EXPECT_EQ(site.number("node.memory_gb"), 503);
  EXPECT_EQ(site.text("queue.name"), "");
  EXPECT_EQ(site.text("queue.time"), "00:30:00");
  EXPECT_THAT(probe(from(answers)), HasSubstr("# 2 nodes with 64 cores, 503 GiB, 4 GPUs, at most"));
  EXPECT_THAT(probe(from(answers)), HasSubstr("# 1 node with 128 cores, 1024 GiB, at most"));
  EXPECT_THAT(probe(from(answers)), HasSubstr("queue.whole_nodes = true")) << "what it cannot ask";
  expect_scripts(site);
  answers["mpiexec --version"] = "mpiexec version 1.2.12, PALS revision a5f0\n";
  EXPECT_EQ(profile_of_answers(answers).text("launcher"), "pals");
}

TEST(Probe, TorqueIsKnownByItsHosts) {
  const Answers answers = {
      {"pbsnodes -a",
       "n1\n     state = free\n     np = 16\n     status = rectime=1,ncpus=16,physmem=131915000kb,"
       "opsys=linux\n     gpus = 2\n"},
      {"qstat -Bf", "Server: t\n    default_queue = batch\n    pbs_version = 6.1.3\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("scheduler"), "torque");
  EXPECT_EQ(site.number("node.cores"), 16);
  EXPECT_EQ(site.number("node.gpus"), 2);
  EXPECT_EQ(site.number("node.memory_gb"), 125);
  expect_scripts(site);
}

TEST(Probe, GridEngineTellsHostsResourcesAndParallelEnvironments) {
  Answers answers = {
      {"qconf -sel", "n1\nn2\n"},
      {"qconf -sql", "all.q\nlong.q\n"},
      {"qconf -sq all.q",
       "qname                 all.q\nhostlist              @hosts\n"
       "s_rt                  INFINITY\nh_rt                  00:20:00\n"},
      {"qconf -sc",
       "#name               shortcut   type        relop requestable consumable default  urgency \n"
       "gpu                 gpu        INT         <=    YES         YES        0        0\n"},
      {"qconf -spl", "mpi\none\n"},
      {"qconf -sp mpi", "pe_name            mpi\nallocation_rule    $fill_up\n"},
      {"qconf -sp one", "pe_name            one\nallocation_rule    $pe_slots\n"}};
  for (const char* host : {"n1", "n2"}) {
    answers[std::string("qconf -se ") + host] =
        std::string("hostname              ") + host +
        "\nload_scaling          NONE\ncomplex_values        gpu=4\nload_values           "
        "arch=lx-amd64,num_proc=32,mem_total=24049.976562M, \\\n                      "
        "swap_total=0.000000M\nprocessors            32\n";
  }
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("scheduler"), "sge");
  EXPECT_EQ(site.number("node.gpus"), 4);
  EXPECT_EQ(site.number("node.cores"), 32);
  EXPECT_EQ(site.text("queue.time"), "00:20:00");
  EXPECT_EQ(site.text("queue.parallel_environment"), "mpi");
  EXPECT_EQ(site.text("queue.parallel_environment_of_one_host"), "one");
  EXPECT_THAT(probe(from(answers)), HasSubstr("# Queues: all.q long.q.\n"));
  EXPECT_THAT(probe(from(answers)), HasSubstr("# 2 nodes with 32 cores, 4 GPUs"));
  expect_scripts(site);
  EXPECT_EQ(site.text("node.gpu_type"), "");
  answers["qconf -sc"] = "num_gpus ngpus INT <= YES JOB 0 0\n";
  for (const char* host : {"n1", "n2"}) {
    std::string& said = answers[std::string("qconf -se ") + host];
    said.replace(said.find(" gpu=4"), 6, " num_gpus=4");
  }
  EXPECT_EQ(profile_of_answers(answers).text("node.gpu_type"), "num_gpus");
  EXPECT_THAT(probe(from(answers)), HasSubstr("# This site counts GPUs per job"));
}

TEST(Probe, LsfTellsHostsAndTheDefaultQueue) {
  const Answers answers = {
      {"lshosts -w",
       "HOST_NAME  type   model  cpuf ncpus maxmem maxswp server RESOURCES\n"
       "h1         X86_64 Intel  60.0 44    605.6G 4G     Yes    (mg)\n"
       "h2         X86_64 Intel  60.0 44    605.6G 4G     Yes    ()\n"},
      {"lshosts -gpu",
       "HOST_NAME   gpu_id       gpu_model   gpu_driver   gpu_factor   numa_id\n"
       "h1               0 TeslaV100_SXM2       418.67          7.0         0\n"
       "                 1 TeslaV100_SXM2       418.67          7.0         0\n"
       "\v\n"
       "h2               0 TeslaV100_SXM2       418.67          7.0         0\n"
       "                 1 TeslaV100_SXM2       418.67          7.0         0\n"},
      {"lsid", "IBM Spectrum LSF 10.1\n\nMy cluster name is summit\nMy master name is h0\n"},
      {"bparams", "Default Queues:  normal interactive\nMBD_SLEEP_TIME used: 10 seconds\n"},
      {"bqueues -l normal",
       "QUEUE: normal\n\nMAXIMUM LIMITS:\n RUNLIMIT                \n 30.0 min "
       "of h1\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("scheduler"), "lsf");
  EXPECT_EQ(site.text("description"), "summit");
  EXPECT_EQ(site.number("node.cores"), 44);
  EXPECT_EQ(site.number("node.gpus"), 2);
  EXPECT_EQ(site.text("queue.time"), "00:30:00");
  expect_scripts(site);
}

TEST(Probe, LimitsOfLsfAreMinutesOrHoursAndMinutes) {
  const auto time_with = [](const std::string& limit) {
    const Answers answers = {
        {"lshosts -w", "HOST_NAME type model cpuf ncpus maxmem\nh1 X86_64 Intel 60.0 44 605.6G\n"},
        {"lsid", "IBM Spectrum LSF 10.1\n"},
        {"bparams", "Default Queues:  normal\n"},
        {"bqueues -l normal", " RUNLIMIT\n " + limit + " of h1\n"}};
    return profile_of_answers(answers).text("queue.time");
  };
  const std::string unlimited = time_with("");
  EXPECT_EQ(time_with("20.5 min"), "00:20:00");
  EXPECT_EQ(time_with("0:20"), "00:20:00");
  EXPECT_EQ(time_with("99999999999.0 min"), unlimited);
  EXPECT_EQ(time_with("0.0 min"), unlimited);
}

TEST(Probe, OneOfTwoSchedulersIsAsked) {
  const Answers answers = {{kSinfo, "main*|2|8|1000|(null)|10:00|n/a|up\n"},
                           {"pbsnodes -a", std::string("n1\n") + kPbsHost},
                           {"qstat -Bf", "Server: p\n    default_queue = workq\n"}};
  EXPECT_THAT(probe(from(answers)), HasSubstr("scheduler = \"slurm\""));
  EXPECT_THAT(probe(from(answers), "pbs"), HasSubstr("scheduler = \"pbs\""));
  EXPECT_THROW(probe(from(answers), "sge"), Error);
  EXPECT_THAT(
      [&] { probe(from(answers), "flux"); },
      ::testing::Throws<Error>(::testing::Property(&Error::code, ErrorCode::malformed_value)));
}

TEST(Probe, WhereNoSchedulerAnswersItSaysSo) {
  const Answers none;
  const Answers no_hosts = {{kSinfo, "main*|0|0|0|(null)|infinite|n/a|down\n"}};
  for (const Answers* answers : {&none, &no_hosts}) {
    try {
      probe(from(*answers));
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    }
  }
}

// Whatever a scheduler prints, the profile stays readable and gets no extra lines.
TEST(Probe, WhatNoProfileCanHoldIsLeftOut) {
  const Answers answers = {
      {kSinfo, "ma\"in\x1b[1m|1|8|1000|gpu:a b:2|infinite|n/a|up\n"},
      {"scontrol show config", "ClusterName = a\" \\ b\nx = 1\n"},
      {"sh -c sacctmgr -nP show user \"$(id -un)\" format=defaultaccount", "warning: no such\n"}};
  const SiteProfile site = profile_of_answers(answers);
  EXPECT_EQ(site.text("description"), "");
  EXPECT_EQ(site.text("queue.name"), "");
  EXPECT_EQ(site.text("node.gpu_type"), "");
  EXPECT_EQ(site.text("account.example"), "");
  EXPECT_EQ(site.number("node.gpus"), 2);
}

TEST(ProbeText, TimesAndSizes) {
  EXPECT_EQ(seconds_of("1-12:00:00"), 129'600);
  EXPECT_EQ(seconds_of("2-06"), 194'400);
  EXPECT_EQ(seconds_of("24:00:00"), 86'400);
  EXPECT_EQ(seconds_of("30:00"), 1'800);
  EXPECT_EQ(seconds_of("30:00", true), 108'000);
  EXPECT_EQ(seconds_of("00:00:01"), 1);
  EXPECT_EQ(seconds_of("00:00:00"), std::nullopt);
  for (const char* none : {"infinite", "INFINITY", "n/a", "", "1:2:3:4", "-5", "99999999999"})
    EXPECT_EQ(seconds_of(none), std::nullopt) << none;
  EXPECT_EQ(gibibytes("512000", 'm'), 500);
  EXPECT_EQ(gibibytes("527523696kb", 'b'), 503);
  EXPECT_EQ(gibibytes("1tb", 'b'), 1024);
  EXPECT_EQ(gibibytes("605.6G", 'm'), 605);
  EXPECT_EQ(gibibytes("0000000000000000000001g", 'm'), 1);
  EXPECT_EQ(gibibytes("much", 'm'), 0);
  EXPECT_EQ(gibibytes("", 'g'), 0);
  EXPECT_EQ(gibibytes(std::string(400, '9'), 'b'), 0) << "more than a double holds";
  EXPECT_EQ(leading_number("64+"), 64);
  EXPECT_EQ(leading_number("99999999999999999999"), 1'000'000'000);
}

}  // namespace
}  // namespace hpcboot::jobscripts
