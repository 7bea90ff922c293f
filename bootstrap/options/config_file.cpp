#include "options/config_file.hpp"

#include <map>
#include <sstream>
#include <string_view>

#include "core/byte_order_mark.hpp"
#include "core/trim.hpp"
#include "options/wrong_value.hpp"

namespace hpcboot::options {
namespace {

/// Without a comment.
std::string_view unquoted(std::string_view text) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\r')
      return trim(text.substr(0, at));
  }
  return text;
}

/// @throws UsageError, without the line, for quotes that do not enclose the value
std::string value_of(std::string_view text) {
  if (text.empty() || text.front() != '"') return std::string(unquoted(text));
  const std::size_t end = text.find('"', 1);
  const std::string_view rest = end == std::string_view::npos ? "" : trim(text.substr(end + 1));
  if (end == std::string_view::npos || (!rest.empty() && rest.front() != '#'))
    throw UsageError("the value is " + std::string(text) + "; expected a \" at its end only");
  return std::string(text.substr(1, end - 1));
}

const Option* find_option(const std::vector<Group>& groups, std::string_view name) {
  for (const Group& group : groups) {
    for (const Option& option : group.options) {
      if (option.long_name() == name) return &option;
    }
  }
  return nullptr;
}

/// @throws UsageError without the line
void store_value(const Option& option, const std::string& value, const po::options_description& all,
                 po::variables_map& values) {
  if (const auto problem = wrong_choice(option, value)) throw UsageError(*problem);
  const std::string name = option.long_name();
  po::parsed_options parsed(&all);
  parsed.options.emplace_back(name, std::vector<std::string>{value});
  try {
    po::store(parsed, values);
  } catch (const po::error&) {
    const po::option_description* known = all.find_nothrow(name, false);
    throw UsageError("--" + name + " is '" + value + "'; expected " +
                     expected_value(known == nullptr ? nullptr : known->semantic().get(), value));
  }
}

}  // namespace

void store_config(const std::vector<Group>& groups, const std::string& file,
                  const std::string& text, po::variables_map& values) {
  const po::options_description all = boost_options(groups);
  std::map<std::string, int> lines;  // in which options were given
  const std::size_t nul = text.find('\0');
  if (nul != std::string::npos) {
    throw UsageError(file + ": a zero byte, as UTF-16 has, at offset " + std::to_string(nul) +
                     "; expected UTF-8");
  }
  std::istringstream in(has_byte_order_mark(text) ? text.substr(kByteOrderMark.size()) : text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    try {
      const std::size_t equals = content.find('=');
      if (equals == std::string_view::npos) {
        throw UsageError("'" + std::string(unquoted(content)) + "'; expected NAME = VALUE");
      }
      const std::string name(trim(content.substr(0, equals)));
      const Option* option = find_option(groups, name);
      if (option == nullptr) {
        const std::string nearest = nearest_option(groups, name);
        throw UsageError("unrecognised option '" + name + "'; " +
                         (nearest.empty() ? "expected an option of the command line, without --"
                                          : "did you mean " + nearest + "?"));
      }
      const auto [first, is_new] = lines.emplace(name, number);
      if (!is_new) {
        throw UsageError("'" + name + "' is already set in line " + std::to_string(first->second) +
                         "; expected each option once");
      }
      store_value(*option, value_of(trim(content.substr(equals + 1))), all, values);
    } catch (const UsageError& problem) {
      throw UsageError(file + ":" + std::to_string(number) + ": " + problem.what());
    }
  }
}

}  // namespace hpcboot::options
