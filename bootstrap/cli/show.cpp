#include <unistd.h>

#include "hpcboot/launch_source.hpp"
#include "json/resolution_json.hpp"
#include "options.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const auto& item : value) joined += (joined.empty() ? "" : " ") + item.get<std::string>();
  return joined;
}

// One line per field: name, value, and where it came from.
void print_table(const Json& object) {
  TextTable table({Align::left, Align::left, Align::left});
  for (const auto& [field, value] : object.items()) {
    if (field == "provenance" || field == "witnesses") continue;
    std::string from;
    const auto& provenance = object["provenance"];
    if (provenance.contains(field)) {
      from = provenance[field]["source"].get<std::string>();
      const auto& variable = provenance[field]["variable"];
      if (!variable.is_null()) from += ": " + variable.get<std::string>();
      from = value.is_null() ? "(the ranks must exchange it)" : "(" + from + ")";
    }
    table.add({field, text_of(value), from});
  }
  out() << table.text(look_of(STDOUT_FILENO));
}

void print_explanation(const Resolution& r, Terminal& to) {
  to << "\nLaunchers, innermost first:\n";
  TextTable table({Align::left, Align::left, Align::left});
  for (const Attempt& attempt : r.attempts)
    table.add({"  " + attempt.source, attempt.outcome, attempt.reason});
  to << table.text(look_of(&to == &out() ? STDOUT_FILENO : STDERR_FILENO));
  if (!r.ignored_exports.empty()) to << "\nExported by hpcboot for another launch, ignored:\n";
  for (const std::string& name : r.ignored_exports) to << "  " << name << "\n";
  if (r.site_rules.empty()) return;
  to << "\nRules of the site:\n";
  for (const std::string& rule : r.site_rules) to << "  " << rule << "\n";
}

options::Command show_command() {
  using options::flag;
  options::Command command{
      "hpcboot",
      "show",
      "print rank, sizes, hosts, master, device, and where each came from",
      {"hpcboot show [OPTIONS]"},
      {{"mpirun -np 2 hpcboot show", "what each rank sees"},
       {"hpcboot show --explain", "every launcher tried, and why"},
       {"hpcboot show --env-file job.env", "an environment recorded elsewhere"}}};
  command.details = {
      "Contacts no other process: a value that only an exchange between the ranks can supply is "
      "shown as \"-\" (null with --json). HPCBOOT_METHODS=\"slurm openmpi\" tries only those "
      "launchers, in that order."};
  command.groups = {{"Options",
                     {{"json", flag(), "print one JSON object; null means unknown"},
                      {"explain", flag(),
                       "also print every launcher tried, in order, why it was taken or not, and "
                       "the site's rules"}}},
                    environment_options()};
  command.exit_codes = {{"0", "resolved"},
                        {"2", "the command line is wrong"},
                        {"20 to 35", "not resolved; the error says what to do"}};
  command.more = "bootstrap/README.md lists the fields and the launchers";
  return command;
}

// Which launchers are present, if the environment does not resolve.
void print_detections(const Situation& s) {
  err() << "Launchers, innermost first:\n";
  TextTable table({Align::left, Align::left, Align::left});
  for (const LaunchSource* source : launch_sources()) {
    const Detection detection = source->detect(s.env, s.facts);
    const char* const outcome = detection.match == Match::present   ? "present"
                                : detection.match == Match::refused ? "refused"
                                                                    : "absent";
    table.add({"  " + std::string(source->name), outcome, detection.reason});
  }
  err() << table.text(look_of(STDERR_FILENO)) << "\n";
}

int show(const Call& call) {
  const Situation situation = situation_as_asked(call.values);
  if (situation.error) {
    if (call.values.count("explain") != 0) print_detections(situation);
    throw *situation.error;
  }
  const Resolution& r = *situation.resolution;
  const auto object = to_json(r);
  if (call.values.count("json") != 0) {
    out() << json_text(object, 2) << "\n";
  } else {
    print_table(object);
  }
  // With --json stdout holds one object and nothing else.
  if (call.values.count("explain") != 0)
    print_explanation(r, call.values.count("json") != 0 ? err() : out());
  for (const std::string& hint : r.hints) err() << "hint: " << hint << "\n";
  return 0;
}

}  // namespace

const Verb kShow{show_command, show, true};

}  // namespace hpcboot::tool
