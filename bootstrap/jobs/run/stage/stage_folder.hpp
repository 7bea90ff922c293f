#pragma once

#include <string>

#include "hpcboot/env.hpp"
#include "lock_file.hpp"

// The folder of one run for what is staged, on this host's own disk. It has the copy in a folder
// `data`, and three files: `users` is locked by all who use the copy, `leaving` by one of them who
// leaves, and `keeper` by the process that copies and, when nobody uses it any more, removes it.
namespace hpcboot::run {

// The first of HPCBOOT_STAGE_DIR, SLURM_TMPDIR, TMPDIR and /tmp that can be written to and lies on
// no network.
// @throws Error{unwritable_output}
std::string stage_base(const Env& env);

// @param launch_id of the run, which nobody else can guess
// @throws Error{malformed_value} if it is no word of letters and digits
std::string stage_folder(const std::string& base, const std::string& launch_id);

// Makes the folder, unless it is there, and takes part in its use.
// @throws Error{unwritable_output} also where something of another user's has the name
LockFile use_stage_folder(const std::string& folder);

// What nobody uses any more, but for the locks. @throws nothing
void remove_stage_folder(const std::string& folder);

// Removes it if it has neither users nor a keeper. @return whether it is gone
bool remove_if_unused(const std::string& folder);

// What earlier runs of this user have left in `base` on this host: all of their processes were
// killed at once.
void remove_left_behind(const std::string& base);

}  // namespace hpcboot::run
