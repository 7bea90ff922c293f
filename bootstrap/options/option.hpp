#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Options as data: the parser, --help, the manual page and the shells' completion are made from
// them.
namespace hpcboot::options {

namespace po = boost::program_options;

/// A command line that cannot be used: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a shell offers for a value, beyond its choices.
enum class Completes { nothing, file, folder, program, site, job, run };

/// What an option takes.
struct Value {
  std::string name;                               ///< as help shows it: "N"; empty for a switch
  std::function<po::value_semantic*()> semantic;  ///< for the parser; null for a switch
  std::string otherwise;                          ///< the default, as help shows it; may be empty
  std::vector<std::string> choices;               ///< allowed values; empty if any value is allowed
  std::vector<std::string> suggestions;           ///< values that a shell offers in addition
  Completes completes = Completes::nothing;
  bool repeats = false;      ///< the option may be given several times
  bool is_once = false;      ///< twice is an error; of other options, the last one counts
  bool is_optional = false;  ///< the option may stand alone
  bool is_path = false;      ///< to write to, which must not be empty

  /// The same, with a default that is in no variable: "all".
  Value otherwise_is(std::string text) &&;
  Value suggest(std::vector<std::string> words) &&;
  Value once() &&;
};

struct Option {
  std::string name;  ///< "ranks", or with a letter "ranks,n"
  Value value;
  std::string help;  ///< a clause, without the default and the choices

  std::string long_name() const;
  char letter() const;  ///< 0 if there is none
};

/// Options that help shows under one title.
struct Group {
  std::string title;
  std::vector<Option> options;
};

/// A switch; its `count()` is 1 if it is given.
Value flag();
/// A switch that sets `slot`.
Value flag(bool& slot);
/// Any text.
Value text(std::string name, Completes completes = Completes::nothing);
/// Any text; `otherwise` if it is not given.
Value text_or(std::string name, const std::string& otherwise,
              Completes completes = Completes::nothing);
/// A file or folder to write.
Value output(std::string name, Completes completes = Completes::file);
/// An option that may be repeated.
Value list(std::string name, Completes completes = Completes::nothing);
/// A whole number.
Value number(std::string name);
Value number(std::string name, int otherwise);
/// One of `choices`; if `otherwise` is empty, there is no default.
Value choice(std::vector<std::string> choices, const std::string& otherwise = "");

/// For numbers from 0: unlike po::value(), it refuses -1, which would become 2^64 - 1.
po::typed_value<std::uint64_t>* natural_number(std::uint64_t& slot);

/// Parsing sets `slot`, whose initial value is the default.
template <typename T>
Value into(T& slot, std::string name, Completes completes = Completes::nothing) {
  std::ostringstream shown;
  shown << slot;
  Value value;
  value.name = std::move(name);
  value.semantic = [&slot, text = shown.str()]() -> po::value_semantic* {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      return natural_number(slot)->default_value(slot, text);
    } else {
      return po::value(&slot)->default_value(slot, text);
    }
  };
  value.otherwise = shown.str();
  value.completes = completes;
  return value;
}

/// Parsing sets `slot` if the option is given; otherwise it stays empty.
template <typename T>
Value into(std::optional<T>& slot, std::string name) {
  Value value;
  value.name = std::move(name);
  value.semantic = [&slot]() -> po::value_semantic* {
    return po::value<T>()->notifier([&slot](const T& given) { slot = given; });
  };
  return value;
}

/// One of `choices`, into `slot`.
Value choice_into(std::string& slot, std::vector<std::string> choices);

/// Any text, into `slot`; `implied` if the option stands alone.
Value optional_into(std::string& slot, std::string name, std::string implied);

/// For the parser.
po::options_description boost_options(const std::vector<Group>& groups);

/// "a, b or c"
std::string one_of(const std::vector<std::string>& words);

}  // namespace hpcboot::options
