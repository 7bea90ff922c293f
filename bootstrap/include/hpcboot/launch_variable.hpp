#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace hpcboot {

/// The role of an environment variable of a launcher or a scheduler. It determines how a variable
/// is treated: `sanitize` unsets all but settings, `capture` keeps all and hides secrets, `lint`
/// recognises identities, and nested launchers are distinguished by their identities.
enum class VariableKind {
  identity,   ///< which process this is: rank, local rank, node rank; differs between processes
  size,       ///< a number of processes or nodes: world size, local size, number of nodes
  companion,  ///< other properties of the launch or the job: hosts, ids, mappings
  setting,    ///< chosen by the user, or the scheduler's location: kept for the next launch
  secret,     ///< a key of the launch, or a text of the user that may contain one
  handle,     ///< how the process reaches its launcher: descriptors, addresses, namespaces
  submitter,  ///< a copy of the submitting shell's environment: kept, but not captured
};

/// "identity", "size", … as above and in launcher descriptions.
std::string_view name_of(VariableKind kind) noexcept;

/// How resolve() uses a variable.
enum class VariableUse {
  none,      ///< not read
  used,      ///< read if it is set
  required,  ///< without it the launcher's environment is incomplete: Error{missing_variable}
};

/// One variable, or a family of them.
struct LaunchVariable {
  std::string_view name;  ///< a name that ends in * matches all names with this prefix
  VariableKind kind = VariableKind::companion;
  VariableUse use = VariableUse::none;

  /// Does this entry apply to the variable `variable`?
  bool covers(std::string_view variable) const noexcept;
};

/// The variables of one launcher or scheduler. If two entries cover a name, the first one applies,
/// so exceptions must precede their family. A view: the entries must outlive it.
class VariableList {
 public:
  constexpr VariableList() = default;
  template <std::size_t N>
  // NOLINTNEXTLINE(google-explicit-constructor): a table is its list
  constexpr VariableList(const LaunchVariable (&table)[N]) : first_(table), size_(N) {}
  explicit VariableList(const std::vector<LaunchVariable>& table)
      : first_(table.data()), size_(table.size()) {}

  const LaunchVariable* begin() const noexcept { return first_; }
  const LaunchVariable* end() const noexcept { return first_ + size_; }

  /// The first entry that covers `variable`; null if none does.
  const LaunchVariable* find(std::string_view variable) const noexcept;

 private:
  const LaunchVariable* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hpcboot
