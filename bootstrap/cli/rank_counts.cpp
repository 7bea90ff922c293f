#include "rank_counts.hpp"

#include <cstdint>
#include <sstream>

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

namespace {

constexpr std::int64_t kMost = 10'000'000;

}  // namespace

std::vector<int> rank_counts(const std::string& text) {
  std::vector<int> counts;
  std::istringstream in(text + ",");  // a last comma is followed by an empty word, which is wrong
  for (std::string word; std::getline(in, word, ',');) {
    const auto count = parse_whole_number(word);
    if (!count || *count < 1 || *count > kMost)
      throw options::UsageError("--ranks is '" + text + "'; expected numbers such as 1,2,4");
    counts.push_back(static_cast<int>(*count));
  }
  return counts;
}

std::optional<int> rank_count_of(const options::po::variables_map& values) {
  if (values.count("ranks") == 0) return std::nullopt;
  const auto& text = values["ranks"].as<std::string>();
  if (text.find(',') != std::string::npos)
    throw options::UsageError("several numbers of --ranks need --study");
  const auto count = parse_whole_number(text);
  if (!count || *count < 1 || *count > kMost) {
    throw options::UsageError("--ranks is '" + text + "'; expected a number from 1 to " +
                              std::to_string(kMost) + "; hpcboot run --help lists the options");
  }
  return static_cast<int>(*count);
}

}  // namespace hpcboot::tool
