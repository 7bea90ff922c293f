#include "hpcboot/redact.hpp"

#include <algorithm>
#include <utility>

#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot {
namespace {

using namespace redaction;

// Whether the whole text is a secret.
bool is_secret_file(std::string_view value) {
  // "PRIVATE KEY ----" is of RFC 4716's form.
  if (holds(value, "PRIVATE KEY-----") || holds(value, "PRIVATE KEY BLOCK-----") ||
      holds(value, "PRIVATE KEY ----") || holds(value, "PuTTY-User-Key-File")) {
    return true;
  }
  // Of Kubernetes, in YAML or JSON, also one of several objects: kind: Secret, "kind": "Secret".
  constexpr std::string_view kKind = "kind";
  constexpr std::string_view kQuotes = " \t\"'\\";
  for (std::size_t at = value.find(kKind); at != std::string_view::npos;
       at = value.find(kKind, at + kKind.size())) {
    const std::size_t colon = skip(value, at + kKind.size(), kQuotes);
    if (colon >= value.size() || value[colon] != ':') continue;
    const std::size_t begin = skip(value, colon + 1, kQuotes);
    if (are_equal_but_for_case(value.substr(begin, 6), "secret")) return true;
  }
  return false;
}

enum class Guess { no, yes };  // yes: redact also what looks random

std::string without_secrets(std::string_view text, std::string_view name, Origin origin,
                            Guess guess) {
  if (is_secret_file(text)) return std::string(kRedacted);
  Spans found;
  find_in_addresses(text, found);
  find_known_keys(text, origin, found);
  find_assignments(text, origin, found);
  find_in_commands(text, name, found);
  if (guess == Guess::yes) find_random(text, found);
  std::sort(found.begin(), found.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t done = 0;
  for (const Span& secret : found) {
    if (secret.begin > done || (done == 0 && secret.begin == 0)) {
      out.append(text.substr(done, secret.begin - done)).append(kRedacted);
      done = secret.end;
    } else {
      done = std::max(done, secret.end);  // they overlap or are adjacent
    }
  }
  return out.append(text.substr(done));
}

// Lmod keeps its state in such variables, in base64: it looks random but is not secret.
bool is_module_table(std::string_view name) {
  return starts_with(name, "_ModuleTable");
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  if (is_private_name(name)) return std::string(kRedacted);
  // Values that a launcher gives its ranks are kept, however random they look.
  if (is_launch_variable(name)) return without_secrets(value, name, Origin::launcher, Guess::no);
  if (is_module_table(name)) return without_secrets(value, name, Origin::other, Guess::no);
  if (is_name_of_service(name) && is_disorderly(value)) return std::string(kRedacted);
  return without_secrets(value, name, Origin::other, Guess::yes);
}

}  // namespace

std::string redact_value(std::string_view value) {
  return without_secrets(value, "", Origin::other, Guess::yes);
}

Env redact(const Env& env, Keep keep) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : env.variables()) {
    if (keep == Keep::launch_variables && !is_launch_variable(name)) continue;
    kept[name] = redact_variable(name, value);
  }
  return Env(std::move(kept));
}

}  // namespace hpcboot
