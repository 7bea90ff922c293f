#include <algorithm>
#include <sstream>
#include <utility>

#include "hpcboot/error.hpp"
#include "job_command.hpp"
#include "scheduler_job.hpp"

// Follows IBM's documentation of bjobs(1) and brequeue(1); never tried on a cluster.
namespace hpcboot::run {
namespace {

using std::chrono::seconds;

// bjobs prints times as "37 second(s)", or with LSB_HMS_TIME_FORMAT as "00:00:37".
std::optional<seconds> run_time_of(const std::string& text) {
  std::istringstream stream(text);
  const auto is_long = [](long long time) { return time < 0 || time > kLongestWalltime.count(); };
  long long total = 0;
  if (!(stream >> total) || is_long(total)) return std::nullopt;
  for (char colon = 0; stream.peek() == ':';) {
    long long part = 0;
    if (!(stream >> colon >> part) || is_long(part)) return std::nullopt;
    total = total * 60 + part;
    if (is_long(total)) return std::nullopt;
  }
  return seconds(total);
}

// "1:05 L": hours and minutes until the run limit, rounded down to the minute. With E or X the time
// is an estimate that does not end the job.
std::optional<seconds> time_left_of(const std::string& text) {
  std::istringstream stream(text);
  std::string time;
  std::string kind;
  if (!(stream >> time >> kind) || kind != "L") return std::nullopt;
  const auto left = run_time_of(time);
  if (!left) return std::nullopt;
  const bool has_seconds = std::count(time.begin(), time.end(), ':') > 1;
  if (has_seconds) return left;
  return *left <= kLongestWalltime / 60 ? std::optional<seconds>(*left * 60) : std::nullopt;
}

class LsfJob : public SchedulerJob {
 public:
  LsfJob(const Surroundings& s, std::string id) : s_(s), id_(std::move(id)) {}

  std::string id() const override { return id_; }

  // Uses times that do not depend on the language, the year or the time zone, unlike start_time and
  // finish_time. LSF does not count suspended time, not even towards the limit. It does not report
  // that bkill was called: is_ending stays false.
  JobState state() const override {
    const std::string answer =
        answer_of(s_, {"bjobs", "-noheader", "-o", "run_time time_left delimiter='|'", id_});
    const auto now = std::chrono::system_clock::now();
    const std::size_t bar = answer.find('|');
    const auto run_time = run_time_of(answer.substr(0, bar));
    if (bar == std::string::npos || !run_time) {
      throw Error(ErrorCode::backend_unavailable,
                  "unexpected output of `bjobs -o run_time`: '" + answer + "'", "seconds",
                  "try the command by hand, in a job");
    }
    JobState state;
    state.start = now - *run_time;
    if (const auto left = time_left_of(answer.substr(bar + 1))) state.end = now + *left;
    return state;
  }

  // Works for any job of its owner, whether or not it was submitted as rerunnable. It kills what is
  // left of the job, including this process.
  QueuedAgain queue_again(const std::string& bad_host) override {
    answer_of(s_, {"brequeue", id_});
    QueuedAgain result;
    result.how = "brequeue " + id_;
    result.job_id = id_;
    if (!bad_host.empty())
      result.note =
          "LSF cannot exclude a host from a running job: it may get " + bad_host + " again";
    return result;
  }

 private:
  const Surroundings& s_;
  std::string id_;
};

}  // namespace

std::unique_ptr<SchedulerJob> lsf_job(const Surroundings& s) {
  if (!s.allocation || s.allocation->scheduler != "lsf") return nullptr;
  return std::make_unique<LsfJob>(s, s.allocation->job_id);
}

}  // namespace hpcboot::run
