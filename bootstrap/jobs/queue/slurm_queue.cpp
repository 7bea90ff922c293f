#include <unistd.h>
#include <algorithm>

#include <map>
#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "queue.hpp"

namespace hpcboot::queue {
namespace {

using jobscripts::seconds_of;
using jobscripts::split;

JobStage stage_of(const std::string& state) {
  for (const char* waits : {"pending", "requeued", "requeue_hold", "requeue_fed", "special_exit",
                            "resv_del_hold", "configuring"})
    if (state == waits) return JobStage::waiting;
  for (const char* ended : {"completed", "failed", "timeout", "cancelled", "node_fail", "preempted",
                            "out_of_memory", "boot_fail", "deadline", "revoked"})
    if (state == ended) return JobStage::ended;
  return JobStage::running;
}

std::string known(const std::string& text) {
  return text == "None" || text == "(null)" || text == "N/A" || text == "Unknown" ? "" : text;
}

// "2:0": the exit code and the signal.
std::optional<int> code_of(const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto code = exit_status_in(parts[0]);
  const auto signal = exit_status_in(parts[1]);
  if (!code || !signal) return std::nullopt;
  return *signal > 0 ? 128 + *signal : *code;
}

class SlurmQueue : public Queue {
 public:
  SlurmQueue(const Env& env, RunCommand run, std::string cluster)
      : run_(std::move(run)), cluster_(std::move(cluster)) {
    // Drops the user's defaults for these commands; times in seconds since 1970.
    plain_ = {"env"};
    for (const auto& [name, value] : env.variables()) {
      if (name.rfind("SQUEUE_", 0) == 0 || name.rfind("SCONTROL_", 0) == 0 ||
          name.rfind("SACCT_", 0) == 0)
        plain_.insert(plain_.end(), {"-u", name});
    }
    plain_.emplace_back("SLURM_TIME_FORMAT=%s");
  }

  std::string scheduler() const override { return "slurm"; }

  std::string cluster() const override { return cluster_; }

  std::vector<QueuedJob> jobs() const override {
    std::vector<QueuedJob> jobs;
    for (const auto& parts : rows_in(squeue("%i|%T|%D|%V|%S|%e|%l|%r|%N"), 9)) {
      QueuedJob job;
      job.id = parts[0];
      job.state = lower_case(parts[1]);
      job.stage = stage_of(job.state);
      job.nodes = jobscripts::leading_number(parts[2]);
      job.submitted = time_of_epoch(parts[3]);
      job.start = time_of_epoch(parts[4]);
      if (job.stage == JobStage::ended) job.end = time_of_epoch(parts[5]);
      job.limit = limit_of(parts[6]);
      if (job.stage == JobStage::waiting) job.reason = known(parts[7]);
      if (job.stage == JobStage::running) job.hosts = known(parts[8]);
      jobs.push_back(std::move(job));
    }
    // A name may contain newlines: lines that do not start with a job id are part of a name.
    std::map<std::string, std::string> names;
    for (const auto& parts : rows_in(squeue("%i|%j"), 2)) {
      std::string& name = names[parts[0]];
      if (name.empty()) name = parts[1];
    }
    for (QueuedJob& job : jobs) job.name = names[job.id];
    return jobs;
  }

  std::optional<QueuedJob> job(const std::string& id) const override {
    const std::string asked = id.substr(0, id.find("_["));  // "12_[3-5]", waiting tasks
    auto answer = answer_about_job(run_, plain({"scontrol", "--oneliner", "show", "job", asked}),
                                   {"Invalid job id"});
    if (!answer) return from_accounting(id);
    const auto names = names_of(asked);
    for (const auto& [part, name] : names) take_out(*answer, name);
    std::vector<QueuedJob> tasks;
    bool has_components = false;
    for (const std::string& line : split(*answer, '\n')) {
      if (!is_of(line, asked)) continue;
      tasks.push_back(described(line));
      has_components = !field(" " + line, "HetJobId").empty();
    }
    if (tasks.empty()) return std::nullopt;
    QueuedJob whole = merged(tasks);
    if (has_components) add_hosts(whole, tasks);
    whole.id = id;
    whole.name = name_in(names, asked);
    return whole;
  }

  std::vector<std::string> cancel_command(const std::string& id) const override {
    return {"scancel", "--", id};
  }

 private:
  std::vector<std::string> plain(const std::vector<std::string>& words) const {
    std::vector<std::string> all = plain_;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  static std::optional<std::chrono::seconds> limit_of(const std::string& text) {
    const auto seconds = seconds_of(text);
    if (!seconds) return std::nullopt;
    return std::chrono::seconds(*seconds);
  }

  std::string squeue(const std::string& format) const {
    return answer_of(run_, plain({"squeue", "--noheader", "--states=all", "--user",
                                  std::to_string(::geteuid()), "--format=" + format}));
  }

  using Names = std::vector<std::pair<std::string, std::string>>;

  // The job's name, or those of the components of a heterogeneous job with their ids, "14+1"; the
  // longest first, since one may be part of another.
  Names names_of(const std::string& id) const {
    const auto ask = [&](const char* format) {
      const CommandResult result =
          run_(plain({"squeue", "--noheader", "--states=all", "--jobs", id, format}));
      return result.is_ok() && !result.is_late ? result.output : std::string();
    };
    const auto ids = rows_in(ask("--format=%i"), 1);
    if (ids.size() < 2 || ids.front()[0].find('+') == std::string::npos) {
      // For an array it is printed once per task.
      const std::string names = ask("--format=%j");
      const std::size_t length = names.size() / std::max<std::size_t>(ids.size(), 1);
      return {{id, length > 0 ? names.substr(0, length - 1) : ""}};
    }
    // squeue lists all components for any of them. A name may contain newlines.
    const std::string text = ask("--format=%i|%j");
    Names names;
    std::size_t end = 0;
    for (std::size_t i = 0; i < ids.size() && end < text.size(); ++i) {
      const std::size_t begin = end + ids[i][0].size() + 1;
      const std::size_t next =
          i + 1 < ids.size() ? text.find("\n" + ids[i + 1][0] + "|", end) : text.size() - 1;
      if (next == std::string::npos || begin > next) break;
      names.emplace_back(ids[i][0], text.substr(begin, next - begin));
      end = next + 1;
    }
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    return names;
  }

  // Of a whole heterogeneous job, that of its leader.
  static std::string name_in(const Names& names, const std::string& id) {
    for (const auto& [part, name] : names) {
      if (part == id || part == id + "+0") return name;
    }
    return "";
  }

  // Components run at the same time.
  static void add_hosts(QueuedJob& whole, const std::vector<QueuedJob>& components) {
    whole.nodes = 0;
    whole.hosts.clear();
    for (const QueuedJob& component : components) {
      whole.nodes += component.nodes;
      if (!component.hosts.empty())
        whole.hosts += (whole.hosts.empty() ? "" : ",") + component.hosts;
    }
  }

  // A job name may look like any of the fields.
  static void take_out(std::string& text, const std::string& name) {
    const std::string field = "JobName=" + name + " UserId=";
    for (std::size_t at = text.find(field); at != std::string::npos; at = text.find(field, at + 1))
      text.replace(at, field.size(), "UserId=");
  }

  // "12_3" is a task of 12, "14+1" component 1 of the heterogeneous job 14.
  static bool is_of(const std::string& line, const std::string& id) {
    if (line.rfind("JobId=", 0) != 0) return false;
    const std::string number = id.substr(0, id.find_first_of("_+"));
    if (const std::size_t plus = id.find('+'); plus != std::string::npos) {
      return field(" " + line, "HetJobId") == number &&
             field(" " + line, "HetJobOffset") == id.substr(plus + 1);
    }
    const auto keys = {"ArrayJobId", "HetJobId", "JobId"};
    return std::any_of(keys.begin(), keys.end(),
                       [&](const char* key) { return field(" " + line, key) == number; });
  }

  // " KEY=VALUE" of one line; only job names, commands and paths may contain blanks.
  static std::string field(const std::string& line, const std::string& key) {
    const std::size_t begin = line.find(" " + key + "=");
    if (begin == std::string::npos) return "";
    const std::size_t from = begin + key.size() + 2;
    return known(line.substr(from, line.find(' ', from) - from));
  }

  // A path, which ends at the next field; which field that is depends on the Slurm version.
  static std::string path(const std::string& line, const std::string& key) {
    const std::size_t begin = line.find(" " + key + "=");
    if (begin == std::string::npos) return "";
    std::string text = line.substr(begin + key.size() + 2);
    for (const char* next :
         {" Power=", " StdIn=", " StdOut=", " MailUser=", " TresPer",
          " TresBind=", " TresFreq=", " NtasksPer", " Switches=", " CpusPerTres=", " MemPerTres=",
          " Container=", " SELinuxContext=", " ResvPorts="})
      text.erase(std::min(text.find(next), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    // Waiting tasks have no file yet.
    return text.find("4294967294") == std::string::npos ? text : "";
  }

  static QueuedJob described(const std::string& line) {
    QueuedJob job;
    job.state = lower_case(field(line, "JobState"));
    job.stage = stage_of(job.state);
    if (job.stage == JobStage::ended) {
      job.exit_code = code_of(field(line, "ExitCode"));
      job.end = time_of_epoch(field(line, "EndTime"));
    }
    job.nodes = jobscripts::leading_number(field(line, "NumNodes"));
    job.submitted = time_of_epoch(field(line, "SubmitTime"));
    job.start = time_of_epoch(field(line, "StartTime"));
    job.limit = limit_of(field(line, "TimeLimit"));
    if (job.stage == JobStage::waiting) job.reason = field(line, "Reason");
    if (job.stage == JobStage::running) job.hosts = field(line, "NodeList");
    const std::string out = path(line, "StdOut");
    const std::string err = path(line, "StdErr");
    if (!out.empty()) job.output.push_back(out);
    if (!err.empty() && err != out) job.output.push_back(err);
    return job;
  }

  static QueuedJob described_by_sacct(const std::vector<std::string>& parts) {
    QueuedJob job;
    job.state = lower_case(parts[1].substr(0, parts[1].find(' ')));  // "CANCELLED by 1000"
    job.stage = stage_of(job.state);
    if (job.stage == JobStage::ended) {
      job.exit_code = code_of(parts[2]);
      job.end = time_of_epoch(parts[6]);
    }
    job.nodes = jobscripts::leading_number(parts[3]);
    job.submitted = time_of_epoch(parts[4]);
    job.start = time_of_epoch(parts[5]);
    job.name = parts[7];
    return job;
  }

  // Jobs that slurmctld has forgotten, if the cluster keeps accounting records: one row per task of
  // an array, and per component of a heterogeneous job, the leader first.
  std::optional<QueuedJob> from_accounting(const std::string& id) const {
    const CommandResult result =
        run_(plain({"sacct", "--noheader", "--parsable2", "--allocations", "--jobs", id,
                    "--format=JobID,State,ExitCode,NNodes,Submit,Start,End,JobName"}));
    if (!result.is_ok() || result.is_late) return std::nullopt;
    const auto rows = rows_in(result.output, 8);
    if (rows.empty()) return std::nullopt;
    std::vector<QueuedJob> tasks;
    for (const auto& parts : rows) tasks.push_back(described_by_sacct(parts));
    QueuedJob whole = merged(tasks);
    if (rows.front()[0].find('+') != std::string::npos) add_hosts(whole, tasks);
    whole.id = id;
    whole.name = tasks.front().name;
    return whole;
  }

  RunCommand run_;
  std::string cluster_;
  std::vector<std::string> plain_;
};

}  // namespace

std::unique_ptr<Queue> slurm_queue(const Env& env, const RunCommand& run) {
  const CommandResult config = run({"scontrol", "show", "config"});
  if (!config.is_ok() || config.is_late) return nullptr;
  return std::make_unique<SlurmQueue>(env, run, jobscripts::value_of(config.output, "ClusterName"));
}

}  // namespace hpcboot::queue
