#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace hpcboot {

// How many substitutions, insertions, deletions and swaps of adjacent letters turn one word into
// the other (optimal string alignment). If there are more than `most`, some number above `most`:
// words of very different lengths are not compared then.
inline std::size_t word_distance(std::string_view a, std::string_view b,
                                 std::size_t most = std::string_view::npos) {
  const std::size_t least = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  if (least > most) return least;
  std::vector<std::size_t> before(b.size() + 1);  // the second row above the current one
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::move(above);
    above = std::move(row);
  }
  return above.back();
}

}  // namespace hpcboot
