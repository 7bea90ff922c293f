#include "jobs/lint/lint.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>  // standard input
#include <iterator>
#include <set>
#include <system_error>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

std::string read_script_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  // A folder opens, too, and fails when it is read.
  if (!in.is_open() || std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorCode::unreadable_file, "the script " + path + " cannot be read",
                "a batch job script, or - for standard input", "correct the path");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void print_rules() {
  std::size_t width = 0;
  for (const lint::RuleSummary& rule : lint::rules())
    width = std::max(width, std::string_view(rule.id).size());
  for (const lint::RuleSummary& rule : lint::rules()) {
    out() << encoded_format("{:<{}}  {:<9}{}\n", rule.id, width, lint::name_of(rule.severity),
                            rule.summary);
  }
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
      throw UsageError("there is no rule '" + id + "'; `hpcboot lint --list-rules` lists them");
    }
    ids.insert(id);
  }
  return ids;
}

int lint_scripts(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("disable", po::value<std::vector<std::string>>()->value_name("ID"),
                        "leave this rule out; may be given several times")(
      "format", po::value<std::string>()->value_name("F")->default_value("text"),
      "text, gcc (one line a finding) or json")("strict", "exit code 1 for warnings, too")(
      "list-rules", "print the rules and exit");
  po::options_description hidden;
  hidden.add_options()("scripts", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("scripts", -1);
  const auto values = parse(
      arguments,
      "Usage: hpcboot lint [OPTIONS] SCRIPT...\n\n"
      "Looks through batch job scripts of Slurm, PBS, Torque, Grid Engine and LSF for what the\n"
      "scheduler ignores or refuses and what breaks a parallel run, and says what to write\n"
      "instead. SCRIPT - reads standard input. Nothing is submitted or run.\n\n"
      "A comment in the script turns rules off there:  # hpcboot-lint: disable=ID,ID\n\n"
      "Exit codes: 0 no error (with --strict: no warning), 1 findings, 2 usage, 27 a script that\n"
      "cannot be read.\n",
      options, hidden, positional);
  if (!values) return 0;
  if (values->count("list-rules") != 0) {
    print_rules();
    return 0;
  }
  const auto format = (*values)["format"].as<std::string>();
  if (format != "text" && format != "gcc" && format != "json")
    throw UsageError("unknown format '" + format + "'; known are text, gcc, json");
  if (values->count("scripts") == 0) throw UsageError("lint takes the scripts to look through");

  const std::set<std::string> disabled = disabled_rules(*values);
  bool failed = false;
  Json all = Json::array();
  for (const std::string& path : (*values)["scripts"].as<std::vector<std::string>>()) {
    const std::string file = path == "-" ? "(standard input)" : path;
    for (const lint::Finding& finding : lint::check_script(read_script_file(path), disabled)) {
      failed |= finding.severity == lint::Severity::error || values->count("strict") != 0;
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
  return failed ? 1 : 0;
}

}  // namespace

const Verb kLint{"lint", "find what is wrong with batch job scripts", lint_scripts, true};

}  // namespace hpcboot::tool
