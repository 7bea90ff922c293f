#include "hidden_colon.hpp"

#include <algorithm>

namespace hpcboot::run {
namespace {

// "{{:}}" with any number of brace pairs, including none.
bool is_colon_in_braces(const std::string& word) {
  const std::size_t colon = word.find(':');
  return colon != std::string::npos && word.size() == 2 * colon + 1 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) { return c == '{'; }) &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(colon) + 1, word.end(),
                     [](char c) { return c == '}'; });
}

}  // namespace

std::string hide_colon(const std::string& word) {
  return is_colon_in_braces(word) ? "{" + word + "}" : word;
}

std::string show_colon(const std::string& word) {
  return is_colon_in_braces(word) && word.size() > 1 ? word.substr(1, word.size() - 2) : word;
}

}  // namespace hpcboot::run
