#pragma once

#include <map>
#include <string>
#include <vector>

#include "monitor/monitor_row.hpp"

namespace hpcboot::monitor {

/// Names the ranks that hold up the others. All ranks of DDP step together, so a slow one is
/// recognised by the time that it computes: that of its steps without the wait for other ranks.
class Stragglers {
 public:
  /// @param ranks how many there are
  explicit Stragglers(int ranks) : ranks_(ranks) {}

  /// Takes a row of any rank. @return lines for the log: a rank that has been slower than the
  /// median by a fifth for two looks in a row, and one that no longer is. Of an even number of
  /// ranks, the median is the lower of the two in the middle, so that of two ranks the slower one
  /// can be named.
  std::vector<std::string> add(const MonitorRow& row);

  /// Whether a rank has been named, and not been reported as no longer slow.
  bool is_slow(int rank) const {
    const auto known = known_.find(rank);
    return known != known_.end() && known->second.is_named;
  }

 private:
  struct Rank {
    double own_seconds = 0;  ///< 0: only its first look is known
    bool is_named = false;
    int looks = 0;  ///< in a row that contradict is_named
  };

  double median() const;

  int ranks_;
  std::map<int, Rank> known_;
};

}  // namespace hpcboot::monitor
