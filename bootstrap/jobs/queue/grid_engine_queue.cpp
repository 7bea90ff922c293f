#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <locale>
#include <set>
#include <sstream>
#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "jobs/run/job/grid_engine_answers.hpp"
#include "jobs/xml_elements.hpp"
#include "queue.hpp"

namespace hpcboot::queue {
namespace {

using jobscripts::trimmed;
using jobscripts::value_of;

// "2026-11-23T21:49:05", newer versions with milliseconds; qacct: "Mon Nov 23 21:49:05 2026". In
// the time zone of this host.
std::optional<WallTime> time_in(const std::string& text) {
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S"}) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    std::tm parts{};
    in >> std::get_time(&parts, format);
    if (in.fail()) continue;
    parts.tm_isdst = -1;
    const std::time_t time = std::mktime(&parts);
    if (const auto known = wall_time_of(time)) return known;
  }
  return std::nullopt;
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

// qstat(1): a state is a combination of letters.
void take_state(QueuedJob& job, const std::string& letters) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  const bool runs = has('r') || has('t') || has('s') || has('S') || has('T');
  job.stage = runs ? JobStage::running : JobStage::waiting;
  job.state = has('E')                           ? "error"
              : has('d')                         ? "being deleted"
              : has('h')                         ? "held"
              : !runs                            ? "waiting"
              : has('s') || has('S') || has('T') ? "suspended"
                                                 : "running";
}

// "failed" of accounting(5) and sge_status(5): 37: its h_rt was exceeded; 100: killed by a signal,
// for example by qdel.
std::string state_of(const std::string& failed, bool is_well) {
  const std::string number = first_word(failed);
  if (number == "0") return is_well ? "completed" : "failed";
  return number == "37" ? "timeout" : number == "100" ? "killed" : "failed: " + failed;
}

class GridEngineQueue : public Queue {
 public:
  GridEngineQueue(const Env& env, RunCommand run) : run_(std::move(run)) {
    cluster_ = env.text("SGE_CLUSTER_NAME").value_or(env.text("SGE_CELL").value_or(""));
  }

  std::string scheduler() const override { return "sge"; }
  std::string cluster() const override { return cluster_; }

  std::vector<QueuedJob> jobs() const override {
    const std::string answer = answer_of(run_, {"qstat", "-u", user_name(), "-xml"});
    std::vector<QueuedJob> jobs;
    for_each_element(answer, "job_list", [&](std::string_view entry) {
      const auto text = [&](const char* name) {
        return xml_text(element_in(entry, name).value_or(""));
      };
      QueuedJob job;
      job.id = text("JB_job_number");
      if (const std::string task = text("tasks"); !task.empty()) job.id += "." + task;
      job.name = text("JB_name");
      take_state(job, text("state"));
      job.submitted = time_in(text("JB_submission_time"));
      job.start = time_in(text("JAT_start_time"));
      const std::string queue = text("queue_name");
      if (const std::size_t at = queue.find('@'); at != std::string::npos)
        job.hosts = queue.substr(at + 1);
      if (!job.id.empty()) jobs.push_back(std::move(job));
    });
    // The list does not include the reason.
    constexpr int kMostAsked = 20;
    int asked = 0;
    for (QueuedJob& job : jobs) {
      if (job.stage != JobStage::waiting || ++asked > kMostAsked) continue;
      const std::size_t dot = job.id.find('.');
      add_details(job, job.id.substr(0, dot),
                  dot == std::string::npos ? "" : job.id.substr(dot + 1));
    }
    return jobs;
  }

  std::optional<QueuedJob> job(const std::string& id) const override {
    const std::size_t dot = id.find('.');
    const std::string number = id.substr(0, dot);
    const std::string task = dot == std::string::npos ? "" : id.substr(dot + 1);
    for (QueuedJob& job : jobs()) {
      // The waiting tasks of an array share one entry: "7.3-9:2".
      const bool is_range = job.id.find_first_of("-,:") != std::string::npos;
      const bool is_it =
          job.id == id || (job.id.rfind(number + ".", 0) == 0 && (task.empty() || is_range));
      if (!is_it) continue;
      job.id = id;
      add_details(job, number, task);
      return std::move(job);
    }
    return from_accounting(id, number, task);
  }

  std::vector<std::string> cancel_command(const std::string& id) const override {
    const std::size_t dot = id.find('.');
    if (dot == std::string::npos) return {"qdel", id};
    return {"qdel", id.substr(0, dot), "-t", id.substr(dot + 1)};
  }

 private:
  void add_details(QueuedJob& job, const std::string& number, const std::string& task) const {
    const CommandResult result = run_({"qstat", "-j", number});
    if (!result.is_ok()) return;
    const std::string& text = result.output;
    const auto requests = jobscripts::part_of(value_of(text, "hard resource_list:"), "h_rt");
    if (const auto limit = run::grid_engine_time(requests); limit && !requests.empty())
      job.limit = *limit;
    if (job.stage == JobStage::waiting) job.reason = reason_in(text);
    const std::string cwd = value_of(text, "cwd:");
    const std::string folder = cwd.empty() ? value_of(text, "sge_o_home:") : cwd;
    job.output = {output_in(value_of(text, "stdout_path_list:"), folder, job.name, number, task)};
  }

  // Its errors, or the scheduler's reason, if the site enables that (schedd_job_info).
  static std::string reason_in(const std::string& text) {
    for (const std::string& line : jobscripts::split(text, '\n')) {
      if (line.rfind("error reason", 0) == 0) return trimmed(line.substr(line.find(':') + 1));
    }
    const std::size_t begin = text.find("scheduling info:");
    if (begin == std::string::npos) return "";
    std::string info = text.substr(begin + std::string("scheduling info:").size());
    info = trimmed(info.substr(0, info.find('\n')));
    return info.rfind('(', 0) == 0 ? "" : info;  // "(Collecting of scheduler job information is …)"
  }

  // "NONE:n1:/path": a file, or a folder for a file of the default name.
  static std::string output_in(const std::string& list, const std::string& folder,
                               const std::string& name, const std::string& number,
                               const std::string& task) {
    const std::string usual = name + ".o" + number + (task.empty() ? "" : "." + task);
    if (list.empty()) return folder + "/" + usual;
    std::string path = list.substr(list.rfind(':') + 1);
    if (path.rfind('/', 0) != 0) path.insert(0, folder + "/");
    std::error_code none;
    const bool is_folder = path.back() == '/' || std::filesystem::is_directory(path, none);
    return is_folder ? path + (path.back() == '/' ? "" : "/") + usual : path;
  }

  std::optional<QueuedJob> from_accounting(const std::string& id, const std::string& number,
                                           const std::string& task) const {
    std::vector<std::string> words = {"qacct", "-j", number};
    if (!task.empty()) words.insert(words.end(), {"-t", task});
    const CommandResult result = run_(words);
    if (!result.is_ok() || result.is_late) return std::nullopt;
    const auto tasks = tasks_in(result.output);
    if (tasks.empty()) return std::nullopt;
    QueuedJob whole = merged(tasks);
    whole.id = id;
    return whole;
  }

  // One record per task of an array and attempt: the last attempt counts.
  static std::vector<QueuedJob> tasks_in(const std::string& records) {
    std::vector<QueuedJob> tasks;
    const std::string mark = "====\n";
    std::size_t begin = records.find(mark);
    while (begin != std::string::npos) {
      begin += mark.size();
      const std::size_t end = records.find(mark, begin);
      QueuedJob task = described_by_qacct(records.substr(begin, end - begin));
      const auto earlier = std::find_if(tasks.begin(), tasks.end(),
                                        [&](const QueuedJob& one) { return one.id == task.id; });
      if (earlier == tasks.end())
        tasks.push_back(std::move(task));
      else
        *earlier = std::move(task);
      begin = end;
    }
    return tasks;
  }

  static QueuedJob described_by_qacct(const std::string& text) {
    QueuedJob job;
    job.id = value_of(text, "taskid");  // "undefined" if it is no array
    job.name = value_of(text, "jobname");
    job.stage = JobStage::ended;
    // "137", "137 (Killed)"; "100 : assumedly after job".
    const auto code = exit_status_in(first_word(value_of(text, "exit_status")));
    job.exit_code = code;
    const std::string failed = value_of(text, "failed");
    const std::string deleter = value_of(text, "deleted_by");
    job.state = !deleter.empty() && deleter != "NONE" ? "deleted" : state_of(failed, code == 0);
    job.submitted = time_in(value_of(text, "qsub_time"));
    job.start = time_in(value_of(text, "start_time"));
    job.end = time_in(value_of(text, "end_time"));
    return job;
  }

  RunCommand run_;
  std::string cluster_;
};

}  // namespace

std::unique_ptr<Queue> grid_engine_queue(const Env& env, const RunCommand& run) {
  const CommandResult queues = run({"qconf", "-sql"});
  if (!queues.is_ok() || queues.is_late) return nullptr;
  return std::make_unique<GridEngineQueue>(env, run);
}

}  // namespace hpcboot::queue
