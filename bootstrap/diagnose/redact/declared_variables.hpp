#pragma once

#include <optional>
#include <string_view>

#include "hpcboot/launch_variable.hpp"

namespace hpcboot::redaction {

/// The kind of a variable that is declared by its whole name; users write names in any case. What a
/// user's file calls a setting may be a secret for all that.
std::optional<VariableKind> declared_kind(std::string_view name);

}  // namespace hpcboot::redaction
