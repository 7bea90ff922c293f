#include "hpcboot/error.hpp"
#include "jobs/queue/job_log.hpp"
#include "jobs/queue/known_jobs.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

std::string what_it_does(const queue::QueuedJob& job) {
  return "it is " + job.state + (job.reason.empty() ? "" : ": " + job.reason);
}

// What a job has written can be read even if the scheduler does not answer.
std::optional<queue::KnownJob> known_or_remembered(const std::string& id, const queue::Queue* queue,
                                                   const queue::SubmittedJobs& memory) {
  try {
    return queue::known_job(id, queue, memory);
  } catch (const Error&) {
    auto submitted = memory.find(id, queue);
    if (!submitted) throw;
    return queue::known_job(submitted->id, nullptr, memory);
  }
}

options::Command logs_command() {
  options::Command command{"hpcboot",
                           "logs",
                           "print what a job has written",
                           {"hpcboot logs [OPTIONS] [JOB]"},
                           {{"hpcboot logs -f", "follow the job that hpcboot submitted last"},
                            {"hpcboot logs -n 20 4711", "the last 20 lines of one"}}};
  command.details = {
      "With -f it waits for the job to start, follows its output until it ends, and exits with its "
      "exit code; Ctrl-C does not affect the job. PBS and Torque deliver a job's output only "
      "when it ends, unless `hpcboot run --submit` submitted it."};
  command.groups = {
      queue_options(),
      {"What to print",
       {{"follow,f", options::flag(), "follow the output until the job has ended"},
        {"lines,n", options::number("N").otherwise_is("all"), "start with the last N lines"}}}};
  command.operands = {{"job", options::text("JOB", options::Completes::job), 1}};
  command.exit_codes = {{"0", "ok"},
                        {"1 to 255", "with -f: the job's exit code"},
                        {"2", "the command line is wrong"},
                        {"20", "JOB is unknown"},
                        {"27", "there is no output"},
                        {"30", "no scheduler answers"}};
  return command;
}

int logs(const Call& call) {
  const std::string asked =
      call.values.count("job") != 0 ? call.values["job"].as<std::string>() : "";
  if (!asked.empty()) require_job_id(asked);
  std::optional<std::size_t> lines;
  if (call.values.count("lines") != 0) {
    const int number = call.values["lines"].as<int>();
    if (number < 0) throw UsageError("--lines must be at least 0");
    lines = static_cast<std::size_t>(number);
  }
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  const auto scheduler = call.values["scheduler"].as<std::string>();
  auto queue = queue_of_job(call.values, env, memory, asked);
  const auto known = known_or_remembered(asked, queue.get(), memory);
  if (!known) {
    if (!queue) queue = require_queue(std::move(queue), scheduler);
    throw Error(ErrorCode::malformed_value,
                asked.empty() ? std::string("hpcboot has submitted no job here")
                              : "job " + asked + " is unknown",
                "the id of a job", "`hpcboot jobs` lists yours");
  }
  if (call.values.count("follow") != 0 && known->job.stage != queue::JobStage::ended) {
    queue = require_queue(std::move(queue), scheduler);
    JobWatch watch(*queue, memory, true);
    if (lines) watch.skip_to_last(*lines);
    const queue::QueuedJob end = watch.wait(known->job.id);
    err() << news_of_end(end) << "\n";
    return exit_code_of(end);
  }
  queue::JobLog log(known->job.output);
  if (lines) log.skip_to_last(*lines);
  if (!log.is_there()) {
    std::string files;
    for (const std::string& file : known->job.output) files += (files.empty() ? "" : ", ") + file;
    const std::string& id = known->job.id;
    const bool has_ended = known->job.stage == queue::JobStage::ended;
    throw Error(ErrorCode::unreadable_file,
                has_ended ? news_of_end(known->job) + "; it has no output"
                          : "job " + id + " has no output yet: " + what_it_does(known->job),
                files.empty() ? std::string("a scheduler that reports its output file") : files,
                has_ended ? "hpcboot jobs " + id + " shows more"
                          : "hpcboot logs -f " + id + " waits for it");
  }
  for (std::string part = log.read(); !part.empty(); part = log.read()) {
    if (!show_output(part)) break;
  }
  if (call.values.count("follow") == 0) return 0;
  err() << news_of_end(known->job) << "\n";
  return exit_code_of(known->job);
}

}  // namespace

const Verb kLogs{logs_command, logs};

}  // namespace hpcboot::tool
