#include "monitor/stragglers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hpcboot::monitor {
namespace {

constexpr double kSlower = 1.2;  // than the median
constexpr int kLooks = 2;        // one may be an accident
constexpr double kMilli = 1e3;

}  // namespace

double Stragglers::median() const {
  std::vector<double> all;
  for (const auto& [number, rank] : known_) all.push_back(rank.own_seconds);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

std::vector<std::string> Stragglers::add(const MonitorRow& row) {
  if (!row.own_seconds) return {};
  Rank& rank = known_[row.rank];
  rank.host = row.host;
  rank.own_seconds = *row.own_seconds;
  if (known_.size() < 2 || static_cast<int>(known_.size()) < ranks_) return {};
  const double middle = median();
  const bool is_slow = rank.own_seconds > kSlower * middle;
  rank.slow_looks = is_slow ? rank.slow_looks + 1 : 0;
  if (is_slow == rank.is_named || (is_slow && rank.slow_looks < kLooks)) return {};
  rank.is_named = is_slow;
  if (!is_slow) return {fmt::format("rank {} on {} is no longer slow", row.rank, row.host)};
  return {
      fmt::format("rank {} on {} is slow: it computes for {:.1f} ms a step, the median of {} "
                  "ranks is {:.1f} ms",
                  row.rank, row.host, kMilli * rank.own_seconds, known_.size(), kMilli * middle)};
}

}  // namespace hpcboot::monitor
