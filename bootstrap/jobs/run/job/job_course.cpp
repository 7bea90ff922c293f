#include "job_course.hpp"

#include <csignal>
#include <utility>

#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "next_step.hpp"

namespace hpcboot::run {
namespace {

using std::chrono::seconds;

constexpr seconds kWarningForRequeue{120};  // enough for a checkpoint

seconds warning_of(const RunRequest& request) {
  return request.warn.value_or(request.requeue ? kWarningForRequeue : seconds(0));
}

std::optional<seconds> walltime_of(const JobState& state) {
  if (!state.start || !state.end) return std::nullopt;
  return std::chrono::duration_cast<seconds>(*state.end - *state.start);
}

// Schedulers warn too, perhaps after the ranks have ended because of this program's warning, and
// the reader of standard error may be gone. Neither must prevent the job from being queued again.
void outlive_warnings() {
  for (const int number : {SIGUSR1, SIGUSR2, SIGXCPU, SIGPIPE}) std::signal(number, SIG_IGN);
}

}  // namespace

JobCourse::JobCourse(const RunRequest& request, const Surroundings& s, Terminal& err)
    : request_(request), err_(err), attempts_(s.env) {
  if (!request.requeue && warning_of(request) == seconds(0)) return;
  job_ = job_of(s);
  if (job_) {
    start_clock();
    return;
  }
  // The same command line must also work on a laptop.
  if (request.requeue) err_ << "note: not in a scheduler's job: --requeue has no effect\n";
}

void JobCourse::start_clock() {
  const seconds warning = warning_of(request_);
  try {
    const auto end = end_to_warn_of(job_->state());
    if (end) {
      clock_ = std::make_unique<WalltimeClock>(end, warning, [this] { return job_->state().end; });
    } else if (walltime_) {
      err_ << "note: the walltime of " << walltime_->count()
           << " s is not longer than the warning time of " << warning.count()
           << " s: no warning is sent\n";
    }
  } catch (const Error& error) {
    err_ << "note: the end of the walltime is not known yet; the scheduler is asked again: "
         << error.found() << "\n";
    clock_ =
        std::make_unique<WalltimeClock>(std::nullopt, warning, [this, is_first = true]() mutable {
          const JobState state = job_->state();
          return std::exchange(is_first, false) ? end_to_warn_of(state) : state.end;
        });
  }
}

// @return nullopt: there is none, or the ranks would be warned as soon as they have started
std::optional<WallTime> JobCourse::end_to_warn_of(const JobState& first) {
  walltime_ = walltime_of(first);
  if (walltime_ && *walltime_ <= warning_of(request_)) return std::nullopt;
  return first.end;
}

int JobCourse::finish(const RunEnd& run) {
  const bool may_be_queued = request_.requeue && job_;
  if (may_be_queued) outlive_warnings();
  clock_.reset();  // may wait for an answer from the scheduler
  if (!may_be_queued) return run.exit_code;
  EndOfJob end;
  end.run = run;
  end.lasted = std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - start_);
  end.walltime = walltime_;
  end.warning = warning_of(request_);
  end.is_torchrun = request_.torchrun;
  end.attempts_in_vain = attempts_.in_vain(job_->id());
  end.retries = request_.retries;
  if (run.exit_code != 0) {
    try {
      const JobState state = job_->state();
      if (!end.walltime) end.walltime = walltime_of(state);
      end.is_ending = state.is_ending;
      end.is_preempted = state.is_preempted;
    } catch (const Error&) {
      // A scheduler that does not answer now may still accept the job.
    }
  }
  const NextStep next = next_step(end);
  if (next.is_queued_again) {
    err_ << "hpcboot run: " << next.reason << ": queueing the job again\n";
    return queue_again(run, next.attempts_in_vain);
  }
  if (!next.reason.empty()) err_ << "hpcboot run: " << next.reason << "\n";
  attempts_.forget(job_->id());
  return run.exit_code;
}

int JobCourse::queue_again(const RunEnd& run, int attempts_in_vain) {
  const std::string id = job_->id();
  if (attempts_in_vain == 0) {
    attempts_.forget(id);
  } else if (!attempts_.remember(id, attempts_in_vain)) {
    err_ << "hpcboot run: cannot count attempts in ~/.local/state/hpcboot: the job is not "
            "queued again\n";
    return run.exit_code;
  }
  // A scheduler that has accepted the job ends its processes, while more commands must still be
  // sent.
  std::signal(SIGTERM, SIG_IGN);
  try {
    const QueuedAgain queued = job_->queue_again(run.lost_host);
    err_ << "hpcboot run: queued again: " << queued.how << "\n";
    if (!queued.note.empty()) err_ << "note: " << queued.note << "\n";
    if (attempts_in_vain != 0 && queued.job_id != id) {
      attempts_.remember(queued.job_id, attempts_in_vain);
      attempts_.forget(id);
    }
    return queued.exit_code.value_or(run.exit_code);
  } catch (const NoAnswer& error) {
    err_ << terminal_lines(format_error("hpcboot run", error));
    err_ << "hpcboot run: cannot tell whether the job was queued again\n";
  } catch (const Error& error) {
    attempts_.forget(id);
    err_ << terminal_lines(format_error("hpcboot run", error));
    err_ << "hpcboot run: the job is not queued again\n";
  }
  return run.exit_code;
}

}  // namespace hpcboot::run
