#pragma once

#include <optional>
#include <string>

#include "hpcboot/env.hpp"
#include "secret.hpp"

// Secrets that lie in files: one that the user names, and one that hpcboot keeps for the user. They
// hold at least 16 characters; blanks and line ends around them do not count.
namespace hpcboot::rendezvous {

// The file that HPCBOOT_RENDEZVOUS_SECRET_FILE names; nullopt if it names none. It belongs to this
// user or to root and is closed to others; a group may read one of root's, as platforms mount it.
// @throws Error{unreadable_file, malformed_file}
std::optional<Secret> named_secret(const Env& env);

// Where the user's own key lies: hpcboot/rendezvous.key in $XDG_CONFIG_HOME or ~/.config. Empty if
// HOME is not set.
std::string key_path(const Env& env);

// The same for this host alone: hpcboot/rendezvous.HOST.key.
std::string host_key_path(const Env& env);

// Is the folder where the key would lie, or the first above it that there is, on a file system that
// other hosts see as well (NFS, Lustre, GPFS and their like)?
bool is_on_network_file_system(const std::string& path);

// False only if there is certainly no file.
bool may_have_key(const std::string& path);

// The key there; nullopt with a reason if there is none. It is this user's, with mode 0600.
// @throws Error{unreadable_file, malformed_file} for one that others can read or own
std::optional<Secret> read_key(const std::string& path, std::string& reason);

// Makes one of 32 random bytes, whole at once, and never in the place of another: two that do this
// at the same time get one key. @return false with a reason if the folder cannot be written
bool make_key(const std::string& path, std::string& reason);

}  // namespace hpcboot::rendezvous
