#include "hpcboot/error.hpp"
#include "jobs/queue/job_log.hpp"
#include "jobs/queue/known_jobs.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

constexpr const char* kSynopsis =
    "Usage: hpcboot logs [OPTIONS] [JOB]\n\n"
    "What a job has written so far, as it wrote it; without JOB of the one that hpcboot submitted\n"
    "last. With -f it goes on until the job has ended, from before it begins; Ctrl-C leaves the\n"
    "job alone.\n\n"
    "  hpcboot logs -f\n"
    "  hpcboot logs -n 20 4711\n\n"
    "PBS and Torque hand out the output of a job at its end, unless hpcboot submitted it by\n"
    "`hpcboot run --submit`.\n\n"
    "Exit code: 0; with -f that of the job; 27 if there is no output yet.\n";

std::string what_it_does(const queue::QueuedJob& job) {
  return "it is " + job.state + (job.reason.empty() ? "" : ": " + job.reason);
}

// What a job has written is there, whether the scheduler answers or not.
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

int logs(const Arguments& arguments) {
  po::options_description options = queue_options();
  options.add_options()("follow,f", "go on until the job has ended")(
      "lines,n", po::value<int>()->value_name("N"), "of what is there the last N lines [all]");
  po::options_description hidden;
  hidden.add_options()("job", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("job", 1);
  const auto values = parse(arguments, kSynopsis, options, hidden, positional);
  if (!values) return 0;
  const std::string asked = values->count("job") != 0 ? (*values)["job"].as<std::string>() : "";
  if (!asked.empty()) require_job_id(asked);
  std::optional<std::size_t> lines;
  if (values->count("lines") != 0) {
    const int number = (*values)["lines"].as<int>();
    if (number < 0) throw UsageError("--lines is a number from 0");
    lines = static_cast<std::size_t>(number);
  }
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  auto queue = queue_of_job(*values, env, memory, asked);
  const auto known = known_or_remembered(asked, queue.get(), memory);
  if (!known) {
    if (!queue) queue = require_queue(std::move(queue));
    throw Error(ErrorCode::malformed_value,
                asked.empty() ? std::string("hpcboot has submitted no job here")
                              : "nobody knows job " + asked,
                "the id of a job", "`hpcboot jobs` lists yours");
  }
  if (values->count("follow") != 0 && known->job.stage != queue::JobStage::ended) {
    queue = require_queue(std::move(queue));
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
    throw Error(ErrorCode::unreadable_file,
                "job " + known->job.id + " has no output yet: " + what_it_does(known->job),
                files.empty() ? std::string("a scheduler that says where it is") : files,
                "hpcboot logs -f " + known->job.id + " waits for it");
  }
  for (std::string part = log.read(); !part.empty(); part = log.read()) {
    if (!show_output(part)) break;
  }
  if (values->count("follow") == 0) return 0;
  err() << news_of_end(known->job) << "\n";
  return exit_code_of(known->job);
}

}  // namespace

const Verb kLogs{"logs", "what a job has written", logs};

}  // namespace hpcboot::tool
