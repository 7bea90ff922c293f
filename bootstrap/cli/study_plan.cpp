#include "study_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include "core/median.hpp"
#include "rank_counts.hpp"

namespace hpcboot::tool {
namespace {

using options::UsageError;

// "{ranks}", "{6000*ranks}"
struct Placeholder {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string factor;  // empty in "{ranks}"
};

std::optional<Placeholder> next_placeholder(const std::string& word, std::size_t from) {
  constexpr std::string_view kEnd = "ranks}";
  for (auto begin = word.find('{', from); begin != std::string::npos;
       begin = word.find('{', begin + 1)) {
    std::size_t at = begin + 1;
    const std::size_t digits = word.find_first_not_of("0123456789", at);
    std::string factor;
    if (digits != std::string::npos && digits > at && word[digits] == '*') {
      factor = word.substr(at, digits - at);
      at = digits + 1;
    }
    if (word.compare(at, kEnd.size(), kEnd) == 0)
      return Placeholder{begin, at + kEnd.size(), std::move(factor)};
  }
  return std::nullopt;
}

bool has_placeholder(const std::vector<std::string>& program) {
  return std::any_of(program.begin(), program.end(),
                     [](const std::string& word) { return next_placeholder(word, 0).has_value(); });
}

std::string product(const std::string& factor, int ranks) {
  std::int64_t number = 1;
  if (!factor.empty()) {
    const auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), number);
    if (error != std::errc() || end != factor.data() + factor.size() ||
        number > std::numeric_limits<std::int64_t>::max() / ranks)
      throw UsageError("{" + factor + "*ranks} is too large");
  }
  return std::to_string(number * ranks);
}

}  // namespace

StudyPlan study_plan(const options::po::variables_map& values,
                     const std::vector<std::string>& program) {
  StudyPlan plan;
  plan.scaling = values["study"].as<std::string>() == "weak" ? Scaling::weak : Scaling::strong;
  if (values.count("ranks") == 0)
    throw UsageError("--study needs --ranks, such as --ranks 1,2,4,8");
  plan.ranks = rank_counts(values["ranks"].as<std::string>());
  std::sort(plan.ranks.begin(), plan.ranks.end());
  plan.ranks.erase(std::unique(plan.ranks.begin(), plan.ranks.end()), plan.ranks.end());
  plan.repeats = values["repeat"].as<int>();
  if (plan.repeats < 1) throw UsageError("--repeat must be at least 1");
  for (const char* option : {"ranks-per-node", "requeue"}) {
    if (values.count(option) != 0)
      throw UsageError("--study varies the number of ranks: omit --" + std::string(option));
  }
  if (plan.scaling == Scaling::weak && !has_placeholder(program)) {
    throw UsageError(
        "--study weak needs the work of a rank in PROGRAM's arguments, such as --limit-samples "
        "'{6000*ranks}'");
  }
  return plan;
}

std::vector<std::string> scaled_program(const std::vector<std::string>& program, int ranks) {
  std::vector<std::string> scaled;
  for (const std::string& word : program) {
    std::string text;
    std::size_t done = 0;
    while (const auto found = next_placeholder(word, done)) {
      text += word.substr(done, found->begin - done) + product(found->factor, ranks);
      done = found->end;
    }
    scaled.push_back(text + word.substr(done));
  }
  return scaled;
}

Encoded study_text(const StudyPlan& plan, const std::vector<StudyRun>& runs, const Look& look) {
  std::map<int, std::vector<double>> times;
  std::map<int, int> failures;
  for (const StudyRun& run : runs) {
    if (run.exit_code == 0) {
      times[run.ranks].push_back(run.seconds);
    } else {
      ++failures[run.ranks];
    }
  }
  TextTable table({Align::right, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::right, Align::right});
  table.add_titles(
      {"ranks", "runs", "failed", "median s", "min s", "max s", "speed-up", "efficiency"});
  const bool is_weak = plan.scaling == Scaling::weak;
  const double base = times.empty() ? 0 : median(times.begin()->second);
  const int fewest = times.empty() ? 1 : times.begin()->first;
  for (const int count : plan.ranks) {
    const std::vector<double>& own = times[count];
    std::vector<std::string> cells{std::to_string(count), std::to_string(own.size()),
                                   std::to_string(failures[count])};
    if (own.empty()) {
      cells.insert(cells.end(), 5, "-");
    } else {
      const double middle = median(own);
      // As much work for each rank is more work: equal times are the ideal.
      const double scale = static_cast<double>(count) / fewest;
      const double speedup = base / middle * (is_weak ? scale : 1);
      cells.push_back(fmt::format("{:.2f}", middle));
      cells.push_back(fmt::format("{:.2f}", *std::min_element(own.begin(), own.end())));
      cells.push_back(fmt::format("{:.2f}", *std::max_element(own.begin(), own.end())));
      cells.push_back(fmt::format("{:.2f}", speedup));
      cells.push_back(fmt::format("{:.0f}%", 100 * speedup / scale));
    }
    table.add(cells);
  }
  return table.text(look);
}

}  // namespace hpcboot::tool
