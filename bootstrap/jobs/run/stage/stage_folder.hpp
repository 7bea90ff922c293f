#pragma once

#include <string>

#include "hpcboot/env.hpp"
#include "lock_file.hpp"

// The folder of one run for staged data, on this host's own disk. It has the copy in a folder
// `data` and three lock files: `users` is locked by all users of the copy, `leaving` by a user that
// is leaving, and `keeper` by the process that copies and, when the copy is no longer used, removes
// it.
namespace hpcboot::run {

// The first of HPCBOOT_STAGE_DIR, SLURM_TMPDIR, TMPDIR and /tmp that is writable and not on a
// network file system.
// @throws Error{unwritable_output}
std::string stage_base(const Env& env);

// @param launch_id of the run, which other users cannot guess
// @throws Error{malformed_value} if it does not consist of letters and digits
std::string stage_folder(const std::string& base, const std::string& launch_id);

// Creates the folder if necessary and registers as a user of it.
// @throws Error{unwritable_output}, also if the name is taken by another user
LockFile use_stage_folder(const std::string& folder);

// Removes an unused folder whose locks the caller holds. @throws nothing
void remove_stage_folder(const std::string& folder);

// Removes the folder if it has neither users nor a keeper. @return whether it is gone
bool remove_if_unused(const std::string& folder);

// Removes what earlier runs of this user have left in `base` on this host, after all of their
// processes were killed at once.
void remove_left_behind(const std::string& base);

}  // namespace hpcboot::run
