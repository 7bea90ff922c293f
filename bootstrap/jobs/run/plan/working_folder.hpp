#pragma once

#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::run {

/// This process's working folder, by the name that the user's shell has for it: other hosts may not
/// have the one without symbolic links, as with a home that is a link to a host's own mount.
/// @throws Error{unreadable_file} if it no longer exists
std::string working_folder(const Env& env);

/// `path`, absolute.
/// @throws Error, as working_folder() does
std::string absolute_path(const Env& env, const std::string& path);

}  // namespace hpcboot::run
