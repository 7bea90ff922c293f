#include "app/runtable_report.hpp"

#include <filesystem>

#include "app/named_runs.hpp"
#include "record/atomic_file.hpp"
#include "report/page.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

options::Command report_command() {
  options::Command command{
      "runtable",
      "report",
      "make one page: table, plots, differences, placement, provenance",
      {"runtable report [OPTIONS] [DIR…]"},
      {{"runtable report -o report.html", "of the runs in runs/"},
       {"runtable report --reference -o report.html", "with published figures beside"},
       {"runtable report --no-plots >report.html", "without gnuplot"}}};
  command.details = {
      "DIR is a folder of runs, one run folder or a run.json [runs]. The page has a table that "
      "sorts and filters, every plot that the runs have data for, the settings in which they "
      "differ, their ranks drawn on their hosts, where each value of their placement comes from, "
      "and warnings. It is one file, and requests nothing from the network."};
  command.operands = {{"dir", options::list("DIR", options::Completes::folder), -1}};
  command.groups = {{"Options",
                     {{"output,o", options::output("FILE"),
                       "page to write; without it, the page goes to standard output"},
                      {"reference", options::flag(),
                       "add published runtimes of ResNet50 on V100 and RTX6000 GPUs"},
                      {"no-plots", options::flag(), "leave out the plots"}}}};
  command.exit_codes = {{"0", "the page is written"},
                        {"1", "there is no run, or standard output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"27", "a DIR cannot be read"},
                        {"30", "gnuplot is missing, or fails"},
                        {"42", "the page cannot be written"}};
  command.more = "runs/README.md of the project";
  return command;
}

int report(const std::vector<std::string>& arguments) {
  const options::Command command = report_command();
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  const auto& values = parsed->values;

  const report::ReportData data = report::read_report_data(places_of(values));
  for (const std::string& line : data.skipped) err() << "runtable: skipped: " << line << "\n";
  if (data.newest.empty()) {
    err() << "runtable: report: there is no run\n";
    return 1;
  }
  const Encoded page =
      report::page(data, {values.count("no-plots") == 0, values.count("reference") != 0});
  if (values.count("output") == 0) {
    out() << page;
    return 0;
  }
  record::write_named_file(values["output"].as<std::string>(), page.str());
  return 0;
}

}  // namespace hpcboot::app
