#pragma once

#include "hpcboot/launch_variable.hpp"

// Short names for the variable tables of launchers and schedulers.
namespace hpcboot {

inline constexpr VariableKind kIdentity = VariableKind::identity;
inline constexpr VariableKind kSize = VariableKind::size;
inline constexpr VariableKind kCompanion = VariableKind::companion;
inline constexpr VariableKind kSetting = VariableKind::setting;
inline constexpr VariableKind kSecret = VariableKind::secret;
inline constexpr VariableKind kHandle = VariableKind::handle;
inline constexpr VariableKind kSubmitter = VariableKind::submitter;
inline constexpr VariableUse kUsed = VariableUse::used;
inline constexpr VariableUse kRequired = VariableUse::required;

}  // namespace hpcboot
