#include "report/warnings.hpp"

#include <fmt/format.h>

#include "text/html_format.hpp"

namespace hpcboot::report {
namespace {

constexpr std::size_t kMostLines = 10;

/// A warning, and the runs that it is about.
Encoded warning(const std::string& text, const std::vector<std::string>& runs) {
  if (runs.empty()) return {};
  Encoded items;
  for (std::size_t i = 0; i < std::min(runs.size(), kMostLines); ++i)
    items += html_format("<li>{}</li>\n", runs[i]);
  if (runs.size() > kMostLines)
    items += html_format("<li>and {} more</li>\n", runs.size() - kMostLines);
  return html_format("<p>{}</p>\n<ul>\n{}</ul>\n", text, items);
}

}  // namespace

Encoded warnings_section(const ReportData& data) {
  std::vector<std::string> busy;
  std::vector<std::string> superlinear;
  for (const record::RuntimeRow& row : data.rows) {
    if (!row.busy_hosts.empty())
      busy.push_back(fmt::format("{}: {}", row.run, fmt::join(row.busy_hosts, ", ")));
    if (row.is_superlinear())
      superlinear.push_back(fmt::format("{}: {:.0f}%", row.run, 100 * *row.efficiency));
  }
  return warning("Other programs kept hosts busy (*); do not compare the runtimes of these runs.",
                 busy) +
         warning(
             "Efficiency above 100% by more than noise explains (†): the single-device run was "
             "slower "
             "than it should be, for example on a busy host.",
             superlinear) +
         warning("Resumed; their runtime is the sum over all starts, without lost work.",
                 data.resumed) +
         warning("Not finished; left out of the table and of the plots of runtimes.",
                 data.unfinished) +
         warning("Left out, because they cannot be read.", data.skipped);
}

}  // namespace hpcboot::report
