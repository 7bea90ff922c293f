#include <sstream>
#include <utility>

#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "json/bounded_json.hpp"
#include "scheduler_job.hpp"

// Flux keeps what a job was submitted with, its jobspec (RFC 25): script, arguments, resources,
// working directory and environment. It cannot requeue a job, but accepts the same jobspec again.
namespace hpcboot::run {
namespace {

// Keeps the fraction; nullopt if it is not a time.
std::optional<WallTime> time_of(double seconds) {
  if (!(seconds >= 1 && seconds < static_cast<double>(kEndOfWallTime))) return std::nullopt;
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::duration<double>(seconds)));
}

// In addition to existing constraints: RFC 31.
void leave_out(Json& jobspec, const std::string& host) {
  Json not_there = {{"not", Json::array({{{"hostlist", Json::array({host})}}})}};
  Json& system = jobspec.at("attributes").at("system");
  if (system.contains("constraints")) {
    not_there = {{"and", Json::array({system.at("constraints"), not_there})}};
  }
  system["constraints"] = std::move(not_there);
}

class FluxJob : public SchedulerJob {
 public:
  // A batch script runs in its own Flux instance; its job belongs to the parent instance.
  FluxJob(const Surroundings& s, std::string id, bool is_instance)
      : s_(s), id_(std::move(id)), is_instance_(is_instance) {}

  std::string id() const override { return id_; }

  JobState state() const override {
    const std::vector<std::string> words =
        flux({"jobs", "-no", "{state} {t_run} {expiration}", id_});
    const std::string answer = answer_of(s_, words);
    std::istringstream stream(answer);
    std::string name;
    double start = 0;
    double end = 0;  // 0 without a limit
    if (!(stream >> name >> start >> end)) {
      throw Error(ErrorCode::backend_unavailable,
                  "unexpected output of `flux jobs`: '" + answer + "'",
                  "the state, start and end of job " + id_, "try the command by hand, in a job");
    }
    JobState state;
    state.start = time_of(start);
    state.end = time_of(end);
    // After `flux cancel` a job stays in CLEANUP until its processes have ended.
    state.is_ending = name != "RUN";
    return state;
  }

  QueuedAgain queue_again(const std::string& bad_host) override {
    try {
      return submit_copy(bad_host);
    } catch (const JsonError& error) {
      fail(error.what());
    } catch (const Json::exception& error) {
      fail(error.what());
    }
  }

 private:
  std::vector<std::string> flux(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"flux"};
    if (is_instance_) all.emplace_back("--parent");
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(ErrorCode::backend_unavailable, "the jobspec of job " + id_ + ": " + reason,
                "the output of `flux job info " + id_ + " jobspec` in a job",
                "submit the job again by hand");
  }

  // Includes changes since the submission, such as a new duration; Flux omits the environment
  // there.
  Json jobspec() const {
    Json current = parse_json(answer_of(s_, flux({"job", "info", id_, "jobspec"})));
    Json& system = current.at("attributes").at("system");
    if (!system.contains("environment")) {
      const Json original =
          parse_json(answer_of(s_, flux({"job", "info", "--original", id_, "jobspec"})));
      system["environment"] = original.at("attributes").at("system").at("environment");
    }
    const Json::json_pointer pty("/attributes/system/shell/options/pty/interactive");
    if (current.contains(pty)) {
      throw Error(ErrorCode::backend_unavailable, "job " + id_ + " is interactive (flux alloc)",
                  "a job of `flux batch`, which can be queued again", "start it again by hand");
    }
    system.erase("dependencies");  // they were fulfilled when the job started
    return current;
  }

  std::string submit(const Json& jobspec) const {
    // A warning may precede the job id.
    std::istringstream answer(answer_of(s_, flux({"job", "submit"}), json_text(jobspec).str()));
    std::string word;
    std::string id;
    while (answer >> word) id = word;
    return id;
  }

  // Flux accepts a job that no set of hosts satisfies, and its scheduler ends it a moment later.
  bool is_refused(const std::string& id) const {
    return s_.run_command(flux({"job", "wait-event", "-t", "2", id, "exception"}), "").is_ok();
  }

  QueuedAgain submit_copy(const std::string& bad_host) const {
    const Json whole = jobspec();
    QueuedAgain result;
    if (!bad_host.empty()) {
      Json without = whole;
      leave_out(without, bad_host);
      try {
        result.job_id = submit(without);
        if (is_refused(result.job_id)) result.job_id.clear();
      } catch (const NoAnswer&) {
        throw;  // it may be queued
      } catch (const Error&) {
        result.job_id.clear();
      }
      if (result.job_id.empty()) {
        result.note =
            "Flux cannot run the job without " + bad_host + ", so that host is not excluded";
      }
    }
    if (result.job_id.empty()) result.job_id = submit(whole);
    result.how = "flux job submit, as " + result.job_id;
    if (!bad_host.empty() && result.note.empty()) result.how += ", without " + bad_host;
    return result;
  }

  const Surroundings& s_;
  std::string id_;
  bool is_instance_;
};

}  // namespace

std::unique_ptr<SchedulerJob> flux_job(const Surroundings& s) {
  if (const auto id = s.env.text("FLUX_ENCLOSING_ID"))
    return std::make_unique<FluxJob>(s, std::string(*id), true);
  if (const auto id = s.env.text("FLUX_JOB_ID"))
    return std::make_unique<FluxJob>(s, std::string(*id), false);
  return nullptr;
}

}  // namespace hpcboot::run
