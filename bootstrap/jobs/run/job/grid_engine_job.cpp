#include <algorithm>
#include <sstream>
#include <utility>

#include "grid_engine_answers.hpp"
#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "scheduler_job.hpp"

// Grid Engine queues a job again if its script ends with 99, with or without `-r y`: queue_conf(5),
// sge_shepherd(8). A site can forbid that: FORBID_RESCHEDULE in sge_conf(5).
namespace hpcboot::run {
namespace {

constexpr int kQueueAgain = 99;

// The number in "Your job 21 ("k") has been submitted" or "Your job-array 9.2-6:2 …".
std::string submitted_job(const std::string& answer) {
  for (const char* mark : {"Your job ", "Your job-array "}) {
    const std::size_t begin = answer.find(mark);
    if (begin == std::string::npos) continue;
    const std::string rest = answer.substr(begin + std::string(mark).size());
    return rest.substr(0, rest.find_first_not_of("0123456789"));
  }
  return "";
}

// If no other host fits, Grid Engine lets the job wait without a message: the owner must be told.
std::string without(const std::string& bad_host, const std::string& note) {
  return bad_host.empty() || !note.empty() ? "" : ", without " + bad_host;
}

class GridEngineJob : public SchedulerJob {
 public:
  // @param id "12", or "12.3" for a task of an array
  GridEngineJob(const Surroundings& s, std::string id) : s_(s), id_(std::move(id)) {
    const std::size_t dot = id_.find('.');
    number_ = id_.substr(0, dot);
    if (dot != std::string::npos) task_ = id_.substr(dot + 1);
  }

  std::string id() const override { return id_; }

  JobState state() const override {
    const std::string details = details_of_job();
    JobState state;
    if (const auto start = start_of_task(details, task_.empty() ? "1" : task_)) {
      state.start = start;
      if (const auto limit = limit_of(details)) state.end = *state.start + *limit;
    }
    // The state after qdel is "dr"; only the list shows it.
    const std::string list =
        s_.output_of({tool("qstat"), "-s", "rs", "-xml", "-u", variable("LOGNAME", "*")});
    state.is_ending = listed_state(list, number_, task_).find('d') != std::string::npos;
    return state;
  }

  QueuedAgain queue_again(const std::string& bad_host) override {
    const std::string script = variable("JOB_SCRIPT", "");
    for (const char* kind : {"QRSH", "QLOGIN", "QRLOGIN", "INTERACTIVE"}) {
      if (script != kind) continue;
      throw Error(ErrorCode::backend_unavailable, "job " + id_ + " is interactive (" + script + ")",
                  "a job of qsub, which can be queued again", "start it again by hand");
    }
    return setting("forbid_reschedule") == "0" ? by_script(bad_host) : by_copy(bad_host);
  }

 private:
  std::string variable(const char* name, const char* otherwise) const {
    return std::string(s_.env.text(name).value_or(otherwise));
  }

  // A job may lack Grid Engine in PATH, or have the qstat of another scheduler there.
  std::string tool(const char* name) const {
    const auto folder = s_.env.text("SGE_BINARY_PATH");
    return folder ? std::string(*folder) + "/" + name : name;
  }

  std::string details_of_job() const {
    return answer_of(s_, {tool("qstat"), "-xml", "-j", number_});
  }

  // The smaller one of the job's request and the queue's limit. s_rt does not limit the job: it
  // counts per slot and only warns.
  std::optional<std::chrono::seconds> limit_of(const std::string& details) const {
    const auto requests = hard_requests(details);
    const auto request = requests.find("h_rt");
    auto limit = request == requests.end() ? std::nullopt : grid_engine_time(request->second);
    const auto queue = setting("queue");
    const auto host = setting("host");
    if (!queue || !host) return limit;
    const CommandResult answer = s_.run_command({tool("qconf"), "-sq", *queue + "@" + *host}, "");
    if (answer.is_ok() && !answer.is_late) limit_of_queue_ = queue_limit(answer.output);
    if (limit_of_queue_ && (!limit || *limit_of_queue_ < *limit)) limit = limit_of_queue_;
    return limit;
  }

  // A setting from the configuration of the job's shepherd; nullopt if it is not set.
  std::optional<std::string> setting(const std::string& name) const {
    try {
      std::istringstream lines(s_.read_file(variable("SGE_JOB_SPOOL_DIR", "") + "/config"));
      for (std::string line; std::getline(lines, line);)
        if (line.rfind(name + "=", 0) == 0) return line.substr(name.size() + 1);
    } catch (const Error&) {
      return std::nullopt;
    }
    return std::nullopt;
  }

  QueuedAgain by_script(const std::string& bad_host) const {
    QueuedAgain result;
    result.job_id = id_;
    result.exit_code = kQueueAgain;
    if (!bad_host.empty() && !task_.empty()) {
      result.note =
          "Grid Engine excludes a host for all tasks of an array or for none: the task may get " +
          bad_host + " again";
    } else {
      result.note = leave_out(number_, bad_host);
    }
    result.how = "exit code 99 of the job script" + without(bad_host, result.note);
    return result;
  }

  // Takes effect when the job starts again. qalter replaces all requests, so all must be given.
  // @return what could not be done
  std::string leave_out(const std::string& job, const std::string& host) const {
    if (host.empty()) return "";
    try {
      auto requests = hard_requests(details_of_job());
      std::string& hosts = requests["hostname"];
      hosts = hosts.empty() ? "!" + host : "(" + hosts + ")&!" + host;
      std::string list;
      for (const auto& [name, value] : requests)
        list += (list.empty() ? "" : ",") + name + "=" + value;
      answer_of(s_, {tool("qalter"), "-l", list, job});
    } catch (const Error& error) {
      return host + " is not excluded: " + error.found();
    }
    return "";
  }

  // qresub copies script, arguments, variables and requests.
  QueuedAgain by_copy(const std::string& bad_host) const {
    QueuedAgain result;
    if (task_.empty()) {
      result.note = leave_out(number_, bad_host);
      result.job_id = copy({});
    } else {
      const std::string job = copy({"-h", "u"});
      try {
        result.note = keep_task_alone(job, bad_host);
      } catch (const Error&) {
        s_.output_of({tool("qdel"), job});
        throw;
      }
      result.job_id = job + "." + task_;
    }
    result.how = "qresub " + id_ + ", as " + result.job_id + without(bad_host, result.note);
    return result;
  }

  std::string copy(const std::vector<std::string>& options) const {
    std::vector<std::string> words = {tool("qresub")};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(number_);
    const std::string answer = answer_of(s_, words);
    std::string job = submitted_job(answer);
    if (job.empty()) {
      throw Error(ErrorCode::backend_unavailable,
                  "unexpected output of `qresub " + number_ + "`: '" + answer + "'",
                  "the job number of the copy", "submit the job again by hand");
    }
    return job;
  }

  // qresub copies whole arrays. The copy is held until only this task is left; qresub then holds
  // the original too.
  // @return what could not be done
  std::string keep_task_alone(const std::string& job, const std::string& bad_host) const {
    answer_of(s_, {tool("qrls"), "-h", "u", number_});
    const int task = s_.env.require_integer("SGE_TASK_ID", "Grid Engine", 1);
    const int first = s_.env.require_integer("SGE_TASK_FIRST", "Grid Engine", 1);
    const int last = s_.env.require_integer("SGE_TASK_LAST", "Grid Engine", 1);
    const int step = s_.env.require_integer("SGE_TASK_STEPSIZE", "Grid Engine", 1);
    const auto remove = [&](int from, int to) {
      if (from > to) return;
      answer_of(s_, {tool("qdel"), job, "-t",
                     std::to_string(from) + "-" + std::to_string(to) + ":" + std::to_string(step)});
    };
    remove(first, task - step);
    remove(task + step, last);
    std::string note = leave_out(job, bad_host);
    answer_of(s_, {tool("qrls"), "-h", "u", job});
    return note;
  }

  const Surroundings& s_;
  std::string id_;
  std::string number_;                                          // of the job
  std::string task_;                                            // empty outside arrays
  mutable std::optional<std::chrono::seconds> limit_of_queue_;  // last known value
};

}  // namespace

std::unique_ptr<SchedulerJob> grid_engine_job(const Surroundings& s) {
  if (!s.allocation || s.allocation->scheduler != "sge") return nullptr;
  return std::make_unique<GridEngineJob>(s, s.allocation->job_id);
}

}  // namespace hpcboot::run
