#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace hpcboot {

/// What an environment variable of a launcher or a scheduler is to the process that has it. What is
/// done with a variable follows from this: `sanitize` unsets all but settings, `capture` keeps all
/// and hides secrets, `lint` knows identities, and two launchers are told apart by theirs.
enum class VariableKind {
  identity,   ///< which process this is: rank, local rank, node rank; differs between processes
  size,       ///< how many there are: world size, local size, number of nodes
  companion,  ///< what else describes the launch or the job: hosts, ids, mappings
  setting,    ///< what the user chose, or where the scheduler is: the next launch is to find it
  secret,     ///< a key of the launch, or a text of the user that may hold one
  handle,     ///< how the process reaches its launcher: descriptors, addresses, name spaces
  submitter,  ///< a copy of the submitting shell's environment: stays, and is not captured
};

/// "identity", "size", … as written above, and as files that describe launchers write it.
std::string_view name_of(VariableKind kind) noexcept;

/// What resolve() does with a variable.
enum class VariableUse {
  none,      ///< not read
  used,      ///< read if it is set
  required,  ///< without it the launcher's environment is partial: Error{missing_variable}
};

/// One variable, or a family of them.
struct LaunchVariable {
  std::string_view name;  ///< one that ends in * stands for all that begin so
  VariableKind kind = VariableKind::companion;
  VariableUse use = VariableUse::none;

  /// Does this entry speak of the variable `variable`?
  bool covers(std::string_view variable) const noexcept;
};

/// The variables of one launcher or scheduler. Of two entries that cover a name the first holds, so
/// that exceptions stand before their family. A view: the entries outlive it.
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
