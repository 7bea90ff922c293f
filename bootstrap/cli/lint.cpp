#include "jobs/lint/lint.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>  // standard input
#include <iterator>
#include <optional>
#include <set>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "options.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

std::string read_script_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  FileText file = read_whole(path, FileKind::any);
  if (file.text) return *std::move(file.text);
  throw Error(ErrorCode::unreadable_file, "the script " + path + " cannot be read: " + file.reason,
              "a batch job script, or - for standard input", "correct the path");
}

void print_rules() {
  TextTable table({Align::left, Align::left, Align::left});
  for (const lint::RuleSummary& rule : lint::rules())
    table.add({rule.id, std::string(lint::name_of(rule.severity)), rule.summary});
  out() << table.text(look_of(STDOUT_FILENO));
}

Json to_json(const std::string& file, const lint::Finding& finding) {
  return {{"file", file},
          {"line", finding.line},
          {"column", finding.column},
          {"severity", lint::name_of(finding.severity)},
          {"rule", finding.rule},
          {"found", finding.found},
          {"why", finding.why},
          {"remedy", finding.remedy}};
}

std::set<std::string> disabled_rules(const po::variables_map& values) {
  std::set<std::string> ids;
  if (values.count("disable") == 0) return ids;
  const auto rules = lint::rules();
  for (const std::string& id : values["disable"].as<std::vector<std::string>>()) {
    if (std::none_of(rules.begin(), rules.end(),
                     [&](const lint::RuleSummary& rule) { return rule.id == id; })) {
      throw UsageError("unknown rule '" + id + "'; `hpcboot lint --list-rules` lists them");
    }
    ids.insert(id);
  }
  return ids;
}

options::Command lint_command() {
  using options::flag;
  options::Command command{"hpcboot",
                           "lint",
                           "find errors in batch job scripts",
                           {"hpcboot lint [OPTIONS] SCRIPT…"},
                           {{"hpcboot lint job.sh", "findings, with what to write instead"},
                            {"hpcboot lint --format gcc *.sh", "one line each, for editors"}}};
  command.details = {
      "Checks batch job scripts of Slurm, PBS, Torque, Grid Engine and LSF for what the scheduler "
      "ignores or refuses and for what breaks a parallel run. If SCRIPT is -, it is read from "
      "standard input. "
      "Nothing is submitted or run.",
      "A comment in the script disables rules:\n    # hpcboot-lint: disable=ID,ID"};
  std::vector<std::string> ids;
  for (const lint::RuleSummary& rule : lint::rules()) ids.emplace_back(rule.id);
  command.groups = {{"Options",
                     {{"disable", options::list("ID").suggest(std::move(ids)),
                       "disable this rule; may be repeated"},
                      {"format", options::choice({"text", "gcc", "json"}, "text"),
                       "gcc prints one line per finding"},
                      {"strict", flag(), "fail on warnings, too"},
                      {"list-rules", flag(), "print the rules and exit"}}}};
  command.operands = {{"scripts", options::list("SCRIPT", options::Completes::file), -1}};
  command.exit_codes = {{"0", "no error (with --strict: no warning)"},
                        {"1", "an error was found (with --strict: or a warning)"},
                        {"2", "the command line is wrong"},
                        {"27", "a script cannot be read; the others were checked"}};
  command.more = "bootstrap/jobs/README.md shows findings; --list-rules prints the rules";
  return command;
}

int lint_scripts(const Call& call) {
  if (call.values.count("list-rules") != 0) {
    print_rules();
    return 0;
  }
  const auto format = call.values["format"].as<std::string>();
  if (call.values.count("scripts") == 0) throw UsageError("lint needs the scripts to check");

  const std::set<std::string> disabled = disabled_rules(call.values);
  bool failed = false;
  std::optional<Error> unreadable;  // the first; the other scripts are checked nevertheless
  Json all = Json::array();
  for (const std::string& path : call.values["scripts"].as<std::vector<std::string>>()) {
    const std::string file = path == "-" ? "(standard input)" : path;
    std::string script;
    try {
      script = read_script_file(path);
    } catch (const Error& error) {
      if (!unreadable) unreadable = error;
      continue;
    }
    for (const lint::Finding& finding : lint::check_script(script, disabled)) {
      failed |= finding.severity == lint::Severity::error || call.values.count("strict") != 0;
      if (format == "json") {
        all.push_back(to_json(file, finding));
      } else if (format == "gcc") {
        out() << lint::format_line(file, finding) << "\n";
      } else {
        out() << lint::format_text(file, finding);
      }
    }
  }
  if (format == "json") out() << json_text(all, 2) << "\n";
  if (unreadable) throw *unreadable;
  return failed ? 1 : 0;
}

}  // namespace

const Verb kLint{lint_command, lint_scripts, true};

}  // namespace hpcboot::tool
