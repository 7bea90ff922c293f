#include "hpcboot/launch_variable.hpp"

#include <algorithm>

namespace hpcboot {

std::string_view name_of(VariableKind kind) noexcept {
  switch (kind) {
    case VariableKind::identity:
      return "identity";
    case VariableKind::size:
      return "size";
    case VariableKind::companion:
      return "companion";
    case VariableKind::setting:
      return "setting";
    case VariableKind::secret:
      return "secret";
    case VariableKind::handle:
      return "handle";
    case VariableKind::submitter:
      return "submitter";
  }
  return "";
}

bool LaunchVariable::covers(std::string_view variable) const noexcept {
  if (variable.empty() || variable.front() != name.front()) return false;
  if (name.back() != '*') return variable == name;
  return variable.substr(0, name.size() - 1) == name.substr(0, name.size() - 1);
}

const LaunchVariable* VariableList::find(std::string_view variable) const noexcept {
  const auto* found = std::find_if(
      begin(), end(), [&](const LaunchVariable& entry) { return entry.covers(variable); });
  return found == end() ? nullptr : found;
}

}  // namespace hpcboot
