#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot {

/// An immutable snapshot of environment variables. Everything in this library is a function of one,
/// so that any captured environment replays and no test touches the process environment.
class Env {
 public:
  Env() = default;
  explicit Env(std::map<std::string, std::string> variables);

  /// The environment of this process. The one place of the project that reads it.
  static Env from_process();

  /// A dump by `printenv`, `env` or `env -0`. A line that does not begin with NAME= continues the
  /// value before it (shell functions and multi-line values); text before the first NAME= is
  /// ignored.
  /// @param file where it was read from, for the error. Without one the last of two equal names
  ///        counts.
  /// @throws Error{malformed_file} if a file has one variable twice with different values
  static Env parse(std::string_view dump, std::string_view file = {});

  /// A dump that parse() reads back: as `printenv` writes it, or as `env -0` where a value holds a
  /// line break. Names that parse() would not take for one are left out.
  std::string dump() const;

  /// The value as it stands, also when empty; nullopt where the variable is not set.
  std::optional<std::string_view> raw(std::string_view name) const;

  /// The value; nullopt where the variable is unset or empty. Launchers and container runtimes set
  /// empty variables for "nothing", so an empty one is never an answer.
  std::optional<std::string_view> text(std::string_view name) const;

  bool has(std::string_view name) const { return text(name).has_value(); }

  /// The value as a whole number from `minimum` to `maximum`; nullopt where unset or empty.
  /// @throws Error{malformed_value} naming the variable where anything else stands there.
  std::optional<int> integer(std::string_view name, int minimum = 0,
                             int maximum = std::numeric_limits<int>::max()) const;

  /// As integer(), for the number of a TCP port.
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

/// Parses the whole of `text` as a decimal number; nullopt where anything is left over, missing or
/// out of range. A sign other than a leading '-' and spaces are not accepted.
std::optional<std::int64_t> parse_whole_number(std::string_view text) noexcept;

}  // namespace hpcboot
