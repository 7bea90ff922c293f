#include "profile/intervals.hpp"

#include <algorithm>

namespace hpcboot::profile {

Intervals::Intervals(std::vector<std::pair<std::int64_t, std::int64_t>> parts) {
  std::sort(parts.begin(), parts.end());
  for (const auto& [begin, end] : parts) {
    if (end <= begin) continue;
    if (!parts_.empty() && begin <= parts_.back().second) {
      parts_.back().second = std::max(parts_.back().second, end);
    } else {
      parts_.emplace_back(begin, end);
    }
  }
}

Intervals Intervals::united_with(const Intervals& other) const {
  auto all = parts_;
  all.insert(all.end(), other.parts_.begin(), other.parts_.end());
  return Intervals(std::move(all));
}

Intervals Intervals::within(const Intervals& other) const {
  Intervals result;
  auto theirs = other.parts_.begin();
  for (auto own = parts_.begin(); own != parts_.end() && theirs != other.parts_.end();) {
    const std::int64_t begin = std::max(own->first, theirs->first);
    const std::int64_t end = std::min(own->second, theirs->second);
    if (begin < end) result.parts_.emplace_back(begin, end);
    own->second < theirs->second ? static_cast<void>(++own) : static_cast<void>(++theirs);
  }
  return result;
}

Intervals Intervals::without(const Intervals& other) const {
  Intervals result;
  auto theirs = other.parts_.begin();
  for (auto [begin, end] : parts_) {
    while (theirs != other.parts_.end() && theirs->second <= begin) ++theirs;
    for (auto one = theirs; one != other.parts_.end() && one->first < end; ++one) {
      if (one->first > begin) result.parts_.emplace_back(begin, one->first);
      begin = std::max(begin, one->second);
    }
    if (begin < end) result.parts_.emplace_back(begin, end);
  }
  return result;
}

std::int64_t Intervals::length() const {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : parts_) sum += end - begin;
  return sum;
}

}  // namespace hpcboot::profile
