#include "launcher_end.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "hpcboot/error.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/graces.hpp"

namespace hpcboot::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Reports are sent before the launcher ends; the listening thread may lag a little.
constexpr milliseconds kTimeForReport{500};
constexpr seconds kTimeToAnswer{3};  // for a host that may have died

// After the launcher was killed its daemons may continue as if nothing had happened.
void end_orphans(Control& control) {
  control.send(SIGTERM);
  if (control.await_ranks(kGraceToEnd)) return;
  control.send(SIGKILL);
  control.await_ranks(kTimeForReport);
}

std::optional<RankEnd> first_failure(const Control& control, bool is_expected) {
  auto first = control.first_failure();
  const auto end = Clock::now() + kTimeForReport;
  while (!first && is_expected && Clock::now() < end) {
    PollSet set;
    set.add(control.fd(), POLLIN);
    set.wait(end);
    first = control.first_failure();
  }
  return first;
}

// The host that died, if any: the launcher reports only its exit code. It has ended the ranks of
// the other hosts, whose parents still report that.
std::string lost_host(const Control& control) {
  const auto end = Clock::now() + kGraceToEnd;
  while (true) {
    const auto words = control.words_of_hosts();
    const auto is_ending = [](const HostWords& host) {
      return host.ended > 0 && host.ended < host.begun;
    };
    if (std::none_of(words.begin(), words.end(), is_ending) || Clock::now() >= end) {
      const auto dead = dead_hosts(silent_hosts(words), kTimeToAnswer);
      return dead.empty() ? "" : dead.front();
    }
    std::this_thread::sleep_for(kTimeForReport / 10);
  }
}

int exit_code_of(const Control& control, const ChildEnd& end, const std::optional<RankEnd>& first,
                 const RunEnd& result) {
  if (first) return first->exit_code;
  if (!result.lost_host.empty()) return static_cast<int>(ErrorCode::peer_lost);
  if (result.asked_by == 0) return end.exit_code;
  if (const auto told = control.first_end_when_told()) return told->exit_code;
  // A launcher that was told to end before any rank started has an arbitrary exit code.
  return end.signal != 0 || !control.has_ranks() ? 128 + result.asked_by : end.exit_code;
}

// Prints the final message.
void tell_end(const Plan& plan, const ChildEnd& end, const std::optional<RankEnd>& first,
              const RunEnd& result, Terminal& err) {
  if (!result.lost_host.empty()) {
    err << "hpcboot run: host " << result.lost_host
        << " was lost: it does not answer, and its ranks did not report how they ended\n";
  }
  if (first) {
    print_first_failure(err, *first, plan.layout.world_size());
  } else if (result.asked_by != 0 || !result.lost_host.empty()) {
    return;
  } else if (end.signal != 0) {
    err << "hpcboot run: " << name_of(plan.launcher) << " was terminated by signal " << end.signal
        << " (" << strsignal(end.signal) << "), and its ranks with it\n";
  } else if (end.exit_code != 0) {
    err << "hpcboot run: " << name_of(plan.launcher) << " ended with exit code " << end.exit_code
        << "; no rank reported a failure\n";
  }
}

}  // namespace

RunEnd end_of_launcher(const Plan& plan, Control& control, const ChildEnd& end, RunEnd heard,
                       const SilenceOfRanks& silence, Terminal& err) {
  RunEnd result = std::move(heard);
  const auto first = first_failure(control, end.exit_code != 0);
  if (end.signal != 0) end_orphans(control);
  silence.throw_if_come();
  if (end.exit_code != 0 && result.asked_by == 0) result.lost_host = lost_host(control);
  result.exit_code = exit_code_of(control, end, first, result);
  tell_end(plan, end, first, result, err);
  return result;
}

}  // namespace hpcboot::run
