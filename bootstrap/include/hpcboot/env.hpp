#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot {

/// An immutable snapshot of environment variables. Everything in this library is a function of a
/// snapshot, so that any captured environment can be replayed, and no test changes the process
/// environment.
class Env {
 public:
  Env() = default;
  explicit Env(std::map<std::string, std::string> variables);

  /// The environment of this process. The only function of the project that reads it.
  static Env from_process();

  /// Parses the output of `printenv`, `env` or `env -0`. A line that does not start with NAME=
  /// continues the previous value (shell functions and multi-line values); text before the first
  /// NAME= is ignored.
  /// @param file the source of the dump, for the error. If empty, the last definition of a name
  ///        counts.
  /// @throws Error{malformed_file} if a file defines a variable twice with different values
  static Env parse(std::string_view dump, std::string_view file = {});

  /// A dump that parse() reads back: in the format of `printenv`, or of `env -0` if a value
  /// contains a line break. Names that parse() would not recognise are omitted.
  std::string dump() const;

  /// The unmodified value, which may be empty; nullopt if the variable is not set.
  std::optional<std::string_view> raw(std::string_view name) const;

  /// The value; nullopt if the variable is unset or empty. Launchers and container runtimes set
  /// variables to an empty value for "none", so an empty value is never used.
  std::optional<std::string_view> text(std::string_view name) const;

  bool has(std::string_view name) const { return text(name).has_value(); }

  /// The value as a whole number from `minimum` to `maximum`; nullopt if unset or empty.
  /// @throws Error{malformed_value} naming the variable, for any other value.
  std::optional<int> integer(std::string_view name, int minimum = 0,
                             int maximum = std::numeric_limits<int>::max()) const;

  /// As integer(), for a TCP port number.
  std::optional<int> port(std::string_view name) const { return integer(name, 1, 65535); }

  /// As integer(), but the variable must be set.
  /// @throws Error{missing_variable} naming the variable and `set_by`, the launcher that sets it.
  int require_integer(std::string_view name, std::string_view set_by, int minimum = 0) const;

  /// As text(), but the variable must be set. @throws Error{missing_variable}
  std::string_view require_text(std::string_view name, std::string_view set_by) const;

  const std::map<std::string, std::string, std::less<>>& variables() const { return variables_; }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

/// Parses all of `text` as a decimal number; nullopt if it is empty, out of range, or followed by
/// anything else. A leading '-' is accepted; '+' and spaces are not.
std::optional<std::int64_t> parse_whole_number(std::string_view text) noexcept;

}  // namespace hpcboot
