#pragma once

#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot {

// Where users keep their settings: $XDG_CONFIG_HOME, else ~/.config. The XDG Base Directory
// Specification: relative paths are to be ignored. Empty if neither is set.
inline std::string config_folder(const Env& env) {
  if (const auto config = env.text("XDG_CONFIG_HOME"); config && config->front() == '/')
    return std::string(*config);
  if (const auto home = env.text("HOME"); home && home->front() == '/')
    return std::string(*home) + "/.config";
  return {};
}

}  // namespace hpcboot
