#pragma once

#include <sys/vfs.h>

#include <optional>
#include <string>

namespace hpcboot {

/// Which hosts see the files of a file system. FUSE may serve either kind, and so may file systems
/// that hpcboot does not know.
enum class SeenBy { this_host, many_hosts, unknown };

struct FileSystem {
  std::string name;  ///< "nfs"; "file system 0x12345678" if hpcboot does not know it
  SeenBy seen_by = SeenBy::unknown;
};

/// What statfs(2) has found.
FileSystem file_system_of(const struct statfs& status);

/// As statfs(2) tells; nullopt if the path cannot be examined.
std::optional<FileSystem> file_system_at(const std::string& path);

}  // namespace hpcboot
