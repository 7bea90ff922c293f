#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace hpcboot {

// Is the value among them?
template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

inline bool contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace hpcboot
