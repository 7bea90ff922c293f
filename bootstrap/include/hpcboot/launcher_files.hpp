#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/launch_source.hpp"

// Launchers described by files (find_package(hpcboot COMPONENTS launchers); the keys of such a file
// are documented in bootstrap/README.md). Pass the result to add_launchers() to make it known to
// resolve().
namespace hpcboot {

/// The longest file, in bytes.
constexpr std::size_t kLongestLauncherFile = std::size_t{64} << 10U;

/// Reads one file, of any location and owner: the caller has chosen it.
/// @throws Error{unreadable_file}, also if it is not a regular file or longer than
///         kLongestLauncherFile; Error{malformed_file} naming file, line and key;
///         Error{backend_unavailable} in a build without toml++
DescribedLauncher read_launcher_file(const std::string& path);

/// The folders that are searched for NAME.toml: those of HPCBOOT_LAUNCHER_PATH, separated by
/// colons, then $XDG_CONFIG_HOME/hpcboot/launchers, by default ~/.config/hpcboot/launchers. An
/// empty element is ignored; it never means the current folder.
/// @throws Error{malformed_value} for a relative element of HPCBOOT_LAUNCHER_PATH
std::vector<std::string> launcher_folders(const Env& env);

/// Reads every NAME.toml in launcher_folders(). The folders of HPCBOOT_LAUNCHER_PATH must exist.
/// @throws what read_launcher_file() throws; Error{unreadable_file} for a file or folder that
///         belongs neither to this user nor to root or is writable by group or others, and for a
///         symbolic link to a file
std::vector<DescribedLauncher> read_user_launchers(const Env& env);

}  // namespace hpcboot
