#include "monitor/stragglers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hpcboot::monitor {
namespace {

constexpr double kSlower = 1.2;  // than the median
constexpr double kNotSlower = 1.1;
constexpr int kLooks = 2;  // one may be an accident
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
  const auto [place, is_first] = known_.try_emplace(row.rank);
  if (is_first) return {};
  Rank& rank = place->second;
  rank.own_seconds = *row.own_seconds;
  const bool all_known = std::all_of(known_.begin(), known_.end(),
                                     [](const auto& one) { return one.second.own_seconds > 0; });
  if (ranks_ < 2 || static_cast<int>(known_.size()) < ranks_ || !all_known) return {};
  const double middle = median();
  const bool contradicts =
      rank.is_named ? rank.own_seconds < kNotSlower * middle : rank.own_seconds > kSlower * middle;
  rank.looks = contradicts ? rank.looks + 1 : 0;
  if (rank.looks < kLooks) return {};
  rank.looks = 0;
  rank.is_named = !rank.is_named;
  if (!rank.is_named) return {fmt::format("rank {} on {} is no longer slow", row.rank, row.host)};
  return {
      fmt::format("rank {} on {} is slow: it computes for {:.1f} ms a step, the median of {} "
                  "ranks is {:.1f} ms",
                  row.rank, row.host, kMilli * rank.own_seconds, known_.size(), kMilli * middle)};
}

}  // namespace hpcboot::monitor
