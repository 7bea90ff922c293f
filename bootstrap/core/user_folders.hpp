#pragma once

#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot {

// A folder of the XDG Base Directory Specification: the value of `variable`, else `below_home` in
// the user's home. Relative paths are ignored, as the specification requires. Empty if neither is
// set.
inline std::string user_folder(const Env& env, std::string_view variable,
                               const std::string& below_home) {
  if (const auto named = env.text(variable); named && named->front() == '/')
    return std::string(*named);
  if (const auto home = env.text("HOME"); home && home->front() == '/')
    return std::string(*home) + below_home;
  return {};
}

// Where users keep their settings.
inline std::string config_folder(const Env& env) {
  return user_folder(env, "XDG_CONFIG_HOME", "/.config");
}

// Where programs keep state between runs.
inline std::string state_folder(const Env& env) {
  return user_folder(env, "XDG_STATE_HOME", "/.local/state");
}

}  // namespace hpcboot
