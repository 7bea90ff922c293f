#include <algorithm>

#include "json/resolution_json.hpp"
#include "options.hpp"

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

// One line a field: name, value, where it came from.
void print_table(const Json& object) {
  for (const auto& [field, value] : object.items()) {
    if (field == "provenance" || field == "witnesses") continue;
    std::string from;
    const auto& provenance = object["provenance"];
    if (provenance.contains(field)) {
      from = provenance[field]["source"].get<std::string>();
      const auto& variable = provenance[field]["variable"];
      if (!variable.is_null()) from += ": " + variable.get<std::string>();
      from = value.is_null() ? "(only an exchange between the ranks can tell)" : "(" + from + ")";
    }
    out() << encoded_format("{:<12} {:<24} {}\n", field, text_of(value), from);
  }
}

void print_explanation(const Resolution& r, Terminal& to) {
  to << "\nLaunchers, innermost first:\n";
  std::size_t width = 0;
  for (const Attempt& attempt : r.attempts) width = std::max(width, attempt.source.size());
  for (const Attempt& attempt : r.attempts) {
    to << encoded_format("  {:<{}} {:<8} {}\n", attempt.source, width, attempt.outcome,
                         attempt.reason);
  }
  if (!r.ignored_exports.empty()) to << "\nExported by hpcboot for another launch, ignored:\n";
  for (const std::string& name : r.ignored_exports) to << "  " << name << "\n";
  if (r.site_rules.empty()) return;
  to << "\nRules of the site:\n";
  for (const std::string& rule : r.site_rules) to << "  " << rule << "\n";
}

int show(const Arguments& arguments) {
  boost::program_options::options_description options("Options");
  options.add_options()("json", "one JSON object, null where unknown")(
      "explain",
      "also every launcher tried, in order, and why it was taken or not, and the rules of the "
      "site");
  options.add(environment_options());
  const auto values = parse(
      arguments,
      "Usage: hpcboot show [--json] [--explain] [--env-file F] [--nodefile F] [--hostname H]\n\n"
      "Prints who this process is among its peers, and where each answer came from.\n"
      "Nothing is contacted: what only an exchange between ranks could tell is null.\n"
      "HPCBOOT_METHODS=\"slurm openmpi\" tries only those launchers, in that order.\n",
      options);
  if (!values) return 0;
  const Resolution r = resolve_as_asked(env_as_asked(*values), *values);
  const auto object = to_json(r);
  if (values->count("json") != 0) {
    out() << json_text(object, 2) << "\n";
  } else {
    print_table(object);
  }
  // With --json stdout holds one object and nothing else.
  if (values->count("explain") != 0)
    print_explanation(r, values->count("json") != 0 ? err() : out());
  for (const std::string& hint : r.hints) err() << "hint: " << hint << "\n";
  return 0;
}

}  // namespace

const Verb kShow{"show", "print rank, sizes, hosts, master, device, and where each came from", show,
                 true};

}  // namespace hpcboot::tool
