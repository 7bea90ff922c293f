#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/env.hpp"

// HPCBOOT_EXPORTED records which variables hpcboot exported, with which values and for which
// launch: a launcher started later inherits them, although they do not belong to its launch.
namespace hpcboot {

inline constexpr const char* kExportMark = "HPCBOOT_EXPORTED";

// The mark of `variables`, exported into `env`.
std::string export_mark(const std::vector<std::pair<std::string, std::string>>& variables,
                        const Env& env);

// The variables that hpcboot exported and that have not changed since.
std::vector<std::string> marked_exports(const Env& env);

// The subset exported for a launch other than the one that `env` identifies.
std::vector<std::string> foreign_exports(const Env& env);

// All that hpcboot exported, if it did so for the launch that `env` identifies and nothing has
// changed or unset one of them since; else none.
std::vector<std::string> own_exports(const Env& env);

// `env` as resolve() reads it: if there are foreign exports, without them and without the mark.
Env without_foreign_exports(const Env& env);

// Removes what hpcboot exports for a launch: placement, endpoint, the variables of `hpcboot run`,
// the mark. Interfaces stay: they belong to the host.
void forget_launch(std::map<std::string, std::string>& variables);

// `env` without the variables `names`.
Env without(const Env& env, const std::vector<std::string>& names);

}  // namespace hpcboot
