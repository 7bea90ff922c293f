#include "app/runtable_plot.hpp"

#include <unistd.h>

#include <filesystem>

#include "app/named_runs.hpp"
#include "plots/draw.hpp"
#include "plots/plots.hpp"
#include "record/read_runs.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const plots::PlotKind& kind : plots::plot_kinds()) names.push_back(kind.name);
  return names;
}

const plots::PlotKind& kind_of(const std::string& name) {
  for (const plots::PlotKind& kind : plots::plot_kinds()) {
    if (kind.name == name) return kind;
  }
  throw options::UsageError("plot: '" + name + "' is no plot; expected " +
                            options::one_of(names_of_kinds()));
}

/// @throws options::UsageError for an ending that is no format
void require_picture(const fs::path& file) {
  if (file.extension() == ".svg" || file.extension() == ".png") return;
  throw options::UsageError("--output '" + file.string() + "' must end with .svg or .png");
}

}  // namespace

options::Command plot_command() {
  options::Command command{
      "runtable",
      "plot",
      "draw runtimes, scaling, curves, steps or the monitor of runs",
      {"runtable plot KIND [OPTIONS] [DIR…]"},
      {{"runtable plot runtime", "in the terminal"},
       {"runtable plot strong-scaling -o scaling.svg runs", "as a picture"},
       {"runtable plot monitor -o monitor.png runs/20261120_235901_ddp_2x4", "of one run"}}};
  command.details = {
      "DIR is a folder of runs, one run folder or a run.json [runs]. Of runs that repeat each "
      "other, the median is shown; in pictures of runtimes, scaling and curves, of three or more "
      "also the smallest and largest value, and of fewer each run. gnuplot draws. Lines also "
      "differ "
      "in dashes and points, bars in patterns."};
  command.operands = {{"kind", options::choice(names_of_kinds()), 1},
                      {"dir", options::list("DIR", options::Completes::folder), -1}};
  std::vector<options::Option> chosen{
      {"output,o", options::output("FILE"),
       "picture to write, .svg or .png; without it, the plot is drawn in the terminal"}};
  command.groups = {{"Options", chosen}};
  std::string kinds;
  for (const plots::PlotKind& kind : plots::plot_kinds()) {
    kinds += (kinds.empty() ? "  " : "\n  ") + kind.name + std::string(16 - kind.name.size(), ' ') +
             kind.about;
  }
  command.details.push_back(kinds);
  command.exit_codes = {{"0", "the plot is drawn"},
                        {"1", "there is nothing to plot, or standard output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "a DIR or a monitor.csv cannot be read, or is damaged"},
                        {"30", "gnuplot is missing, or fails"},
                        {"42", "the picture cannot be written"}};
  command.more = "runs/README.md of the project";
  return command;
}

int plot(const std::vector<std::string>& arguments) {
  const options::Command command = plot_command();
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  const auto& values = parsed->values;
  if (values.count("kind") == 0)
    throw options::UsageError("plot needs a KIND; expected " + options::one_of(names_of_kinds()));
  const plots::PlotKind& kind = kind_of(values["kind"].as<std::string>());
  const bool has_file = values.count("output") != 0;
  const fs::path file = has_file ? values["output"].as<std::string>() : std::string();
  if (has_file) require_picture(file);

  std::vector<plots::RunData> runs;
  const auto skipped = record::read_runs(places_of(values), kind.runs,
                                         [&](const fs::path& folder, const record::RunRecord& run) {
                                           runs.push_back(plots::data_of(folder, run));
                                         });
  for (const std::string& line : skipped.lines) err() << "runtable: skipped: " << line << "\n";
  try {
    if (runs.empty())
      throw plots::NothingToPlot(kind.runs == record::Runs::finished ? "there is no finished run"
                                                                     : "there is no run");
    const plots::Plot drawn = kind.make(runs);
    if (has_file) {
      plots::draw(drawn, file);
    } else {
      out() << plots::plot_text(drawn, look_of(STDOUT_FILENO));
    }
  } catch (const plots::NothingToPlot& problem) {
    err() << "runtable: " << kind.name << ": nothing to plot: " << problem.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace hpcboot::app
