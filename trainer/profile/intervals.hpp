#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace hpcboot::profile {

/// A set of points in time: disjoint intervals [begin, end), in order. Nanoseconds.
class Intervals {
 public:
  Intervals() = default;
  /// Their union. @param parts in any order; empty ones are left out
  explicit Intervals(std::vector<std::pair<std::int64_t, std::int64_t>> parts);

  Intervals united_with(const Intervals& other) const;
  Intervals without(const Intervals& other) const;
  Intervals within(const Intervals& other) const;

  std::int64_t length() const;  ///< of all together
  const std::vector<std::pair<std::int64_t, std::int64_t>>& parts() const { return parts_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> parts_;
};

}  // namespace hpcboot::profile
