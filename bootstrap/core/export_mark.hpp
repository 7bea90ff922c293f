#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/env.hpp"

// HPCBOOT_EXPORTED says which variables hpcboot exported, with which values and for which launch:
// a launcher that is started later inherits them, and they are not of its launch.
namespace hpcboot {

inline constexpr const char* kExportMark = "HPCBOOT_EXPORTED";

// The mark of `variables`, exported into `env`.
std::string export_mark(const std::vector<std::pair<std::string, std::string>>& variables,
                        const Env& env);

// The variables that hpcboot exported, and nobody has changed since.
std::vector<std::string> marked_exports(const Env& env);

// Those of them that were exported for another launch than the one whose identities stand in `env`.
std::vector<std::string> foreign_exports(const Env& env);

// `env` as resolve() reads it: without foreign exports, and without the mark.
Env without_foreign_exports(const Env& env);

// Takes out what hpcboot exports of a launch: its numbers, its endpoint, what `hpcboot run` handed
// over, the mark. Interfaces stay: they are those of the host.
void forget_launch(std::map<std::string, std::string>& variables);

// `env` without the variables `names`.
Env without(const Env& env, const std::vector<std::string>& names);

}  // namespace hpcboot
