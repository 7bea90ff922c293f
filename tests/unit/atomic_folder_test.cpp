#include "record/atomic_folder.hpp"

#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "record/atomic_file.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace {

bool can_exchange = true;

}  // namespace

// Instead of the system's, in this program.
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  if (!can_exchange) {
    errno = EINVAL;  // as of NFS
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::write_text;

/// A folder with one file, and the names beside it.
class AtomicFolder : public ::testing::TestWithParam<bool> {
 protected:
  AtomicFolder() { can_exchange = GetParam(); }
  ~AtomicFolder() override { can_exchange = true; }

  void write(const std::string& text) {
    const fs::path written = begin_folder(folder_);
    write_text(written / "file", text);
    complete_folder(written, folder_);
  }
  std::string text() const { return read_text(folder_ / "file"); }
  std::ptrdiff_t names() const {
    return std::distance(fs::directory_iterator(place_.path()), fs::directory_iterator());
  }

  const test::TemporaryFolder place_;
  const fs::path folder_ = place_.path() / "folder";
  const fs::path old_ = place_.path() / ".folder.tmp.old";
};

TEST_P(AtomicFolder, IsReplacedAsAWhole) {
  for (const char* text_of_it : {"first", "second", "third"}) {
    write(text_of_it);
    EXPECT_EQ(text(), text_of_it);
    EXPECT_EQ(names(), 1);
  }
}

TEST_P(AtomicFolder, IsReplacedAfterAnEndBeforeThePreviousOneWasRemoved) {
  write("first");
  fs::create_directories(old_ / "inner");
  write("second");
  EXPECT_EQ(text(), "second");
  EXPECT_EQ(names(), 1);
}

TEST_P(AtomicFolder, ComesBackAfterAnEndBetweenTheTwoRenames) {
  write("first");
  fs::rename(folder_, old_);
  begin_folder(folder_);
  EXPECT_EQ(text(), "first");
  write("second");
  EXPECT_EQ(text(), "second");
}

TEST_P(AtomicFolder, DoesNotComeBackOnceItIsRemoved) {
  write("first");
  fs::create_directories(old_);
  remove_folder(folder_);
  EXPECT_EQ(names(), 0);
  begin_folder(folder_);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_P(AtomicFolder, HasOneWriterAtATime) {
  {
    const WriterLock alone(folder_);
    test::expect_error(
        ErrorCode::unwritable_output, [&] { const WriterLock other(folder_); },
        "another process is writing '" + folder_.string() + "'");
  }
  EXPECT_EQ(names(), 0) << "the lock's file is gone";
  const WriterLock next(folder_);
}

TEST_P(AtomicFolder, TheNextWriterRemovesWhatKilledOnesLeft) {
  const fs::path left = unfinished_name(folder_);
  fs::create_directories(left / "deeper");
  write_text(unfinished_name(folder_), "a file");
  const std::string name = folder_.filename().string();
  const auto other = {"." + name + ".1-x.tmp", "." + name + ".1.tmp", "." + name + "x.1-1.tmp",
                      "." + name + ".1-1",     name + ".1-1.tmp",     "." + name + "..tmp",
                      "." + name + ".-.tmp",   "." + name + ".tmp"};
  for (const std::string& one : other) write_text(place_.path() / one, "another's");
  { const WriterLock alone(folder_); }
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(names(), static_cast<long>(other.size()));
}

TEST_P(AtomicFolder, AWriterThatIsTurnedAwayRemovesNothing) {
  const WriterLock alone(folder_);
  const fs::path in_progress = unfinished_name(folder_);
  fs::create_directories(in_progress);
  test::expect_error(
      ErrorCode::unwritable_output, [&] { const WriterLock other(folder_); }, "another process");
  EXPECT_TRUE(fs::exists(in_progress));
}

INSTANTIATE_TEST_SUITE_P(Exchange, AtomicFolder, ::testing::Bool());

}  // namespace
}  // namespace hpcboot::record
