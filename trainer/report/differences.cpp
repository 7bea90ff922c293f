#include "report/differences.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "record/run_settings.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"
#include "text/html_table.hpp"

namespace hpcboot::report {
namespace {

using Settings = std::map<std::string, std::string>;

std::string value_of(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? record::kUnknownSetting : found->second;
}

/// The value that most runs have; empty if no two have the same.
std::string most_common(const std::vector<Settings>& runs, const std::string& name) {
  std::map<std::string, std::size_t> counts;
  for (const Settings& run : runs) ++counts[value_of(run, name)];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second > 1 ? most->first : "";
}

struct Compared {
  std::vector<std::string> differing;
  std::vector<std::string> equal;
};

Compared compared(const std::vector<Settings>& runs) {
  std::set<std::string> names;
  for (const Settings& run : runs) {
    for (const auto& [name, value] : run) names.insert(name);
  }
  Compared result;
  for (const std::string& name : names) {
    const bool is_equal = std::all_of(runs.begin(), runs.end(), [&](const Settings& run) {
      return value_of(run, name) == value_of(runs.front(), name);
    });
    (is_equal ? result.equal : result.differing).push_back(name);
  }
  return result;
}

HtmlTable differences_table(const ReportData& data, const std::vector<Settings>& runs,
                            const std::vector<std::string>& names) {
  std::vector<HtmlTable::Column> columns{{"Run"}};
  std::vector<std::string> common;
  for (const std::string& name : names) {
    columns.push_back({name});
    common.push_back(most_common(runs, name));
  }
  HtmlTable table(columns);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<HtmlTable::Cell> cells{
        html_format("<a href=\"#run-{}\">{}</a>", i + 1, data.newest[i].record.run)};
    for (std::size_t n = 0; n < names.size(); ++n) {
      const std::string value = value_of(runs[i], names[n]);
      if (common[n].empty() || value == common[n]) {
        cells.emplace_back(value);
      } else {
        cells.emplace_back(html_format("<mark>{}</mark>", value));
      }
    }
    table.add(cells);
  }
  return table;
}

}  // namespace

Encoded differences_section(const ReportData& data) {
  if (data.newest.size() < 2) return {};
  std::vector<Settings> runs;
  for (const DetailedRun& run : data.newest) runs.push_back(record::run_settings(run.record));
  const Compared settings = compared(runs);
  Encoded section = html_format(
      "<p>Settings in which the {} newest runs differ; values other than the most common one are "
      "marked.</p>\n",
      runs.size());
  if (settings.differing.empty()) {
    section += "<p>None.</p>\n";
  } else {
    section += wide("Differences in configuration",
                    differences_table(data, runs, settings.differing).html());
  }
  Encoded equal;
  for (const std::string& name : settings.equal)
    equal += html_format("<dt>{}</dt><dd>{}</dd>\n", name, value_of(runs.front(), name));
  return section + "<details><summary>Equal in all of them</summary>\n<dl>\n" + equal +
         "</dl></details>\n";
}

}  // namespace hpcboot::report
