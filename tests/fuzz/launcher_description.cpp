#include <toml++/toml.h>

#include "describe/owned_description.hpp"
#include "describe/read_description.hpp"
#include "fuzz.hpp"
#include "input.hpp"
#include "toml/bounded_toml.hpp"

namespace {

using namespace hpcboot;

// toml++ limits the nesting of values, and each may have a dotted key.
constexpr std::size_t kDeepest = TOML_MAX_NESTED_VALUES * kMostKeyParts;

void require_shallow(const toml::node& node, std::size_t depth) {
  fuzz::require(depth <= kDeepest, "no deeper than the limits of bounded_toml.hpp");
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) require_shallow(value, depth + 1);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& value : *array) require_shallow(value, depth + 1);
  }
}

// Uses the launcher and the scheduler with an environment in which all their variables are set.
void use(const DescribedLauncher& described, const std::string& value) {
  std::map<std::string, std::string> variables;
  const auto set_all = [&](const VariableList& list) {
    for (const LaunchVariable& variable : list) {
      fuzz::require(!variable.name.empty() && variable.name.size() <= 129, "variables have names");
      if (variable.name.back() != '*') variables.emplace(variable.name, value);
    }
  };
  if (described.launcher) set_all(described.launcher->variables);
  if (described.scheduler) set_all(described.scheduler->variables);
  const Env env(variables);
  fuzz::allow_error([&] {
    if (!described.launcher || described.launcher->detect(env, {}).match != Match::present) return;
    const LaunchFacts facts = described.launcher->read(env, {});
    if (facts.rank) fuzz::require(*facts.rank >= 0, "a rank is not negative");
  });
  fuzz::allow_error([&] {
    if (described.scheduler) described.scheduler->read(env, {std::nullopt, false});
  });
}

}  // namespace

// A launcher in TOML and, after a form feed, a value for its variables: TOML within the nesting
// limits and a complete, usable description, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::text_of(data, size));
  const std::string_view toml = input.text();
  fuzz::allow_error([&] { require_shallow(parse_toml(toml, "f"), 0); });
  fuzz::allow_error([&] {
    const DescriptionText text = read_description(toml, "f");
    fuzz::require(!text.name.empty() && text.name.size() <= 24, "a name of 1 to 24 letters");
    fuzz::require(text.is_launcher || text.is_job, "a launcher, or a scheduler");
    fuzz::require(!text.is_job || !text.job_id.empty(), "a job has an id");
    std::string value(input.text());
    // Lists of very many hosts are valid but slow.
    if (value.find('[') != std::string::npos) value.clear();
    use(describe(text, "f"), value);
  });
  return 0;
}
