#include <unistd.h>

#include <chrono>
#include <functional>

#include "hpcboot/error.hpp"
#include "jobs/queue/job_table.hpp"
#include "options.hpp"
#include "queue_of_user.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

constexpr const char* kJobsSynopsis =
    "Usage: hpcboot jobs [OPTIONS] [JOB…]\n\n"
    "Your jobs, under Slurm, PBS, Torque, Grid Engine, LSF and Flux alike: those that run, those\n"
    "that wait with the reason and the time at which they may start, and those that ended a short\n"
    "time ago. What hpcboot submitted it remembers: where from, what it writes to, the folders of\n"
    "its runs, and how it ended. With JOB all that is known of it.\n\n"
    "  hpcboot jobs\n"
    "  hpcboot jobs 4711\n"
    "  hpcboot jobs --json | jq '.[] | select(.stage == \"waiting\") | .reason'\n\n"
    "Exit code: 0; 1 if nobody knows JOB; 30 if no scheduler answers.\n";

constexpr const char* kCancelSynopsis =
    "Usage: hpcboot cancel [OPTIONS] JOB…\n\n"
    "Ends jobs that wait or run, by scancel, qdel, bkill or flux cancel. `hpcboot run` tells "
    "their\n"
    "ranks, which have 30 s to end.\n\n"
    "Exit code: 0; 1 if the scheduler refuses one of them, or does not know it.\n";

void add_days(po::options_description& options) {
  options.add_options()("days", po::value<int>()->default_value(7)->value_name("N"),
                        "show what hpcboot submitted in the last N days")(
      "json", "print a JSON array, for programs");
}

std::optional<po::variables_map> parsed(const Arguments& arguments, const char* synopsis,
                                        const po::options_description& options) {
  po::options_description hidden;
  hidden.add_options()("job", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("job", -1);
  return parse(arguments, synopsis, options, hidden, positional);
}

std::vector<std::string> ids_of(const po::variables_map& values) {
  if (values.count("job") == 0) return {};
  auto ids = values["job"].as<std::vector<std::string>>();
  for (const std::string& id : ids) require_job_id(id);
  return ids;
}

int say_unknown(const std::string& id) {
  err() << "hpcboot: nobody knows job " << id << "; `hpcboot jobs` lists yours\n";
  return 1;
}

// Whoever reads the table may wait for days otherwise.
void print_hopeless(const std::vector<queue::KnownJob>& known) {
  for (const queue::KnownJob& one : known) {
    if (one.job.stage == queue::JobStage::waiting && queue::will_never_start(one.job.reason))
      err() << "note: job " << one.job.id << " will never start: " << one.job.reason
            << "; hpcboot jobs " << one.job.id << " says more\n";
  }
}

// The exit code; the next job is to have its turn.
int for_one(const std::function<int()>& act) {
  try {
    return act();
  } catch (const Error& error) {
    print_error("hpcboot", error);
    return error.exit_code();
  }
}

int jobs(const Arguments& arguments) {
  po::options_description options = queue_options();
  add_days(options);
  const auto values = parsed(arguments, kJobsSynopsis, options);
  if (!values) return 0;
  const auto ids = ids_of(*values);
  const int days = (*values)["days"].as<int>();
  if (days < 0) throw UsageError("--days is a number from 0");
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  auto queue =
      ids.empty() ? queue_as_asked(*values, env) : queue_of_job(*values, env, memory, ids.front());
  if (!queue && memory.of(nullptr).empty()) queue = require_queue(std::move(queue));
  if (!queue) err() << "note: no scheduler answers here; this is what was remembered\n";
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
  if (values->count("json") != 0) {
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

int cancel(const Arguments& arguments) {
  const auto values = parsed(arguments, kCancelSynopsis, queue_options());
  if (!values) return 0;
  const auto ids = ids_of(*values);
  if (ids.empty()) throw UsageError("cancel takes the jobs to end; `hpcboot jobs` lists them");
  const Env env = Env::from_process();
  const queue::SubmittedJobs memory(env);
  int code = 0;
  for (const std::string& id : ids) {
    const int one = for_one([&] {
      const auto queue = require_queue(queue_of_job(*values, env, memory, id));
      const auto known = queue::known_job(id, queue.get(), memory);
      return known ? cancel_one(*queue, id, known->job) : say_unknown(id);
    });
    code = code == 0 ? one : code;
  }
  return code;
}

}  // namespace

const Verb kJobs{"jobs", "your jobs: where they run, or why they wait", jobs};
const Verb kCancel{"cancel", "end jobs", cancel};

}  // namespace hpcboot::tool
