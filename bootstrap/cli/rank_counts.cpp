#include "rank_counts.hpp"

#include <cstdint>
#include <sstream>

#include "hpcboot/env.hpp"

namespace hpcboot::tool {

std::vector<int> rank_counts(const std::string& text) {
  constexpr std::int64_t kMost = 10'000'000;
  std::vector<int> counts;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    const auto count = parse_whole_number(word);
    if (!count || *count < 1 || *count > kMost)
      throw options::UsageError("--ranks is '" + text + "'; expected numbers such as 1,2,4");
    counts.push_back(static_cast<int>(*count));
  }
  if (counts.empty() || text.back() == ',')
    throw options::UsageError("--ranks is '" + text + "'; expected numbers such as 1,2,4");
  return counts;
}

std::optional<int> rank_count_of(const options::po::variables_map& values) {
  if (values.count("ranks") == 0) return std::nullopt;
  const std::vector<int> counts = rank_counts(values["ranks"].as<std::string>());
  if (counts.size() == 1) return counts.front();
  throw options::UsageError("several numbers of --ranks need --study");
}

}  // namespace hpcboot::tool
