#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

// The grammar of one entry of a host list, shared by expand(), count() and first().
namespace hpcboot::hostlist {

struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::size_t width = 0;  // zero padding, from the first number as written

  std::uint64_t size() const { return high - low + 1; }
};

// text[0] set[0] text[1] set[1] … text[n]: one more text than sets.
struct Pattern {
  std::vector<std::string_view> texts;
  std::vector<std::vector<Range>> sets;
};

// Removes the next entry from the front of `rest`; false at the end of the list.
bool next_entry(std::string_view& rest, std::string_view& entry);

Pattern parse_entry(std::string_view entry);

}  // namespace hpcboot::hostlist
