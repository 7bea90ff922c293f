#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "queue.hpp"

// LSF, according to IBM's manual of bjobs(1), lsid(1) and bkill(1); untested on a cluster.
namespace hpcboot::queue {
namespace {

constexpr const char* kColumns =
    "jobid jobindex stat exit_code nexec_host run_time time_left exec_host output_file sub_cwd "
    "pend_reason job_name delimiter='|'";

std::string known(const std::string& text) {
  return text == "-" ? "" : text;
}

QueuedJob described_by_lsf(const std::vector<std::string>& parts) {
  QueuedJob job;
  job.id = parts[0];
  if (!known(parts[1]).empty() && parts[1] != "0") job.id += "[" + parts[1] + "]";
  job.state = lower_case(parts[2]);
  job.stage = job.state == "done" || job.state == "exit"    ? JobStage::ended
              : job.state == "pend" || job.state == "psusp" ? JobStage::waiting
                                                            : JobStage::running;
  if (job.state == "done") job.exit_code = 0;
  if (const auto code = exit_status_in(parts[3]); code && job.stage == JobStage::ended)
    job.exit_code = *code;
  job.nodes = jobscripts::leading_number(parts[4]);
  // "37 second(s)". The time left is in hours and minutes.
  const auto now = std::chrono::system_clock::now();
  const auto ran = std::chrono::seconds(jobscripts::leading_number(parts[5]));
  if (job.stage == JobStage::running) {
    job.start = now - ran;
    if (const auto left = jobscripts::seconds_of(parts[6].substr(0, parts[6].find(' ')), true))
      job.limit = ran + std::chrono::seconds(*left);
    job.hosts = known(parts[7]);
  }
  if (const std::string file = known(parts[8]); !file.empty())
    job.output = {file.front() == '/' ? file : parts[9] + "/" + file};
  if (job.stage == JobStage::waiting) job.reason = known(parts[10]);
  job.name = parts[11];
  return job;
}

class LsfQueue : public Queue {
 public:
  LsfQueue(RunCommand run, std::string cluster)
      : run_(std::move(run)), cluster_(std::move(cluster)) {}

  std::string scheduler() const override { return "lsf"; }
  std::string cluster() const override { return cluster_; }

  std::vector<QueuedJob> jobs() const override {
    // "No unfinished job found" is not an error, but sets an exit code.
    const std::vector<std::string> words = {"bjobs", "-a", "-noheader", "-o", kColumns};
    const CommandResult result = run_(words);
    if (result.output.find("No ") == std::string::npos) return all_in(answer_of(run_, words));
    return all_in(result.output);
  }

  std::optional<QueuedJob> job(const std::string& id) const override {
    const auto answer = answer_about_job(run_, {"bjobs", "-a", "-noheader", "-o", kColumns, id},
                                         {"not found", "No matching job"});
    // For the id of an array LSF lists its elements.
    const auto elements = all_in(answer.value_or(""));
    if (elements.empty()) return std::nullopt;
    QueuedJob whole = merged(elements);
    whole.id = id;
    return whole;
  }

  std::vector<std::string> cancel_command(const std::string& id) const override {
    return {"bkill", id};
  }

 private:
  static std::vector<QueuedJob> all_in(const std::string& text) {
    std::vector<QueuedJob> jobs;
    for (const auto& row : rows_in(text, 12)) jobs.push_back(described_by_lsf(row));
    return jobs;
  }

  RunCommand run_;
  std::string cluster_;
};

}  // namespace

std::unique_ptr<Queue> lsf_queue(const Env& /*env*/, const RunCommand& run) {
  const CommandResult answer = run({"lsid"});
  const std::string mark = "My cluster name is ";
  const std::size_t begin = answer.output.find(mark);
  if (!answer.is_ok() || answer.is_late || begin == std::string::npos) return nullptr;
  const std::string rest = answer.output.substr(begin + mark.size());
  return std::make_unique<LsfQueue>(run, jobscripts::trimmed(rest.substr(0, rest.find('\n'))));
}

}  // namespace hpcboot::queue
