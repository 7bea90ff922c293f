#include <algorithm>
#include <array>
#include <string_view>

#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "scheduler_job.hpp"
#include "slurm_sbatch.hpp"
#include "slurm_squeue.hpp"

namespace hpcboot::run {
namespace {

// For a heterogeneous job, the leader's number.
std::string number_in(const Env& env) {
  const auto leader = env.text("SLURM_HET_JOB_ID");
  return std::string(leader ? *leader : env.text("SLURM_JOB_ID").value_or(""));
}

std::optional<WallTime> wall_time_in(const std::string& text) {
  const auto number = parse_whole_number(text);
  return number ? wall_time_of(*number) : std::nullopt;
}

// As soon as Slurm has requeued the job, it ends the job's processes, including this shell. Hosts
// are excluded afterwards, as Slurm accepts that only for a pending job. Exit code 2: requeued, but
// the hosts are not excluded.
constexpr const char* kRequeue =
    "trap '' TERM; scontrol requeue \"$1\" || exit 1; "
    "[ -z \"$2\" ] || scontrol update \"JobId=$1\" \"ExcNodeList=$2\" || exit 2";

class SlurmJob : public SchedulerJob {
 public:
  explicit SlurmJob(const Surroundings& s) : s_(s), number_(number_in(s.env)) {}

  std::string id() const override {
    try {
      return sure_id();
    } catch (const Error&) {
      return number_;
    }
  }

  JobState state() const override {
    const auto words =
        squeue_words(s_, sure_id(), {"StartTime", "EndTime", "State", "PreemptTime"});
    JobState state;
    state.start = wall_time_in(words[0]);
    state.end = wall_time_in(words[1]);
    constexpr std::array<std::string_view, 6> kGoesOn = {"RUNNING",     "SUSPENDED", "STOPPED",
                                                         "CONFIGURING", "RESIZING",  "SIGNALING"};
    state.is_ending = std::find(kGoesOn.begin(), kGoesOn.end(), words[2]) == kGoesOn.end();
    // With the partition's GraceTime. The time may be that of an earlier attempt.
    const auto preempted = wall_time_in(words[3]);
    state.is_preempted = !state.is_ending && preempted && preempted >= state.start;
    return state;
  }

  QueuedAgain queue_again(const std::string& bad_host) override {
    QueuedAgain queued;
    sure_id();
    std::string excluded;
    if (!bad_host.empty()) {
      excluded = to_exclude(bad_host, queued.note);
      // That takes time, and Slurm would requeue a job that was cancelled meanwhile.
      require_running();
    }
    if (!bad_host.empty() && s_.env.has("SLURM_JOB_GPUS")) {
      submit(excluded, forgets_devices(), queued);
      return queued;
    }
    try {
      requeue(excluded, queued.note);
    } catch (const NoAnswer&) {
      throw;  // it may be queued already
    } catch (const Error& refusal) {
      const JobState now = state();
      if (now.is_ending || now.is_preempted) throw;  // Slurm may queue it again
      submit(excluded, refusal, queued);
      return queued;
    }
    queued.how = "scontrol requeue " + id_;
    queued.job_id = id_;
    return queued;
  }

 private:
  // Observed with Slurm 22.05: a job that is requeued before Slurm has marked the dead host as down
  // starts without GPUs, and its srun reports "Invalid generic resource (gres) specification".
  static Error forgets_devices() {
    return {ErrorCode::backend_unavailable,
            "Slurm would start the job without GPUs if it were queued again in place", "", ""};
  }

  void require_running() const {
    if (!state().is_ending) return;
    throw Error(ErrorCode::backend_unavailable, "Slurm is ending job " + id_,
                "a running job, which can be queued again", "check its state with squeue");
  }

  // "12"; "12_3" for a task of an array. A job that was submitted by an array task inherits its
  // SLURM_ARRAY_* variables but is not a task itself. Must not be called by two threads before it
  // has returned once.
  const std::string& sure_id() const {
    if (id_.empty()) id_ = s_.env.has("SLURM_ARRAY_TASK_ID") ? squeue_id(s_, number_) : number_;
    return id_;
  }

  // A job with --no-requeue, or on a site with JobRequeue=0, must be made requeueable first; its
  // user may do that.
  void requeue(const std::string& excluded, std::string& note) const {
    try {
      requeue_once(excluded, note);
    } catch (const NoAnswer&) {
      throw;
    } catch (const Error&) {
      const auto allowed = s_.run_command({"scontrol", "update", "JobId=" + id_, "Requeue=1"}, "");
      if (!allowed.is_ok()) throw;
      requeue_once(excluded, note);
    }
  }

  void requeue_once(const std::string& excluded, std::string& note) const {
    const CommandResult result = s_.run_command({"sh", "-c", kRequeue, "sh", id_, excluded}, "");
    if (result.exit_code == 2) {
      note = "ExcNodeList=" + excluded + " was refused: " + result.output;
      note.erase(note.find_last_not_of('\n') + 1);
    } else if (!result.is_ok() || result.is_late) {
      fail("scontrol requeue " + id_, result);
    }
  }

  // The hosts that the job already excludes, and this one. Empty: the job could never start without
  // this host.
  std::string to_exclude(const std::string& bad_host, std::string& note) const {
    std::string reason;
    try {
      const std::string known = squeue_columns(s_, id_, "x").front();
      const std::string excluded = known.empty() ? bad_host : known + "," + bad_host;
      reason = reason_against_exclusion(s_, sbatch_options(s_, id_), excluded);
      if (reason.empty()) return excluded;
    } catch (const Error& error) {
      reason = error.found();
    }
    note = bad_host + " is not excluded: " + reason;
    return "";
  }

  void submit(const std::string& excluded, const Error& refusal, QueuedAgain& queued) const {
    try {
      auto options = sbatch_options(s_, id_);
      if (!excluded.empty()) options.push_back("--exclude=" + excluded);
      queued.job_id = submit_again(s_, id_, options);
    } catch (const Error& error) {
      throw Error(ErrorCode::backend_unavailable, refusal.found() + "; " + error.found(),
                  "a job that can be queued again, by scontrol or sbatch",
                  "submit it again by hand; it continues from its last checkpoint");
    }
    queued.how = "sbatch, as " + queued.job_id;
    if (const std::string task = task_of(id_); !task.empty()) queued.job_id += "_" + task;
    queued.note += (queued.note.empty() ? "" : "; ") +
                   std::string(
                       "sbatch options such as --signal and --mail-user are kept only if "
                       "they are in the script");
  }

  const Surroundings& s_;
  std::string number_;
  mutable std::string id_;  // empty: not yet known
};

}  // namespace

std::unique_ptr<SchedulerJob> slurm_job(const Surroundings& s) {
  if (!s.env.has("SLURM_JOB_ID")) return nullptr;
  // A job of another scheduler may run inside one of Slurm, which must not be requeued with it.
  if (s.allocation && s.allocation->scheduler != "slurm") return nullptr;
  return std::make_unique<SlurmJob>(s);
}

}  // namespace hpcboot::run
