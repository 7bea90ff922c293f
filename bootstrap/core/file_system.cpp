#include "file_system.hpp"

#include <cstdint>
#include <sstream>

#include "core/classic.hpp"

namespace hpcboot {
namespace {

struct KnownFileSystem {
  std::uint32_t magic;
  const char* name;
  SeenBy seen_by;
};

// Numbers from statfs(2), linux/magic.h and, for file systems outside the kernel, from their own
// sources.
constexpr KnownFileSystem kKnownFileSystems[] = {
    {0xef53, "ext", SeenBy::this_host},
    {0x58465342, "xfs", SeenBy::this_host},
    {0x9123683e, "btrfs", SeenBy::this_host},
    {0x2fc12fc1, "zfs", SeenBy::this_host},
    {0x01021994, "tmpfs", SeenBy::this_host},
    {0x858458f6, "ramfs", SeenBy::this_host},
    {0x794c7630, "overlay", SeenBy::this_host},
    {0x6969, "nfs", SeenBy::many_hosts},
    {0x0bd00bd0, "lustre", SeenBy::many_hosts},
    {0x47504653, "gpfs", SeenBy::many_hosts},
    {0x19830326, "beegfs", SeenBy::many_hosts},
    {0x00c36400, "ceph", SeenBy::many_hosts},
    {0x18031977, "weka", SeenBy::many_hosts},
    {0xaad7aaea, "panfs", SeenBy::many_hosts},
    {0x20030528, "orangefs", SeenBy::many_hosts},
    {0x5346414f, "afs", SeenBy::many_hosts},  // OpenAFS
    {0x6b414653, "afs", SeenBy::many_hosts},  // the kernel's own client
    {0x73757245, "coda", SeenBy::many_hosts},
    {0x7461636f, "ocfs2", SeenBy::many_hosts},
    {0x01161970, "gfs2", SeenBy::many_hosts},
    {0xff534d42, "cifs", SeenBy::many_hosts},
    {0xfe534d42, "smb2", SeenBy::many_hosts},
    {0x517b, "smb", SeenBy::many_hosts},
    {0x01021997, "9p", SeenBy::many_hosts},
    {0x65735546, "fuse", SeenBy::unknown},
};

}  // namespace

FileSystem file_system_of(const struct statfs& status) {
  // f_type is signed, and its width depends on the machine.
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  for (const KnownFileSystem& known : kKnownFileSystems) {
    if (known.magic == magic) return {known.name, known.seen_by};
  }
  Classic<std::ostringstream> name;
  name << "file system 0x" << std::hex << magic;
  return {name.str(), SeenBy::unknown};
}

std::optional<FileSystem> file_system_at(const std::string& path) {
  struct statfs status {};
  if (statfs(path.c_str(), &status) != 0) return std::nullopt;
  return file_system_of(status);
}

}  // namespace hpcboot
