#include "options/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "options/help.hpp"
#include "options/wrong_value.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"

namespace hpcboot::options {
namespace {

constexpr int kStyle =
    po::command_line_style::default_style & ~po::command_line_style::allow_guessing;

void refuse_several_of_one(const po::parsed_options& parsed, const Command& command) {
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      const auto is_it = [&](const po::option& o) {
        return o.position_key == -1 && o.string_key == option.long_name();
      };
      if (!option.value.is_once ||
          std::count_if(parsed.options.begin(), parsed.options.end(), is_it) <= 1)
        continue;
      throw UsageError("--" + option.long_name() + " is given several times; it takes one " +
                       option.value.name);
    }
  }
}

// If an option is given several times, the last one counts; lists collect all.
void keep_last_of_each(po::parsed_options& parsed, const Command& command) {
  std::set<std::string> seen;
  std::set<std::string> single;
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      if (!option.value.repeats) single.insert(option.long_name());
    }
  }
  auto& options = parsed.options;
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (option->position_key == -1 && single.count(option->string_key) != 0 &&
        !seen.insert(option->string_key).second)
      option->string_key.clear();
  }
  options.erase(std::remove_if(options.begin(), options.end(),
                               [](const auto& option) {
                                 return option.string_key.empty() && option.position_key == -1;
                               }),
                options.end());
}

po::options_description with_operands(const Command& command) {
  po::options_description all = boost_options(command.groups);
  for (const Operand& operand : command.operands)
    all.add_options()(operand.key.c_str(), operand.value.semantic());
  return all;
}

std::string full_name(const Command& command) {
  return command.program + (command.verb.empty() ? "" : " " + command.verb);
}

std::string where_help_is(const Command& command) {
  return full_name(command) + " --help lists the options";
}

[[noreturn]] void refuse(const Command& command, const std::string& what) {
  throw UsageError(what + "; " + where_help_is(command));
}

// "--ranks is 'x'; expected a number". Only numbers are parsed, and Boost says "the argument ('x')
// for option '--ranks' is invalid".
std::string invalid_value(const po::options_description& all, const po::validation_error& error) {
  const std::string text = error.what();
  const std::string start = "the argument ('";
  const std::string middle = "') for option '";
  const std::size_t name = text.find(middle);
  const std::size_t end = text.rfind("' is invalid");
  if (text.rfind(start, 0) != 0 || name == std::string::npos || end == std::string::npos)
    return text;
  const std::string option = text.substr(name + middle.size(), end - name - middle.size());
  const std::string given = text.substr(start.size(), name - start.size());
  const std::size_t first = std::min(option.find_first_not_of('-'), option.size());
  const po::option_description* known = all.find_nothrow(option.substr(first), false);
  return option + " is '" + given + "'; expected " +
         expected_value(known == nullptr ? nullptr : known->semantic().get(), given);
}

// Names the first positional argument that is not an operand. The parser does not, so the arguments
// are parsed again, without operands.
[[noreturn]] void refuse_unexpected(const Command& command, const std::vector<std::string>& own) {
  int operands = 0;
  for (const Operand& operand : command.operands) operands += operand.most;
  const po::options_description all = with_operands(command);
  po::command_line_parser parser(own);
  parser.options(all).style(kStyle);
  if (command.takes_anything) parser.allow_unregistered();
  std::string first;
  for (const auto& option : parser.run().options) {
    if (option.position_key != operands || option.value.empty()) continue;
    first = option.value.front();
    break;
  }
  refuse(command, "unexpected argument '" + first + "'");
}

[[noreturn]] void refuse_unknown(const Command& command, const po::unknown_option& error,
                                 bool has_program) {
  const std::string given = error.get_option_name();
  const std::size_t first = std::min(given.find_first_not_of('-'), given.size());
  const std::string nearest = nearest_option(command.groups, given.substr(first));
  const bool lacks_dashes = command.takes_program && !has_program;
  throw UsageError("unrecognised option '" + given + "'; " +
                   (nearest.empty() ? "" : "did you mean --" + nearest + "? ") +
                   (lacks_dashes ? "a program and its options come after --; " : "") +
                   where_help_is(command));
}

// A default need not be a choice: an operand that is required has none.
std::optional<std::string> given_text(const Value& value, const std::string& key,
                                      const po::variables_map& values) {
  if (value.choices.empty() || values.count(key) == 0 || values[key].defaulted())
    return std::nullopt;
  return values[key].as<std::string>();
}

}  // namespace

Command with_general_options(Command command) {
  command.groups.push_back({"General options",
                            {{"help,h", flag(), "print this help and exit"},
                             {"version", flag(), "print the version and exit"}}});
  return command;
}

std::optional<Parsed> parse(const Command& plain, const std::string& version,
                            const std::vector<std::string>& arguments) {
  const Command command = with_general_options(plain);
  Parsed parsed;
  auto end = arguments.end();
  if (command.takes_program) {
    end = std::find(arguments.begin(), arguments.end(), "--");
    parsed.has_program = end != arguments.end();
    if (parsed.has_program) parsed.program.assign(end + 1, arguments.end());
  }
  const std::vector<std::string> own(arguments.begin(), end);
  const po::options_description all = with_operands(command);
  try {
    po::positional_options_description positional;
    for (const Operand& operand : command.operands)
      positional.add(operand.key.c_str(), operand.most);
    po::command_line_parser parser(own);
    parser.options(all).positional(positional).style(kStyle);
    if (command.takes_anything) parser.allow_unregistered();
    po::parsed_options options = parser.run();
    refuse_several_of_one(options, command);
    keep_last_of_each(options, command);
    po::store(options, parsed.values);
  } catch (const po::unknown_option& error) {
    refuse_unknown(command, error, parsed.has_program);
  } catch (const po::too_many_positional_options_error&) {
    refuse_unexpected(command, own);
  } catch (const po::validation_error& error) {
    refuse(command, invalid_value(all, error));
  } catch (const po::error& error) {
    refuse(command, error.what());
  }
  if (parsed.values.count("help") != 0) {
    out() << help_text(command, help_width(), has_colour(STDOUT_FILENO));
    return std::nullopt;
  }
  if (parsed.values.count("version") != 0) {
    out() << command.program << " " << version << "\n";
    return std::nullopt;
  }
  return parsed;
}

void finish(const Command& command, po::variables_map& values) {
  try {
    po::notify(values);
  } catch (const po::error& error) {
    refuse(command, error.what());
  }
  for (const Group& group : command.groups) {
    for (const Option& option : group.options) {
      const std::string name = option.long_name();
      if (option.value.is_path && values.count(name) != 0 && values[name].as<std::string>().empty())
        throw UsageError("--" + name + " is ''; expected a path");
      const auto given = given_text(option.value, name, values);
      if (!given) continue;
      if (const auto problem = wrong_choice(option, *given)) throw UsageError(*problem);
    }
  }
  for (const Operand& operand : command.operands) {
    const auto& choices = operand.value.choices;
    const auto given = given_text(operand.value, operand.key, values);
    if (given && std::find(choices.begin(), choices.end(), *given) == choices.end())
      throw UsageError("unknown " + operand.key + " '" + *given + "'; expected " + one_of(choices));
  }
}

}  // namespace hpcboot::options
