#include "report/page.hpp"

#include <cstring>

#include "core/counted.hpp"
#include "record/html_table.hpp"
#include "record/runtime_columns.hpp"
#include "report/differences.hpp"
#include "report/figures.hpp"
#include "report/page_assets.hpp"
#include "report/published_section.hpp"
#include "report/run_details.hpp"
#include "report/warnings.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"

namespace hpcboot::report {
namespace {

/// Browsers load nothing from outside, and run no script but the page's own.
Encoded head_of(const std::string& title) {
  return html_format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      page_script_hash(), title, page_style());
}

Encoded table_section(const ReportData& data) {
  if (data.rows.empty()) return "<p>There is no finished run.</p>\n";
  Encoded notes;
  for (const std::string& note : record::footnotes(data.rows))
    notes += html_format("<p class=\"quiet\">{}</p>\n", note);
  return "<p id=\"controls\" hidden><label>Filter: <input id=\"filter\" type=\"search\" "
         "placeholder=\"ddp resnet50\"></label> <span id=\"count\" "
         "aria-live=\"polite\"></span></p>\n" +
         wide("Runtimes", record::html_table(data.rows,
                                             [&](const record::RuntimeRow& row) {
                                               return details_id(data, row);
                                             })) +
         notes +
         "<p class=\"quiet\">Speed-up: the runtime of the single-device run of the same work, "
         "divided by the run’s own. Efficiency: speed-up / number of devices.</p>\n";
}

}  // namespace

Encoded page(const ReportData& data, const PageOptions& options) {
  const auto number = static_cast<std::int64_t>(data.rows.size());
  const std::string title = "Report of " + counted(number, "finished run");
  Encoded text = head_of(title);
  text += html_format("<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n", title,
                      data.finished.empty() ? "" : plots::source_of(data.finished));
  struct Section {
    const char* id = nullptr;
    const char* name = nullptr;
    Encoded text;
  };
  const Section sections[] = {
      {"warnings", "Warnings", warnings_section(data)},
      {"table", "Runtimes", table_section(data)},
      {"plots", "Plots", options.has_plots ? figures_section(data) : Encoded()},
      {"published", "Published figures",
       options.has_published ? published_section(data, options.has_plots) : Encoded()},
      {"differences", "Differences in configuration", differences_section(data)},
      {"runs", "Runs", details_section(data)}};
  Encoded links;
  Encoded parts;
  for (const Section& section : sections) {
    if (section.text.empty()) continue;
    links += html_format("<a href=\"#{}\">{}</a> ", section.id, section.name);
    parts += html_format("<section id=\"{0}\" class=\"{0}\">\n<h2>{1}</h2>\n{2}</section>\n",
                         section.id, section.name, section.text);
  }
  text += html_format("<nav>{}</nav>\n{}", links, parts);
  return text + html_format(
                    "<footer>Made by runtable of hpcboot {}.</footer>\n<script>{}</script>\n"
                    "</body>\n</html>\n",
                    HPCBOOT_VERSION, page_script());
}

}  // namespace hpcboot::report
