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

// Of a heterogeneous job its leader's.
std::string number_in(const Env& env) {
  const auto leader = env.text("SLURM_HET_JOB_ID");
  return std::string(leader ? *leader : env.text("SLURM_JOB_ID").value_or(""));
}

std::optional<WallTime> time_in(const std::string& text) {
  const auto seconds = parse_whole_number(text);
  return seconds ? wall_time_of(*seconds) : std::nullopt;
}

// As soon as Slurm has queued the job again it tells the job's processes to end, this shell among
// them, which leaves hosts out afterwards: Slurm takes that from a job that waits alone. Exit code
// 2: queued again, but with these hosts.
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
    state.start = time_in(words[0]);
    state.end = time_in(words[1]);
    constexpr std::array<std::string_view, 6> kGoesOn = {"RUNNING",     "SUSPENDED", "STOPPED",
                                                         "CONFIGURING", "RESIZING",  "SIGNALING"};
    state.is_ending = std::find(kGoesOn.begin(), kGoesOn.end(), words[2]) == kGoesOn.end();
    // With the partition's GraceTime. An earlier attempt may have been preempted, too.
    const auto preempted = time_in(words[3]);
    state.is_preempted = !state.is_ending && preempted && preempted >= state.start;
    return state;
  }

  QueuedAgain queue_again(const std::string& bad_host) override {
    QueuedAgain queued;
    sure_id();
    std::string excluded;
    if (!bad_host.empty()) {
      excluded = to_exclude(bad_host, queued.note);
      // That takes its time. Slurm queues also what somebody has cancelled meanwhile.
      require_running();
    }
    if (!bad_host.empty() && s_.env.has("SLURM_JOB_GPUS")) {
      submit(excluded, forgets_devices(), queued);
      return queued;
    }
    try {
      requeue(excluded, queued.note);
    } catch (const NoAnswer&) {
      throw;  // it may be queued
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
  // Seen with Slurm 22.05: a job that is queued again before the host that died is down to Slurm
  // starts without GPUs, and its srun says "Invalid generic resource (gres) specification".
  static Error forgets_devices() {
    return {ErrorCode::backend_unavailable,
            "Slurm would start the job without GPUs if it was queued again in place", "", ""};
  }

  void require_running() const {
    if (!state().is_ending) return;
    throw Error(ErrorCode::backend_unavailable, "Slurm is ending job " + id_,
                "a job that runs, to be queued again", "see with squeue what becomes of it");
  }

  // "12"; "12_3", a task of an array. What a task of an array submits inherits the variables that
  // say so, and is no such task. Not to be called by two threads before it has returned once.
  const std::string& sure_id() const {
    if (id_.empty()) id_ = s_.env.has("SLURM_ARRAY_TASK_ID") ? squeue_id(s_, number_) : number_;
    return id_;
  }

  // A job of --no-requeue, or of a site with JobRequeue=0, has to be allowed it first; its user
  // may.
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

  // The hosts that the job leaves out, and this one. Empty: it would wait for ever without it.
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
    note = bad_host + " is not left out: " + reason;
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
                  "submit it again by hand; it goes on from its last checkpoint");
    }
    queued.how = "sbatch, as " + queued.job_id;
    if (const std::string task = task_of(id_); !task.empty()) queued.job_id += "_" + task;
    queued.note += (queued.note.empty() ? "" : "; ") +
                   std::string(
                       "options of sbatch such as --signal and --mail-user are kept from "
                       "the script alone");
  }

  const Surroundings& s_;
  std::string number_;
  mutable std::string id_;  // empty: not known yet
};

}  // namespace

std::unique_ptr<SchedulerJob> slurm_job(const Surroundings& s) {
  if (!s.env.has("SLURM_JOB_ID")) return nullptr;
  // A job of another scheduler may be within one of Slurm's, which is not to go with it.
  if (s.allocation && s.allocation->scheduler != "slurm") return nullptr;
  return std::make_unique<SlurmJob>(s);
}

}  // namespace hpcboot::run
