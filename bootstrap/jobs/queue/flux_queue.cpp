#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "json/bounded_json.hpp"
#include "queue.hpp"

// Flux: the jobs of the instance that this process belongs to.
namespace hpcboot::queue {
namespace {

// flux-jobs(1), "OUTPUT FORMAT"; the name comes last, since it may contain anything.
constexpr const char* kFormat =
    "--format={id}|{state}|{status}|{nnodes}|{t_submit}|{t_run}|{t_inactive}|{duration}|"
    "{returncode}|{nodelist}|{name}";

std::optional<std::chrono::seconds> limit_of(const std::string& text) {
  const int seconds = jobscripts::leading_number(text);  // "3600.0"; 0: none
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

QueuedJob described_by_flux(const std::vector<std::string>& parts) {
  QueuedJob job;
  job.id = parts[0];
  job.state = lower_case(parts[2]);
  const std::string stage = lower_case(parts[1]);
  job.stage = stage == "inactive"                    ? JobStage::ended
              : stage == "run" || stage == "cleanup" ? JobStage::running
                                                     : JobStage::waiting;
  if (job.stage == JobStage::waiting) job.reason = stage;
  job.nodes = jobscripts::leading_number(parts[3]);
  job.submitted = time_of_epoch(parts[4]);
  job.start = time_of_epoch(parts[5]);
  if (job.stage == JobStage::ended) {
    job.end = time_of_epoch(parts[6]);
    // -15: ended by signal 15; a job that never ran has none.
    if (const auto code = exit_status_in(parts[8])) job.exit_code = *code < 0 ? 128 - *code : *code;
  }
  job.limit = limit_of(parts[7]);
  if (job.stage == JobStage::running) job.hosts = parts[9];
  job.name = parts[10];
  return job;
}

class FluxQueue : public Queue {
 public:
  explicit FluxQueue(RunCommand run) : run_(std::move(run)) {}

  std::string scheduler() const override { return "flux"; }

  std::vector<QueuedJob> jobs() const override {
    return all_in(answer_of(run_, {"flux", "jobs", "-a", "--suppress-header", kFormat}));
  }

  std::optional<QueuedJob> job(const std::string& id) const override {
    const auto answer = answer_about_job(
        run_, {"flux", "jobs", "-a", "--suppress-header", kFormat, id}, {"unknown", "invalid"});
    auto jobs = all_in(answer.value_or(""));
    if (jobs.empty()) return std::nullopt;
    jobs.front().output = output_of(id);
    return std::move(jobs.front());
  }

  std::vector<std::string> cancel_command(const std::string& id) const override {
    return {"flux", "cancel", id};
  }

 private:
  // The output file of a batch script; a job without one keeps its output in Flux.
  std::vector<std::string> output_of(const std::string& id) const {
    const CommandResult spec = run_({"flux", "job", "info", id, "jobspec"});
    if (!spec.is_ok() || spec.is_late) return {};
    static const Json::json_pointer path("/attributes/system/shell/options/output/stdout/path");
    std::string file;
    try {
      const Json json = parse_json(spec.output);
      if (!json.contains(path) || !json.at(path).is_string()) return {};
      file = json.at(path).get<std::string>();
    } catch (const JsonError&) {
      return {};
    }
    for (const std::string mark : {"{{id}}", "{{jobid}}"}) {
      if (const std::size_t at = file.find(mark); at != std::string::npos)
        file.replace(at, mark.size(), id);
    }
    return {file};
  }

  static std::vector<QueuedJob> all_in(const std::string& text) {
    std::vector<QueuedJob> jobs;
    for (const auto& row : rows_in(text, 11)) jobs.push_back(described_by_flux(row));
    return jobs;
  }

  RunCommand run_;
};

}  // namespace

std::unique_ptr<Queue> flux_queue(const Env& /*env*/, const RunCommand& run) {
  const CommandResult size = run({"flux", "getattr", "size"});
  if (!size.is_ok() || size.is_late) return nullptr;
  return std::make_unique<FluxQueue>(run);
}

}  // namespace hpcboot::queue
