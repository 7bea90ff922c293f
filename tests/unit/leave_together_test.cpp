#include "leave_together.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

namespace hpcboot::tool {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kAtOnce(300);
constexpr milliseconds kLong(20000);

Env launch() {
  return Env({{"PMIX_NAMESPACE", "prterun-n1-" + std::to_string(getpid()) + "@1/x"}});
}

// Another rank of this host, which leaves when it is told to.
class SlowRank {
 public:
  explicit SlowRank(const Env& env) {
    std::array<int, 2> here{};
    EXPECT_EQ(pipe(here.data()) + pipe(leave_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      LeaveTogether leaving(env);
      char told = 'x';
      const bool went = write(here[1], &told, 1) == 1 && read(leave_[0], &told, 1) == 1;
      _exit(went && leaving.wait(kLong) ? 0 : 1);
    }
    char came = 0;
    EXPECT_EQ(read(here[0], &came, 1), 1);
  }

  void tell() const { EXPECT_EQ(write(leave_[1], "x", 1), 1); }
  void kill_it() const { kill(pid_, SIGKILL); }

  int end() const {
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::array<int, 2> leave_{};
  pid_t pid_ = -1;
};

TEST(LeaveTogether, NobodyGoesOnBeforeAllHaveLeft) {
  const Env env = launch();
  LeaveTogether leaving(env);
  const SlowRank slow(env);
  EXPECT_FALSE(leaving.wait(kAtOnce));
  slow.tell();
  EXPECT_TRUE(leaving.wait(kLong));
  EXPECT_EQ(slow.end(), 0);
}

TEST(LeaveTogether, ARankThatDiedIsNotWaitedFor) {
  const Env env = launch();
  LeaveTogether leaving(env);
  const SlowRank killed(env);
  EXPECT_FALSE(leaving.wait(kAtOnce));
  killed.kill_it();
  EXPECT_TRUE(leaving.wait(kLong));
  killed.end();
}

TEST(LeaveTogether, LaunchesDoNotWaitForEachOther) {
  LeaveTogether leaving(launch());
  const SlowRank of_another(Env({{"PMIX_NAMESPACE", "another." + std::to_string(getpid())}}));
  EXPECT_TRUE(leaving.wait(kLong));
  of_another.tell();
  EXPECT_EQ(of_another.end(), 0);
}

TEST(LeaveTogether, LeavesNoFile) {
  const std::string file = "/dev/shm/hpcboot-" + std::to_string(getuid()) + "-prterun_n1_" +
                           std::to_string(getpid()) + "_1_x";
  {
    LeaveTogether leaving(launch());
    EXPECT_EQ(access(file.c_str(), F_OK), 0);
    EXPECT_TRUE(leaving.wait(kLong));
  }
  EXPECT_NE(access(file.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace hpcboot::tool
