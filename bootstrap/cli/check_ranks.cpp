#include "check_ranks.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "hpcboot/error.hpp"
#include "rendezvous/store/store_kvs.hpp"

// Each rank appends its report, one line, to the key of its rank number: if two processes have the
// same number, both reports are seen.
namespace hpcboot::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kVerdict = "verdict";
constexpr const char* kWrong = "wrong";
constexpr const char* kOk = "ok";
constexpr const char* kOkAndThen = "ok, and then";  // rank 0 decides for all

std::string key_of(int rank) {
  return "report/" + std::to_string(rank);
}

void take(const std::string& lines, std::vector<RankReport>& reports) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (auto report = parse_report(line)) reports.push_back(std::move(*report));
  }
}

// The reports that have arrived once all are there, or when the time is up.
std::vector<std::string> await_lines(rendezvous::Client& client, int world_size, Deadline end) {
  std::vector<std::string> keys;
  for (int rank = 1; rank < world_size; ++rank) keys.push_back(key_of(rank));
  std::vector<std::string> values;
  std::vector<std::string> missing;
  if (client.get(keys, end, values, missing)) return values;
  values.clear();
  for (const std::string& key : keys) {
    if (!client.check({key})) continue;
    std::vector<std::string> one;
    client.get({key}, Clock::now(), one, missing);
    values.insert(values.end(), one.begin(), one.end());
  }
  return values;
}

}  // namespace

double measure_round_trip(rendezvous::Client& client) {
  // The first includes waking up both sides; the minimum is the network's own.
  constexpr int kQuestions = 5;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kQuestions; ++i) {
    const auto begin = Clock::now();
    client.check({kVerdict});
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return best;
}

bool gather_reports(rendezvous::Client& client, const RankReport& own, Deadline end,
                    const std::function<bool(const std::vector<RankReport>&)>& judge,
                    const std::function<void(const std::vector<RankReport>&)>& then) {
  std::vector<RankReport> reports = {own};
  for (const std::string& lines : await_lines(client, own.resolution.placement.world_size, end))
    take(lines, reports);
  std::stable_sort(reports.begin(), reports.end(), [](const RankReport& a, const RankReport& b) {
    return a.resolution.placement.rank < b.resolution.placement.rank;
  });
  const bool ok = judge(reports);
  client.set(kVerdict, !ok ? kWrong : then ? kOkAndThen : kOk);
  if (ok && then) then(reports);
  rendezvous::leave_together(client, true, static_cast<int>(reports.size()) - 1);
  return ok;
}

bool report_to_rank0(rendezvous::Client& client, const RankReport& own, Deadline end,
                     const std::function<void()>& then) {
  client.append(key_of(own.resolution.placement.rank), to_line(own) + "\n");
  // Rank 0 waits for others until its deadline, and judges then.
  const auto patience = end + std::chrono::seconds(10);
  std::vector<std::string> verdict;
  std::vector<std::string> missing;
  if (client.get({kVerdict}, patience, verdict, missing)) {
    const bool goes_on = verdict.front() == kOkAndThen;
    const bool ok = goes_on || verdict.front() == kOk;
    if (!ok && verdict.front() != kWrong) {
      throw Error(ErrorCode::exchange_failed, "rank 0 sent something other than its verdict",
                  "the same version of hpcboot on every host",
                  "install the same version everywhere");
    }
    if (goes_on) then();
    rendezvous::leave_together(client, false, 0);
    return ok;
  }
  throw Error(ErrorCode::deadline_exceeded,
              "rank 0 at " + client.place().text() + " did not send its verdict to rank " +
                  std::to_string(own.resolution.placement.rank),
              "rank 0 to stay until the end of the check", "check the output of rank 0");
}

}  // namespace hpcboot::tool
