#include "core/file_system.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include <tuple>

#include "support/grouping_locale.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

FileSystem of_type(std::uint32_t type) {
  struct statfs status {};
  status.f_type = static_cast<decltype(status.f_type)>(type);
  return file_system_of(status);
}

TEST(FileSystem, HasOneNumberInEveryLocale) {
  const test::GroupingLocale with_commas(',');
  EXPECT_EQ(of_type(0x12345678).name, "file system 0x12345678");
}

TEST(FileSystem, IsToldByItsNumber) {
  for (const auto& [type, name, seen_by] :
       {std::tuple{std::uint32_t{EXT4_SUPER_MAGIC}, "ext", SeenBy::this_host},
        {XFS_SUPER_MAGIC, "xfs", SeenBy::this_host},
        {BTRFS_SUPER_MAGIC, "btrfs", SeenBy::this_host},
        {0x2fc12fc1, "zfs", SeenBy::this_host},
        {TMPFS_MAGIC, "tmpfs", SeenBy::this_host},
        {RAMFS_MAGIC, "ramfs", SeenBy::this_host},
        {OVERLAYFS_SUPER_MAGIC, "overlay", SeenBy::this_host},
        {NFS_SUPER_MAGIC, "nfs", SeenBy::many_hosts},
        {0x0bd00bd0, "lustre", SeenBy::many_hosts},
        {0x47504653, "gpfs", SeenBy::many_hosts},
        {0x19830326, "beegfs", SeenBy::many_hosts},
        {0x00c36400, "ceph", SeenBy::many_hosts},
        {0x18031977, "weka", SeenBy::many_hosts},
        {0xaad7aaea, "panfs", SeenBy::many_hosts},
        {0x20030528, "orangefs", SeenBy::many_hosts},
        {AFS_SUPER_MAGIC, "afs", SeenBy::many_hosts},
        {AFS_FS_MAGIC, "afs", SeenBy::many_hosts},
        {CODA_SUPER_MAGIC, "coda", SeenBy::many_hosts},
        {0x7461636f, "ocfs2", SeenBy::many_hosts},
        {0x01161970, "gfs2", SeenBy::many_hosts},
        {0xff534d42, "cifs", SeenBy::many_hosts},
        {0xfe534d42, "smb2", SeenBy::many_hosts},
        {SMB_SUPER_MAGIC, "smb", SeenBy::many_hosts},
        {V9FS_MAGIC, "9p", SeenBy::many_hosts},
        {0x65735546, "fuse", SeenBy::unknown},
        {0x12345678, "file system 0x12345678", SeenBy::unknown}}) {
    EXPECT_EQ(of_type(type).name, name);
    EXPECT_EQ(of_type(type).seen_by, seen_by) << name;
  }
}

TEST(FileSystem, IsThatOfThePath) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(file_system_at(folder.path() / "none"));
  struct statfs status {};
  ASSERT_EQ(statfs(folder.path().c_str(), &status), 0);
  const auto found = file_system_at(folder.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, file_system_of(status).name);
  EXPECT_EQ(found->seen_by, file_system_of(status).seen_by);
}

}  // namespace
}  // namespace hpcboot
