#include "report/figures.hpp"

#include <cctype>
#include <string_view>

#include "hpcboot/error.hpp"
#include "plots/draw.hpp"
#include "plots/plots.hpp"
#include "report/wide.hpp"
#include "text/html_format.hpp"

namespace hpcboot::report {
namespace {

/// RFC 3986: all but unreserved characters, percent-encoded. Not base64, which is as long for text
/// and cannot be read.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // Also reserved characters that neither end an attribute nor the data.
  constexpr std::string_view kKept = "-._~ !$()*+,/:;=@";
  std::string encoded;
  encoded.reserve(text.size() + text.size() / 4);
  for (const char one : text) {
    const auto byte = static_cast<unsigned char>(one);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || kKept.find(one) != std::string_view::npos) {
      encoded += one;
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

std::vector<plots::RunData> runs_for(const plots::PlotKind& kind, const ReportData& data) {
  if (kind.runs == record::Runs::finished) return data.finished;
  if (data.monitored) return {*data.monitored};
  return {};
}

}  // namespace

Encoded figure(const plots::Plot& plot) {
  const std::string picture =
      "data:image/svg+xml;charset=utf-8," + percent_encoded(plots::drawn_svg(plot));
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
