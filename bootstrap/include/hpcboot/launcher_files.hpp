#pragma once

#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/launch_source.hpp"

// Launchers that files describe (find_package(hpcboot COMPONENTS launchers); bootstrap/README.md
// has the keys of such a file). What is read here becomes known to resolve() by add_launchers().
namespace hpcboot {

/// The longest file, in bytes.
constexpr std::size_t kLongestLauncherFile = std::size_t{64} << 10U;

/// Reads one file, wherever it lies and whoever owns it: the caller has chosen it.
/// @throws Error{unreadable_file}, also for what is no regular file or longer than
///         kLongestLauncherFile; Error{malformed_file} naming file, line and key;
///         Error{backend_unavailable} in a build without toml++
DescribedLauncher read_launcher_file(const std::string& path);

/// The folders that are searched for NAME.toml: those of HPCBOOT_LAUNCHER_PATH, separated by
/// colons, then $XDG_CONFIG_HOME/hpcboot/launchers, by default ~/.config/hpcboot/launchers. An
/// empty element is no folder, and never the current one.
/// @throws Error{malformed_value} for a relative element of HPCBOOT_LAUNCHER_PATH
std::vector<std::string> launcher_folders(const Env& env);

/// Reads every NAME.toml of launcher_folders(). A folder of HPCBOOT_LAUNCHER_PATH has to be there.
/// @throws what read_launcher_file() throws; Error{unreadable_file} for a file or a folder that
///         belongs neither to this user nor to root, or that group or others may write, and for a
///         symbolic link to a file
std::vector<DescribedLauncher> read_user_launchers(const Env& env);

}  // namespace hpcboot
