#include "report/figures.hpp"

#include "hpcboot/error.hpp"
#include "plots/draw.hpp"
#include "plots/plots.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"
#include "text/percent_encode.hpp"

namespace hpcboot::report {
namespace {

std::vector<plots::RunData> runs_for(const plots::PlotKind& kind, const ReportData& data) {
  if (kind.runs == record::Runs::finished) return data.finished;
  if (data.monitored) return {*data.monitored};
  return {};
}

}  // namespace

Encoded figure(const plots::Plot& plot) {
  // Not base64, which is as long for text and cannot be read. What is kept ends neither the
  // attribute nor the data.
  const std::string picture = "data:image/svg+xml;charset=utf-8," +
                              percent_encoded(plots::drawn_svg(plot), " !$()*+,/:;=@");
  const std::string text = plot.title + ". " + plot.source;
  return wide(plot.title, html_format("<img alt=\"{}\" src=\"{}\">\n", text, picture));
}

Encoded figures_section(const ReportData& data) {
  Encoded drawn;
  Encoded missing;
  for (const plots::PlotKind& kind : plots::plot_kinds()) {
    const std::vector<plots::RunData> runs = runs_for(kind, data);
    if (runs.empty()) continue;
    plots::Plot plot;
    try {
      plot = kind.make(runs);
    } catch (const plots::NothingToPlot& problem) {
      missing += html_format("<li>{}: {}</li>\n", kind.name, problem.what());
      continue;
    } catch (const Error& problem) {  // a damaged monitor.csv is not in the way of the others
      missing += html_format("<li>{}: {}</li>\n", kind.name, problem.found());
      continue;
    }
    drawn += figure(plot);
  }
  if (!missing.empty())
    drawn +=
        "<details><summary>Plots without data</summary>\n<ul>\n" + missing + "</ul></details>\n";
  return drawn;
}

}  // namespace hpcboot::report
