#include "app/runtable_diff.hpp"

#include <unistd.h>

#include "app/named_runs.hpp"
#include "report/run_diff.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

options::Command diff_command() {
  options::Command command{
      "runtable",
      "diff",
      "compare two runs: settings, time of each phase, results",
      {"runtable diff [OPTIONS] A B"},
      {{"runtable diff runs/20261120_235901_ddp_1x4 runs/20261121_000312_ddp_2x4",
        "what twice as many nodes did"},
       {"runtable diff --format json A B", "for programs"}}};
  command.details = {
      "A and B are run folders or files run.json. Settings are the options, the layout, the "
      "launcher, the site, the kind of device and the versions; equal ones are left out. Times are "
      "those of rank 0: the launch, and the runtime with its parts."};
  command.operands = {{"a", options::text("A", options::Completes::folder), 1},
                      {"b", options::text("B", options::Completes::folder), 1}};
  command.groups = {
      {"Options",
       {{"format", options::choice({"table", "json"}, "table"), "format of the comparison"}}}};
  command.exit_codes = {{"0", "the comparison is printed"},
                        {"1", "standard output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "a run cannot be read, or is damaged"}};
  command.more = "runs/README.md of the project";
  return command;
}

int diff(const std::vector<std::string>& arguments) {
  const options::Command command = diff_command();
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  const auto& values = parsed->values;
  if (values.count("a") == 0 || values.count("b") == 0)
    throw options::UsageError("diff needs two runs");
  const record::RunRecord a = read_run(values["a"].as<std::string>());
  const record::RunRecord b = read_run(values["b"].as<std::string>());
  if (values["format"].as<std::string>() == "json") {
    out() << json_text(report::diff_json(a, b), 2) << "\n";
  } else {
    out() << report::diff_text(a, b, look_of(STDOUT_FILENO));
  }
  return 0;
}

}  // namespace hpcboot::app
