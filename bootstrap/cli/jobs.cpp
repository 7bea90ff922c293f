#include <unistd.h>

#include <chrono>
#include <functional>

#include "hpcboot/error.hpp"
#include "jobs/queue/job_table.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

options::Operand job_operand() {
  return {"job", options::list("JOB", options::Completes::job), -1};
}

options::Command jobs_command() {
  options::Command command{"hpcboot",
                           "jobs",
                           "list your jobs: where they run, or why they wait",
                           {"hpcboot jobs [OPTIONS] [JOB…]"},
                           {{"hpcboot jobs", "all that wait or run, or ended recently"},
                            {"hpcboot jobs 4711", "everything known about one"},
                            {"hpcboot jobs --json | jq '.[].state'", "for programs"}}};
  command.details = {
      "Works the same under Slurm, PBS, Torque, Grid Engine, LSF and Flux. A waiting job is listed "
      "with its reason and estimated start. hpcboot remembers the jobs that it submitted: the "
      "folder, the output, the run folders, and how each ended."};
  command.groups = {
      queue_options(),
      {"What to list",
       {{"days", options::number("N", 7), "include jobs that hpcboot submitted in the last N days"},
        {"json", options::flag(), "print a JSON array"}}}};
  command.operands = {job_operand()};
  command.exit_codes = {{"0", "ok"},
                        {"1", "JOB is unknown"},
                        {"2", "the command line is wrong"},
                        {"30", "no scheduler answers"}};
  return command;
}

options::Command cancel_command() {
  options::Command command{"hpcboot",
                           "cancel",
                           "cancel jobs that are waiting or running",
                           {"hpcboot cancel [OPTIONS] JOB…"},
                           {{"hpcboot cancel 4711", "cancel a job"},
                            {"hpcboot cancel --scheduler slurm 4711 4712", "ask only Slurm"}}};
  command.details = {
      "Uses scancel, qdel, bkill or flux cancel. `hpcboot run` passes the request on to its ranks, "
      "which have 30 s to exit."};
  command.groups = {queue_options()};
  command.operands = {job_operand()};
  command.exit_codes = {{"0", "ok"},
                        {"1", "the scheduler refuses, or a job is unknown"},
                        {"2", "the command line is wrong"},
                        {"30", "no scheduler answers"}};
  return command;
}

std::vector<std::string> ids_of(const po::variables_map& values) {
  if (values.count("job") == 0) return {};
  auto ids = values["job"].as<std::vector<std::string>>();
  for (const std::string& id : ids) require_job_id(id);
  return ids;
}

int say_unknown(const std::string& id) {
  err() << "hpcboot: job " << id << " is unknown; `hpcboot jobs` lists yours\n";
  return 1;
}

// Names the jobs that will never start: otherwise their owner may wait for days.
void print_hopeless(const std::vector<queue::KnownJob>& known) {
  for (const queue::KnownJob& one : known) {
    if (one.job.stage == queue::JobStage::waiting && queue::will_never_start(one.job.reason))
      err() << "note: job " << one.job.id << " will never start: " << one.job.reason
            << "; hpcboot jobs " << one.job.id << " shows more\n";
  }
}

// Returns the exit code, so that the next job has its turn.
int for_one(const std::function<int()>& act) {
  try {
    return act();
  } catch (const Error& error) {
    print_error("hpcboot", error);
    return error.exit_code();
  }
}

int jobs(const Call& call) {
  const auto ids = ids_of(call.values);
  const int days = call.values["days"].as<int>();
  if (days < 0) throw UsageError("--days must be at least 0");
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  auto queue = ids.empty() ? queue_as_asked(call.values, env)
                           : queue_of_job(call.values, env, memory, ids.front());
  if (!queue && memory.of(nullptr).empty())
    queue = require_queue(std::move(queue), call.values["scheduler"].as<std::string>());
  if (!queue) err() << "note: no scheduler answers here; showing remembered jobs only\n";
  const auto now = std::chrono::system_clock::now();
  std::vector<queue::KnownJob> known;
  int code = 0;
  if (ids.empty())
    known = queue::known_jobs(queue.get(), memory, now - std::chrono::hours(24) * days);
  for (const std::string& id : ids) {
    const int one = for_one([&] {
      auto job = queue::known_job(id, queue.get(), memory);
      if (!job) return say_unknown(id);
      known.push_back(std::move(*job));
      return 0;
    });
    code = code == 0 ? one : code;
  }
  if (call.values.count("json") != 0) {
    Json all = Json::array();
    for (const queue::KnownJob& job : known) all.push_back(queue::job_json(job));
    out() << json_text(all, 2) << "\n";
  } else if (!ids.empty()) {
    for (const queue::KnownJob& job : known) out() << queue::job_details(job, now);
  } else if (known.empty()) {
    err() << "you have no jobs here\n";
  } else {
    const int columns = terminal_columns(STDOUT_FILENO, 80);
    out() << queue::job_table(known, now, static_cast<std::size_t>(columns));
    print_hopeless(known);
  }
  return code;
}

int cancel_one(const queue::Queue& queue, const std::string& id, const queue::QueuedJob& job) {
  if (job.stage == queue::JobStage::ended) {
    err() << news_of_end(job) << "\n";
    return 0;
  }
  const CommandResult result = run_for_queue(queue.cancel_command(job.id));
  err() << terminal_lines(result.output);
  if (!result.is_ok() || result.is_late) return 1;
  out() << "job " << id << " is cancelled\n";
  return 0;
}

int cancel(const Call& call) {
  const auto ids = ids_of(call.values);
  if (ids.empty()) throw UsageError("cancel needs the jobs to cancel; `hpcboot jobs` lists them");
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  int code = 0;
  for (const std::string& id : ids) {
    const int one = for_one([&] {
      const auto queue = require_queue(queue_of_job(call.values, env, memory, id),
                                       call.values["scheduler"].as<std::string>());
      const auto known = queue::known_job(id, queue.get(), memory);
      return known ? cancel_one(*queue, id, known->job) : say_unknown(id);
    });
    code = code == 0 ? one : code;
  }
  return code;
}

}  // namespace

const Verb kJobs{jobs_command, jobs};
const Verb kCancel{cancel_command, cancel};

}  // namespace hpcboot::tool
