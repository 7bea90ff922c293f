#pragma once

#include <optional>
#include <string>

#include "hpcboot/env.hpp"
#include "secret.hpp"

// Secrets in files: one that the user names, and one that hpcboot keeps for the user. They contain
// at least 16 characters; leading and trailing white space is ignored.
namespace hpcboot::rendezvous {

// The secret in the file that HPCBOOT_RENDEZVOUS_SECRET_FILE names; nullopt if the variable is not
// set. The file must belong to this user or to root, without access for others; a group may read
// one of root, as platforms mount it.
// @throws Error{unreadable_file, malformed_file}
std::optional<Secret> named_secret(const Env& env);

// The path of the user's own key: hpcboot/rendezvous.key in $XDG_CONFIG_HOME or ~/.config. Empty if
// HOME is not set.
std::string key_path(const Env& env);

// The same for this host only: hpcboot/rendezvous.HOST.key.
std::string host_key_path(const Env& env);

// Is the key's folder, or its nearest existing parent, on a file system shared with other hosts
// (NFS, Lustre, GPFS and similar)?
bool is_on_network_file_system(const std::string& path);

// False only if the file certainly does not exist.
bool may_have_key(const std::string& path);

// Reads a key; nullopt with a reason if there is none. It must belong to this user, with mode 0600.
// @throws Error{unreadable_file, malformed_file} for a key that others own or can read
std::optional<Secret> read_key(const std::string& path, std::string& reason);

// Creates a key of 32 random bytes, atomically and without replacing an existing one: two processes
// that do this concurrently get the same key. @return false with a reason if the folder cannot be
// written
bool make_key(const std::string& path, std::string& reason);

}  // namespace hpcboot::rendezvous
