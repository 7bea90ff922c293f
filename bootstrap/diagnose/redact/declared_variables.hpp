#pragma once

#include <optional>
#include <string_view>

#include "hpcboot/launch_variable.hpp"

namespace hpcboot::redaction {

/// The kind of a variable that is declared by its full name, in upper or lower case. A variable
/// that a user's file declares as a setting may still be a secret.
std::optional<VariableKind> declared_kind(std::string_view name);

}  // namespace hpcboot::redaction
