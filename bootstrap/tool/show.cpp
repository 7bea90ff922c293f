#include <fmt/format.h>

#include <iostream>

#include "json/resolution_json.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

std::string text_of(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const auto& item : value) joined += (joined.empty() ? "" : " ") + item.get<std::string>();
  return joined;
}

// One line a field: name, value, where it came from.
void print_table(const nlohmann::ordered_json& object) {
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
    std::cout << fmt::format("{:<12} {:<24} {}", field, text_of(value), from) << "\n";
  }
}

void print_explanation(const Resolution& r) {
  std::cout << "\nLaunchers, innermost first:\n";
  for (const Attempt& attempt : r.attempts) {
    std::cout << fmt::format("  {:<10} {:<8} {}\n", attempt.source, attempt.outcome,
                             attempt.reason);
  }
  if (r.site_rules.empty()) return;
  std::cout << "\nRules of the site:\n";
  for (const std::string& rule : r.site_rules) std::cout << "  " << rule << "\n";
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
    std::cout << object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << "\n";
  } else {
    print_table(object);
  }
  if (values->count("explain") != 0) {
    // With --json stdout holds one object and nothing else.
    if (values->count("json") != 0) std::cout.rdbuf(std::cerr.rdbuf());
    print_explanation(r);
  }
  for (const std::string& hint : r.hints) std::cerr << "hint: " << hint << "\n";
  return 0;
}

}  // namespace

const Verb kShow{"show", "print rank, sizes, hosts, master, device, and where each came from",
                 show};

}  // namespace hpcboot::tool
