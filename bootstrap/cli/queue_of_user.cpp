#include "queue_of_user.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "hpcboot/error.hpp"
#include "hpcboot/scheduler.hpp"
#include "jobs/queue/job_table.hpp"
#include "options.hpp"

namespace hpcboot::tool {

using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

constexpr seconds kMostPause{15};
constexpr seconds kLongestSilence{600};  // of a scheduler
constexpr seconds kAccounts{60};         // until it reports how a job ended
constexpr seconds kLate{2};              // until a job's last output is visible here

// What --scheduler takes, and the command that asks that scheduler's server.
struct Client {
  const char* scheduler;
  const char* command;
  const char* shows_more;
};

constexpr std::array<Client, 6> kClients = {{{"slurm", "scontrol", "scontrol ping"},
                                             {"pbs", "qstat", "qstat -B"},
                                             {"torque", "qstat", "qstat -B"},
                                             {"sge", "qconf", "qconf -sss"},
                                             {"lsf", "lsid", "lsid"},
                                             {"flux", "flux", "flux uptime"}}};

std::vector<std::string> names_of_schedulers() {
  std::vector<std::string> names;
  for (const Client& client : kClients) names.emplace_back(client.scheduler);
  return names;
}

// Torque is a scheduler of its own only here: its jobs look like those of PBS.
std::string title_of(const Client& client) {
  const Scheduler* scheduler = find_scheduler(client.scheduler);
  return scheduler == nullptr ? "Torque" : std::string(scheduler->title);
}

}  // namespace

CommandResult run_for_queue(const std::vector<std::string>& words) {
  constexpr seconds kLimit{60};
  constexpr std::size_t kMost = std::size_t{64} << 20U;  // for thousands of jobs
  return run_command(words, {"", kLimit, kMost});
}

options::Group queue_options() {
  return {"Options",
          {{"scheduler",
            options::text_or("S", "")
                .otherwise_is("the first that answers")
                .suggest(names_of_schedulers()),
            "ask only this scheduler: " + options::one_of(names_of_schedulers())}}};
}

std::vector<std::string> remembered_jobs() {
  std::vector<std::string> ids;
  for (const queue::SubmittedJob& job : queue::SubmittedJobs(Env::from_process()).of(nullptr))
    ids.push_back(job.id);
  return ids;
}

std::unique_ptr<queue::Queue> queue_as_asked(const po::variables_map& values, const Env& env) {
  std::string scheduler = values["scheduler"].as<std::string>();
  const auto all = names_of_schedulers();
  if (!scheduler.empty() && std::find(all.begin(), all.end(), scheduler) == all.end())
    throw UsageError("--scheduler is '" + scheduler + "'; expected " + options::one_of(all));
  if (scheduler == "torque") scheduler = "pbs";
  return queue::queue_here(env, run_for_queue, scheduler);
}

std::unique_ptr<queue::Queue> queue_of_job(const po::variables_map& values, const Env& env,
                                           const queue::SubmittedJobs& memory,
                                           const std::string& id) {
  auto queue = queue_as_asked(values, env);
  const bool is_chosen = !values["scheduler"].as<std::string>().empty();
  if (is_chosen || !queue || (!id.empty() && memory.find(id, queue.get()))) return queue;
  const auto elsewhere = memory.find(id, nullptr);
  if (!elsewhere || elsewhere->scheduler == queue->scheduler()) return queue;
  auto other = queue::queue_here(env, run_for_queue, elsewhere->scheduler);
  return other ? std::move(other) : std::move(queue);
}

std::unique_ptr<queue::Queue> require_queue(std::unique_ptr<queue::Queue> queue,
                                            const std::string& scheduler) {
  if (queue) return queue;
  for (const Client& client : kClients) {
    if (scheduler != client.scheduler) continue;
    throw Error(ErrorCode::backend_unavailable, title_of(client) + " does not answer here",
                std::string(client.command) + " in PATH, and its server reachable",
                std::string("run this on a login node of the cluster; `") + client.shows_more +
                    "` shows more");
  }
  throw Error(ErrorCode::backend_unavailable, "no scheduler answers here",
              "scontrol (Slurm), qstat (PBS, Torque), qconf (Grid Engine), lsid (LSF) or flux in "
              "PATH, and its server reachable",
              "run this on a login node of the cluster; `scontrol ping` or `qstat -B` shows more");
}

void require_job_id(const std::string& id) {
  // "12", "12_3", "14+1", "12[3].server", "9.2"; Flux: "f12aB" or "ƒ12aB". qdel and qstat would
  // also accept the names of queues and servers.
  const bool begins = !id.empty() && ((id.front() >= '0' && id.front() <= '9') ||
                                      id.front() == 'f' || id.rfind("ƒ", 0) == 0);
  const bool is_id = begins && id.size() < 200 && is_printable(id) &&
                     id.find_first_of(" /\\'\"$`;&|<>*?=@") == std::string::npos;
  if (!is_id) throw UsageError("'" + id + "' is not a job id; `hpcboot jobs` lists yours");
}

int exit_code_of(const queue::QueuedJob& job) {
  if (queue::has_succeeded(job)) return 0;
  return job.exit_code.value_or(0) != 0 ? *job.exit_code : 1;
}

std::string news_of_end(const queue::QueuedJob& job) {
  return "job " + job.id + " has ended: " + queue::words_of_end(job);
}

bool show_output(const std::string& part) {
  out() << Encoded::as_is(part);
  return out().flush().is_good();
}

queue::QueuedJob JobWatch::wait(const std::string& id) {
  constexpr std::chrono::milliseconds kRead{200};
  for (;;) {
    if (!end_) ask(id);
    bool is_new = false;
    while (shows_output_) {
      const std::string part = log_.read();
      if (part.empty()) break;
      is_new = true;
      if (!show_output(part)) return job_.value_or(queue::QueuedJob());
    }
    const auto now = steady_clock::now();
    // A process that the job left behind may write forever.
    const bool is_shown = end_ && now >= *end_ && (!is_new || now >= *end_ + kLate);
    if (end_ && (!shows_output_ || is_shown)) return *job_;
    std::this_thread::sleep_for(kRead);
  }
}

// In a thread of its own, so that a slow scheduler does not hold up the output.
void JobWatch::ask(const std::string& id) {
  if (!answer_.valid()) {
    if (steady_clock::now() < next_) return;
    answer_ = std::async(std::launch::async,
                         [this, id] { return queue::known_job(id, &queue_, memory_); });
  }
  if (answer_.wait_for(seconds{0}) != std::future_status::ready) return;
  next_ = steady_clock::now() + pause_;
  pause_ = std::min(pause_ + seconds{1}, kMostPause);
  try {
    take(id, answer_.get());
    answered_ = steady_clock::now();
  } catch (const Error& error) {
    const bool may_answer_yet = error.code() == ErrorCode::backend_unavailable &&
                                steady_clock::now() - answered_ < kLongestSilence;
    if (!may_answer_yet) throw;
  }
}

void JobWatch::take(const std::string& id, const std::optional<queue::KnownJob>& known) {
  if (known) {
    job_ = known->job;
  } else if (job_) {
    job_->stage = queue::JobStage::ended;
    job_->state = queue::kForgotten;
  } else {
    throw Error(ErrorCode::malformed_value, "the scheduler does not know job " + id,
                "one of your jobs", "`hpcboot jobs` lists them");
  }
  const auto now = steady_clock::now();
  const bool is_forgotten = job_->state == queue::kForgotten;
  if (!is_forgotten) seen_ = now;
  const bool is_over = job_->stage == queue::JobStage::ended;
  if (is_over && (!is_forgotten || now - seen_ > kAccounts)) end_ = now + kLate;
  log_.add(job_->output);
  if (last_lines_) log_.skip_to_last(*last_lines_);
  last_lines_.reset();
  const std::string state = job_->state + (job_->reason.empty() ? "" : ": " + job_->reason);
  if (state != told_ && !is_over) err() << "job " << id << " is " << state << "\n";
  told_ = state;
}

}  // namespace hpcboot::tool
