#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "pbs_submission.hpp"
#include "scheduler_job.hpp"

namespace hpcboot::run {
namespace {

// OpenPBS behaviour was observed with 23.06; Torque behaviour is taken from the source of 6.1.
class PbsJob : public SchedulerJob {
 public:
  explicit PbsJob(const Surroundings& s) : s_(s), id_(s.env.text("PBS_JOBID").value_or("")) {}

  std::string id() const override { return id_; }

  JobState state() const override { return status().state(std::chrono::system_clock::now()); }

  QueuedAgain queue_again(const std::string& bad_host) override {
    QueuedAgain again;
    const PbsStatus found = status();
    if (found.state(std::chrono::system_clock::now()).is_ending) {
      throw Error(ErrorCode::backend_unavailable, "PBS is ending job " + id_,
                  "a running job, which can be queued again", "check its state with qstat");
    }
    if (!rerun(found)) {
      again = submit(found);
    } else {
      again.how = "qrerun " + id_;
      again.job_id = id_;
    }
    if (!bad_host.empty()) {
      again.note += (again.note.empty() ? "" : "; ") + bad_host +
                    " is not excluded: PBS has no option for that";
    }
    return again;
  }

 private:
  PbsStatus status() const {
    PbsStatus status(answer_of(s_, {"qstat", "-f", id_}));
    if (!status.text("job_state").empty()) return status;
    throw Error(ErrorCode::backend_unavailable, "`qstat -f " + id_ + "` shows no job_state",
                "the job of this process", "try the command by hand, in a job");
  }

  // Allowed for operators, and for users if the site permits it. OpenPBS answers when the job has
  // ended, and to end it kills the job's processes including qrerun: a failure alone proves
  // nothing.
  bool rerun(const PbsStatus& found) const {
    if (found.is("Rerunable", "False")) return false;
    const CommandResult result = s_.run_command({"qrerun", id_}, "");
    if (result.is_ok() && !result.is_late) return true;
    if (status().is_rerun()) return true;
    if (!result.is_late && result.signal == 0) return false;
    throw NoAnswer(ErrorCode::backend_unavailable, "`qrerun " + id_ + "`: no answer in time",
                   "a definite answer: without one, no second job is submitted",
                   "check with qstat whether the job is queued again");
  }

  QueuedAgain submit(const PbsStatus& found) const {
    const PbsSubmission submission = pbs_submission(s_, id_, found);
    const CommandResult result = s_.run_command({"sh"}, submission.shell_script);
    std::string printed = result.output.substr(0, result.output.find_last_not_of(" \t\r\n") + 1);
    const std::string where = "qsub on " + s_.facts.hostname.value_or("this host") + ": ";
    if (result.is_late) {
      throw NoAnswer(ErrorCode::backend_unavailable, where + "no answer in time",
                     "an answer to the new submission of the job",
                     "check with qstat for a new job");
    }
    if (!result.is_ok()) {
      throw Error(ErrorCode::backend_unavailable,
                  where + "exit code " + std::to_string(result.exit_code) +
                      (printed.empty() ? "" : ": " + printed),
                  "a new submission of the job", "submit it by hand on a login node");
    }
    // Anything else that a site prints precedes it.
    const std::string job_id = printed.substr(printed.find_last_of('\n') + 1);
    return {"qsub, as " + job_id, job_id, std::nullopt, submission.note};
  }

  const Surroundings& s_;
  std::string id_;
};

}  // namespace

std::unique_ptr<SchedulerJob> pbs_job(const Surroundings& s) {
  if (!s.allocation || s.allocation->scheduler != "pbs" || !s.env.has("PBS_JOBID")) return nullptr;
  return std::make_unique<PbsJob>(s);
}

}  // namespace hpcboot::run
