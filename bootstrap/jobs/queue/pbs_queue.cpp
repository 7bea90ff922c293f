#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "core/contains.hpp"
#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "jobs/run/job/pbs_status.hpp"
#include "queue.hpp"

// PBS Pro, OpenPBS and Torque.
namespace hpcboot::queue {
namespace {

using run::PbsStatus;

// A user may have thousands of jobs: only the last ones are read.
constexpr std::size_t kMostJobs = 200;

struct State {
  const char* letter;
  const char* word;
  JobStage stage;
};

constexpr State kStates[] = {
    {"Q", "queued", JobStage::waiting},      {"H", "held", JobStage::waiting},
    {"W", "waiting", JobStage::waiting},     {"T", "moving", JobStage::waiting},
    {"M", "moved", JobStage::waiting},       {"R", "running", JobStage::running},
    {"B", "array begun", JobStage::running}, {"E", "ending", JobStage::running},
    {"S", "suspended", JobStage::running},   {"U", "suspended", JobStage::running},
    {"F", "ended", JobStage::ended},         {"C", "ended", JobStage::ended},
    {"X", "ended", JobStage::ended},
};

// "n1/0*4+n2/0-3": each host once.
std::string hosts_in(const std::string& text, int& count) {
  std::set<std::string> hosts;
  std::string list;
  for (const std::string& part : jobscripts::split(text, '+')) {
    const std::string host = part.substr(0, part.find('/'));
    if (!host.empty() && hosts.insert(host).second) list += (list.empty() ? "" : ",") + host;
  }
  count = static_cast<int>(hosts.size());
  return list;
}

// "host:/path/name.o12"; for task 12[3] "host:/path/name.o12.^array_index^".
std::string path_in(const std::string& text, const std::string& id) {
  const std::size_t colon = text.find(":/");
  std::string path = colon == std::string::npos ? text : text.substr(colon + 1);
  const std::string mark = "^array_index^";
  const std::size_t at = path.find(mark);
  const std::size_t open = id.find('[');
  if (at == std::string::npos) return path;
  if (open == std::string::npos || id[open + 1] == ']') return "";  // the array as a whole
  path.replace(at, mark.size(), id.substr(open + 1, id.find(']') - open - 1));
  return path;
}

// A negative status: PBS ended the job, pbs_job_attributes(7); -29 at its walltime. 256 + n: signal
// n. A job that never started has no status.
void take_end(QueuedJob& job, const std::string& exit_status, bool was_deleted) {
  constexpr int kWalltime = -29;
  constexpr int kLastOfStart = -3;
  constexpr int kSignals = 256;
  const auto status = exit_status_in(exit_status);
  if (!status) {
    job.state = "deleted";
  } else if (*status < 0) {
    job.state = *status == kWalltime      ? "timeout"
                : *status >= kLastOfStart ? "never ran"
                                          : "killed by PBS";
  } else {
    job.exit_code = *status > kSignals ? *status - kSignals + 128 : *status;
    job.state = was_deleted ? "deleted" : *status == 0 ? "completed" : "failed";
  }
}

QueuedJob described(const std::string& id, const PbsStatus& status) {
  QueuedJob job;
  job.id = id;
  job.name = status.text("Job_Name");
  for (const State& state : kStates) {
    if (!status.is("job_state", state.letter)) continue;
    job.state = state.word;
    job.stage = state.stage;
  }
  const run::JobState times = status.state(std::chrono::system_clock::now());
  job.submitted = status.time("ctime");
  job.start = job.stage == JobStage::waiting ? status.time("estimated.start_time") : times.start;
  if (job.stage == JobStage::ended) {
    constexpr const char* kTerminated = "91";  // JOB_SUBSTATE_TERMINATED
    take_end(job, status.text(status.is("Exit_status", "") ? "exit_status" : "Exit_status"),
             status.is("substate", kTerminated));
    job.end = status.time("obittime") ? status.time("obittime") : status.time("mtime");
  }
  if (const auto seconds = jobscripts::seconds_of(status.text("Resource_List.walltime")))
    job.limit = std::chrono::seconds(*seconds);
  const std::string hosts = hosts_in(status.text("exec_host"), job.nodes);
  if (job.stage == JobStage::running) job.hosts = hosts;
  if (job.nodes == 0) job.nodes = jobscripts::leading_number(status.text("Resource_List.nodect"));
  if (job.stage == JobStage::waiting) job.reason = status.text("comment");
  const std::string out = path_in(status.text("Output_Path"), id);
  const std::string err = path_in(status.text("Error_Path"), id);
  if (!out.empty()) job.output.push_back(out);
  if (!err.empty() && err != out && !status.is("Join_Path", "oe")) job.output.push_back(err);
  return job;
}

class PbsQueue : public Queue {
 public:
  PbsQueue(RunCommand run, std::string server) : run_(std::move(run)), server_(std::move(server)) {}

  std::string scheduler() const override { return "pbs"; }
  std::string cluster() const override { return server_; }

  std::vector<QueuedJob> jobs() const override {
    // -x: also ended jobs, if PBS keeps a history. Torque has no such option, and shows them for
    // some minutes.
    CommandResult list = run_({"qselect", "-x", "-u", user_name()});
    const bool has_history = list.is_ok() && !list.is_late;
    const std::string answer =
        has_history ? list.output : answer_of(run_, {"qselect", "-u", user_name()});
    std::vector<std::string> ids = jobscripts::words_in(answer);
    if (ids.size() > kMostJobs) ids.erase(ids.begin(), ids.end() - kMostJobs);
    if (ids.empty()) return {};
    std::vector<std::string> words = {"qstat"};
    if (has_history) words.emplace_back("-x");
    words.emplace_back("-f");
    words.insert(words.end(), ids.begin(), ids.end());
    // A job that ended meanwhile makes qstat fail, but it still prints the others.
    const CommandResult result = run_(words);
    if (!result.is_started || result.is_late) answer_of(run_, words);
    return all_in(result.output, [&](const std::string& id) { return contains(ids, id); });
  }

  std::optional<QueuedJob> job(const std::string& id) const override {
    auto jobs = jobs_of(id);
    const bool is_number = id.find_first_not_of("0123456789") == std::string::npos;
    const bool is_array = is_array_id(id) || (jobs.empty() && is_number);
    if (jobs.empty() && is_number) jobs = jobs_of(id + "[]");
    if (jobs.empty()) return std::nullopt;
    std::string listed = jobs.front().id;
    if (!is_array) return std::move(jobs.front());
    // PBS also lists the parent job, which ends with 0 whatever its tasks end with; Torque does
    // not.
    if (is_array_id(listed) && jobs.size() > 1) jobs.erase(jobs.begin());
    QueuedJob whole = merged(jobs);
    const std::size_t open = listed.find('[') + 1;
    whole.id = listed.erase(open, listed.find(']') - open);
    return whole;
  }

  std::vector<std::string> cancel_command(const std::string& id) const override {
    return {"qdel", id};
  }

 private:
  // "12[]" and "12[].server", not "12[3]".
  static bool is_array_id(const std::string& id) { return id.find("[]") != std::string::npos; }

  // With -x also ended jobs, if PBS keeps a history; Torque has no such option.
  std::vector<QueuedJob> jobs_of(const std::string& id) const {
    const bool is_array = is_array_id(id);
    const auto is_it = [&](const std::string& listed) {
      const std::string number = id.substr(0, is_array ? id.find('[') : std::string::npos);
      return listed == id || listed.rfind(id + ".", 0) == 0 ||
             (is_array && listed.rfind(number + "[", 0) == 0);
    };
    const auto words = [&](bool kept) {
      std::vector<std::string> all = {"qstat"};
      if (kept) all.emplace_back("-x");
      if (is_array) all.emplace_back("-t");
      all.insert(all.end(), {"-f", id});
      return all;
    };
    const CommandResult kept = run_(words(true));
    auto jobs = kept.is_ok() ? all_in(kept.output, is_it) : std::vector<QueuedJob>();
    if (!jobs.empty()) return jobs;
    const auto answer = answer_about_job(run_, words(false),
                                         {"Unknown Job", "Job has finished", "illegally formed"});
    return all_in(answer.value_or(""), is_it);
  }

  // A variable of a job may contain lines that look like another job: only `is_asked` ids count.
  static std::vector<QueuedJob> all_in(const std::string& text,
                                       const std::function<bool(const std::string&)>& is_asked) {
    std::vector<QueuedJob> jobs;
    const std::string mark = "Job Id: ";
    std::istringstream lines(text);
    std::string id;
    std::string part;
    const auto take = [&] {
      if (!id.empty()) jobs.push_back(described(id, PbsStatus(part)));
      part.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      const std::string found =
          line.rfind(mark, 0) == 0 ? jobscripts::trimmed(line.substr(mark.size())) : "";
      if (!found.empty() && is_asked(found)) {
        take();
        id = found;
      } else {
        part += line + "\n";
      }
    }
    take();
    return jobs;
  }

  RunCommand run_;
  std::string server_;
};

}  // namespace

std::unique_ptr<Queue> pbs_queue(const Env& /*env*/, const RunCommand& run) {
  const CommandResult server = run({"qstat", "-Bf"});
  const std::string mark = "Server: ";
  const std::size_t begin = server.output.find(mark);
  if (!server.is_ok() || server.is_late || begin == std::string::npos) return nullptr;
  const std::string rest = server.output.substr(begin + mark.size());
  return std::make_unique<PbsQueue>(run, jobscripts::trimmed(rest.substr(0, rest.find('\n'))));
}

}  // namespace hpcboot::queue
