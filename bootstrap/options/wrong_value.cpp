#include "options/wrong_value.hpp"

#include <cstdint>
#include <limits>
#include <typeinfo>

#include "core/contains.hpp"
#include "core/word_distance.hpp"

namespace hpcboot::options {
namespace {

/// The end of the type's range that a whole number is beyond; empty if the type is another one.
template <typename Number>
std::string end_of_range(const std::type_info& type, bool is_negative) {
  if (type != typeid(Number)) return "";
  using Limits = std::numeric_limits<Number>;
  return is_negative ? " of at least " + std::to_string(Limits::min())
                     : " of at most " + std::to_string(Limits::max());
}

/// Empty if more than two letters differ.
std::string nearest_of(const std::vector<std::string>& names, const std::string& given) {
  std::string nearest;
  std::size_t least = 3;
  for (const std::string& name : names) {
    const std::size_t distance = word_distance(name, given, least);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

bool is_whole_number(const std::string& text) {
  const std::size_t first = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  return text.size() > first && text.find_first_not_of("0123456789", first) == std::string::npos;
}

}  // namespace

std::string nearest_option(const std::vector<Group>& groups, const std::string& given) {
  std::vector<std::string> names;
  for (const Group& group : groups) {
    for (const Option& option : group.options) names.push_back(option.long_name());
  }
  return nearest_of(names, given);
}

std::string wrong_verb(const Program& program, const std::string& given, bool must_be_near) {
  std::vector<std::string> names;
  for (const Command& command : program.verbs) names.push_back(command.verb);
  const std::string nearest = nearest_of(names, given);
  if (must_be_near && (nearest.empty() || given.front() == '-')) return "";
  return "unknown verb '" + given + "'; " +
         (nearest.empty() ? "" : "did you mean " + nearest + "? ") + program.command.program +
         " --help lists the verbs";
}

std::string expected_value(const po::value_semantic* semantic, const std::string& given) {
  const auto* typed = dynamic_cast<const po::typed_value_base*>(semantic);
  if (typed == nullptr) return "a number";
  const std::type_info& type = typed->value_type();
  if (type == typeid(bool)) return "true or false";
  std::string text = "a number";
  if (is_whole_number(given)) {
    const bool is_negative = given[0] == '-';
    text += end_of_range<int>(type, is_negative) + end_of_range<std::int64_t>(type, is_negative) +
            end_of_range<std::uint64_t>(type, is_negative);
  }
  return text;
}

std::optional<std::string> wrong_choice(const Option& option, const std::string& given) {
  const auto& choices = option.value.choices;
  if (choices.empty() || contains(choices, given)) return std::nullopt;
  return "--" + option.long_name() + " is '" + given + "'; expected " + one_of(choices);
}

}  // namespace hpcboot::options
