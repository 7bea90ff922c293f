#include "record/run_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/waiting_process.hpp"

namespace {
int flock_error = 0;  // the error with which flock() fails; 0: it works
}

// Replaces the C library's function in this program.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (flock_error == 0) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = flock_error;
  return -1;
}

namespace hpcboot::record {
namespace {

class WithoutLocks : public ::testing::TestWithParam<int> {
 protected:
  WithoutLocks() { flock_error = GetParam(); }
  ~WithoutLocks() override { flock_error = 0; }

  RunLock::Attempt take(const LockHolder& self) { return RunLock::try_take(folder_.path(), self); }
  /// Takes the folder and leaves the file as a crash would.
  void take_and_crash(const LockHolder& holder) {
    auto attempt = take(holder);
    ASSERT_TRUE(attempt.lock);
    const std::string text = test::read_text(RunLock::file(folder_.path()));
    attempt.lock.reset();
    std::ofstream(RunLock::file(folder_.path())) << text;
  }

  const test::TemporaryFolder folder_;
};

TEST(RunLock, HasOneHolder) {
  const test::TemporaryFolder folder;
  const LockHolder self{"n1", 12, "4711"};
  EXPECT_FALSE(RunLock::last_holder(folder.path()));
  {
    const auto first = RunLock::try_take(folder.path(), self);
    ASSERT_TRUE(first.lock);
    EXPECT_TRUE(first.has_locks);
    const auto second = RunLock::try_take(folder.path(), {"n2", 13, ""});
    EXPECT_FALSE(second.lock);
    EXPECT_TRUE(second.has_locks);
    const auto holder = RunLock::last_holder(folder.path());
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->host, "n1");
    EXPECT_EQ(holder->pid, 12);
    EXPECT_EQ(holder->job_id, "4711");
  }
  EXPECT_FALSE(RunLock::last_holder(folder.path()));
  EXPECT_TRUE(RunLock::try_take(folder.path(), self).lock);
}

TEST(RunLock, IsNeverAFileOfAnotherPlace) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine";
  std::ofstream(file) << "text";
  const std::filesystem::path run = folder.path() / "run";
  std::filesystem::create_directory(run);
  const auto take = [&] { RunLock::try_take(run, {"n1", 12, ""}); };
  std::filesystem::create_symlink(file, RunLock::file(run));
  test::expect_error(ErrorCode::unwritable_output, take, "run.lock' is a symbolic link");
  EXPECT_EQ(test::read_text(file), "text");
  std::filesystem::remove(RunLock::file(run));
  ASSERT_EQ(::mkfifo(RunLock::file(run).c_str(), 0600), 0);
  test::expect_error(ErrorCode::unwritable_output, take, "run.lock' is no regular file");
}

TEST(RunLock, ThatFailsForAnotherReasonIsAnErrorAndLeavesTheFile) {
  const test::TemporaryFolder folder;
  const auto held = RunLock::try_take(folder.path(), {"n1", 12, ""});
  flock_error = EIO;
  test::expect_error(
      ErrorCode::unwritable_output,
      [&] {
        RunLock::try_take(folder.path(), {"n1", 13, ""});
      },
      "run.lock");
  flock_error = 0;
  EXPECT_TRUE(RunLock::last_holder(folder.path()));
}

TEST_P(WithoutLocks, AFolderIsTakenAndReleasedCleanly) {
  {
    const auto attempt = take({"n1", getpid(), ""});
    EXPECT_TRUE(attempt.lock);
    EXPECT_FALSE(attempt.has_locks);
  }
  const auto next = take({"n2", 1, ""});
  EXPECT_TRUE(next.lock);
  EXPECT_FALSE(next.has_locks);
}

TEST_P(WithoutLocks, AProcessOfThisHostHoldsItWhileItLives) {
  test::WaitingProcess holder;
  take_and_crash({"n1", holder.pid(), "4711"});
  const auto refused = take({"n1", getpid(), ""});
  EXPECT_FALSE(refused.lock);
  EXPECT_FALSE(refused.has_locks);
  EXPECT_FALSE(take({"n1", getpid(), "4711"}).lock) << "two programs of one job";
  EXPECT_EQ(RunLock::last_holder(folder_.path())->pid, holder.pid())
      << "the file is left as it was";
  holder.end();
  EXPECT_TRUE(take({"n1", getpid(), ""}).lock);
}

TEST_P(WithoutLocks, AnotherProgramWithItsNumberDoesNot) {
  pid_t other = 0;
  char name[] = "sleep";
  char seconds[] = "60";
  char* const command[] = {name, seconds, nullptr};
  ASSERT_EQ(posix_spawnp(&other, name, nullptr, nullptr, command, environ), 0);
  take_and_crash({"n1", other, ""});
  EXPECT_TRUE(take({"n1", getpid(), ""}).lock);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_P(WithoutLocks, AnotherHostHoldsItExceptForTheSameJobRequeued) {
  take_and_crash({"n1", 12, "4711"});
  EXPECT_FALSE(take({"n2", 13, ""}).lock);
  EXPECT_FALSE(take({"n2", 13, "4712"}).lock);
  EXPECT_TRUE(take({"n2", 13, "4711"}).lock);
}

TEST_P(WithoutLocks, RemovingTheFileFreesIt) {
  take_and_crash({"n1", 12, ""});
  ASSERT_FALSE(take({"n2", 13, ""}).lock);
  std::filesystem::remove(RunLock::file(folder_.path()));
  EXPECT_TRUE(take({"n2", 13, ""}).lock);
}

INSTANTIATE_TEST_SUITE_P(RunLock, WithoutLocks, ::testing::Values(ENOLCK, EOPNOTSUPP, ENOSYS));

}  // namespace
}  // namespace hpcboot::record
