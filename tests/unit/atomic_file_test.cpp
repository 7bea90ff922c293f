#include "record/atomic_file.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "record/disk_sync.hpp"
#include "support/errors.hpp"
#include "support/file_size_limit.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::FileSizeLimit;
using test::read_text;
using test::TemporaryFolder;
using testing::HasSubstr;

long entries_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFile, ReplacesAFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.json";
  for (const std::string text : {"first, the longer one\n", "second\n", ""}) {
    write_file_atomically(path, text);
    EXPECT_EQ(read_text(path), text);
    EXPECT_EQ(entries_in(folder.path()), 1);
  }
}

TEST(AtomicFile, IsInvisibleUntilCommitted) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(read_text(path), "old") << "an uncommitted file must change nothing";
  EXPECT_EQ(entries_in(folder.path()), 1);
}

TEST(AtomicFile, TwoWritersDoNotMix) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  AtomicFile first(path);
  AtomicFile second(path);
  first.write("first", 5);
  second.write("second", 6);
  first.commit();
  EXPECT_EQ(read_text(path), "first");
  second.commit();
  EXPECT_EQ(read_text(path), "second");
}

// On another host of a shared file system a process with the same id may be at the same count.
TEST(AtomicFile, AWriterOnAnotherHostOfTheSameTemporaryNameDoesNotMix) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  const std::string last = AtomicFile(path).temporary().string();
  const std::size_t count = last.rfind('-') + 1;
  const fs::path next =
      last.substr(0, count) + std::to_string(std::stoul(last.substr(count)) + 1) + ".tmp";
  std::ofstream other(next);
  other << "the other host's, half" << std::flush;
  {
    AtomicFile file(path);
    EXPECT_NE(file.temporary(), next);
    file.write("this host's", 11);
    file.commit();
  }
  EXPECT_EQ(read_text(path), "this host's");
  other << " and whole" << std::flush;
  fs::rename(next, path);
  EXPECT_EQ(read_text(path), "the other host's, half and whole");
}

TEST(AtomicFile, FollowsTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_file_atomically(folder.path() / "file", "x");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.path() / "file").permissions(), fs::perms{0640});
}

TEST(AtomicFile, AFullDiskIsAnErrorThatKeepsTheOldFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.json";
  write_file_atomically(path, "old");
  const auto error = [&] {
    const FileSizeLimit limit(1000);
    return error_of([&] { write_file_atomically(path, std::string(5000, 'x')); });
  }();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr(path.string()));
  EXPECT_THAT(error->found(), HasSubstr("File too large"));
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(entries_in(folder.path()), 1) << "a temporary file was left behind";
}

TEST(AtomicFile, AMissingFolderIsNamed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "missing" / "run.json";
  const auto error = error_of([&] { write_file_atomically(path, "x"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr(path.string() + "': No such file or directory"));
}

TEST(AtomicFile, AMissingPermissionIsNamed) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms{0555});
  const test::WithoutRoot user;
  if (!user.bound()) GTEST_SKIP() << "root cannot become another user here";
  const auto error = error_of([&] { write_file_atomically(folder.path() / "run.json", "x"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr("Permission denied"));
  EXPECT_THAT(error->remedy(), HasSubstr("permission"));
}

TEST(AtomicFile, ATargetThatIsAFolderIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "run.json" / "inside");
  const auto error = error_of([&] { write_file_atomically(folder.path() / "run.json", "x"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->found(), HasSubstr("Is a directory"));
  EXPECT_EQ(entries_in(folder.path()), 1);
}

TEST(NamedFile, AFullDeviceIsAnError) {
  const auto error = error_of([] { write_named_file("/dev/full", "x"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error->found(), HasSubstr("/dev/full': No space left on device"));
}

TEST(DiskSync, AFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  const auto error = error_of([&] { sync_folder(folder.path() / "gone"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unwritable_output);
}

}  // namespace
}  // namespace hpcboot::record
