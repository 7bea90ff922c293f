// Processes that meet in a shared folder and are more, or fewer, than the ranks of one launch:
// other launches in the same folder, a rank that is started twice, and what dead processes leave.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include "rendezvous/file.hpp"
#include "support/expect_error.hpp"
#include "support/file_ranks.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::has_succeeded;
using test::start_process;
using Kvs = std::unique_ptr<KeyValueStore>;

class SecondFileKvs : public testing::Test {
 protected:
  Kvs open(int rank, int world_size = 2, std::chrono::milliseconds deadline = 20s) const {
    return open_file_kvs({folder_.path(), "a/launch", rank, world_size, silence_}, deadline);
  }

  std::future<Kvs> open_soon(int rank, int world_size = 2) const {
    return std::async(std::launch::async, [=] { return open(rank, world_size); });
  }

  std::array<Kvs, 2> open_two() const {
    std::future<Kvs> one = open_soon(1);
    Kvs zero = open(0);
    return {std::move(zero), one.get()};
  }

  void expect_second(int rank, const std::function<void()>& call) const {
    test::expect_error(ErrorCode::exchange_failed, call,
                       "two processes are rank " + std::to_string(rank) + " of ",
                       folder_.path().string(), "launches that use a folder at the same time",
                       "HPCBOOT_EXCHANGE_DIR");
  }

  // Waits for a file whose name begins so.
  void await_file(const std::string& beginning) const {
    for (const auto end = std::chrono::steady_clock::now() + 60s;
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(1ms)) {
      std::error_code ignored;  // a folder that is removed meanwhile
      for (fs::recursive_directory_iterator it(folder_.path(), ignored), none; it != none;
           it.increment(ignored)) {
        if (it->path().filename().string().rfind(beginning, 0) == 0) return;
      }
    }
    FAIL() << "no " << beginning;
  }

  void expect_nothing_remains() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      ADD_FAILURE() << entry.path();
  }

  test::TemporaryFolder folder_;
  std::chrono::milliseconds silence_ = 5s;  // less if a process is known to be dead
};

void kill_process(pid_t process) {
  ::kill(process, SIGKILL);
  EXPECT_FALSE(has_succeeded(process));
}

TEST_F(SecondFileKvs, OtherLaunchesFailAndSoDoesTheOneThatTheyDisturb) {
  {
    const auto first = open_two();
    for (int launch = 0; launch < 2; ++launch) {
      for (const int rank : {1, 0}) expect_second(rank, [&] { open(rank); });
    }
    for (const Kvs& kvs : first) expect_second(0, [&] { kvs->fence(20s); });
  }
  expect_nothing_remains();
}

// Launches that nothing distinguishes may be mixed. But at one time there is one process of each
// rank, and the others fail: here they all wait until the last one has met others or has failed.
TEST_F(SecondFileKvs, OfThreeLaunchesAtOneTimeTwoRanksMeetAtMost) {
  constexpr int kLaunches = 3;
  constexpr int kProcesses = 2 * kLaunches;
  struct Shared {
    std::atomic<int> arrived{0};
    std::array<std::atomic<int>, kProcesses> peers{};  // of each process; 0: it failed
    std::atomic<int> strange_errors{0};
  };
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (int round = 0; round < 5; ++round) {
    auto* shared = new (memory) Shared;
    const auto take_part = [&](int process) {
      const int rank = process % 2;
      Kvs kvs;
      try {
        kvs = open(rank, 2, 5s);
      } catch (const Error&) {
        ++shared->arrived;
        throw;
      }
      ++shared->arrived;
      while (shared->arrived < kProcesses) std::this_thread::sleep_for(1ms);
      kvs->put("process", std::to_string(process));
      const int peer = std::stoi(kvs->get(1 - rank, "process", 20s));
      kvs->fence(20s);
      shared->peers.at(static_cast<std::size_t>(process)) = 1 + peer;
    };
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
      children.push_back(start_process([&] {
        try {
          take_part(process);
        } catch (const Error& error) {
          const bool is_known = error.found().rfind("two processes are rank ", 0) == 0 ||
                                error.found().find(" did not arrive at ") != std::string::npos;
          if (!is_known) ++shared->strange_errors;
          throw;
        }
      }));
    }
    int met = 0;
    for (const pid_t child : children) met += has_succeeded(child) ? 1 : 0;
    EXPECT_TRUE(met == 0 || met == 2) << met;
    EXPECT_EQ(shared->strange_errors, 0);
    for (int process = 0; process < kProcesses; ++process) {
      const int peer = shared->peers.at(static_cast<std::size_t>(process)) - 1;
      if (peer < 0) continue;
      EXPECT_NE(peer % 2, process % 2);
      EXPECT_EQ(shared->peers.at(static_cast<std::size_t>(peer)) - 1, process);
    }
    expect_nothing_remains();
  }
  ::munmap(memory, sizeof(Shared));
}

TEST_F(SecondFileKvs, ARankThatIsStartedTwiceFailsTheLaunch) {
  {
    std::future<Kvs> zero = open_soon(0, 3);
    const Kvs one = open(1, 3);
    expect_second(1, [&] { open(1, 3); });
    expect_second(1, [&] { zero.get(); });
    expect_second(1, [&] { one->get(0, "key", 20s); });
  }
  expect_nothing_remains();
}

// Otherwise programs would start without rank 0's.
TEST_F(SecondFileKvs, NoRankPassesAFenceAtWhichRankZeroFails) {
  {
    const pid_t zero = start_process([&] {
      const Kvs kvs = open(0, 3);
      expect_second(1, [&] { kvs->fence(20s); });
      if (HasFailure()) throw std::runtime_error("rank 0 passed");
    });
    std::future<Kvs> opened = open_soon(2, 3);
    const Kvs one = open(1, 3);
    const Kvs two = opened.get();
    const auto fence_of = [](const Kvs& kvs) {
      return std::async(std::launch::async, [&kvs] { kvs->fence(20s); });
    };
    std::future<void> of_one = fence_of(one);
    await_file("fence-1-0");
    ::kill(zero, SIGSTOP);
    std::future<Kvs> again = open_soon(1, 3);
    await_file("second");
    std::future<void> of_two = fence_of(two);
    EXPECT_EQ(of_two.wait_for(300ms), std::future_status::timeout);
    ::kill(zero, SIGCONT);
    EXPECT_TRUE(has_succeeded(zero));
    expect_second(1, [&] { again.get(); });
    for (auto* fence : {&of_one, &of_two}) expect_second(1, [&] { fence->get(); });
  }
  expect_nothing_remains();
}

TEST_F(SecondFileKvs, RanksThatWaitFollowARankZeroThatIsStartedAgain) {
  silence_ = 500ms;
  {
    const pid_t killed = start_process([&] { open(0, 3); });
    const Kvs one = open(1, 3);
    one->put("key", "of 1");
    auto value = std::async(std::launch::async, [&] { return one->get(0, "key", 20s); });
    kill_process(killed);
    std::future<Kvs> two = open_soon(2, 3);
    const Kvs zero = open(0, 3);
    zero->put("key", "of 0");
    EXPECT_EQ(value.get(), "of 0");
    EXPECT_EQ(two.get()->get(1, "key", 20s), "of 1");
  }
  expect_nothing_remains();
}

TEST_F(SecondFileKvs, ARankThatHasReadValuesDoesNotMixThemWithThoseOfANewRankZero) {
  silence_ = 500ms;
  const pid_t killed = start_process([&] {
    const Kvs zero = open(0);
    zero->put("first", "old");
    ::pause();
  });
  const Kvs one = open(1);
  EXPECT_EQ(one->get(0, "first", 20s), "old");
  kill_process(killed);
  const pid_t again = start_process([&] { open(0); });
  test::expect_error(
      ErrorCode::exchange_failed, [&] { one->get(0, "second", 20s); }, "was started again",
      "start all ranks again");
  kill_process(again);
}

TEST_F(SecondFileKvs, WhatKilledRanksLeftIsReplacedAndRemoved) {
  silence_ = 500ms;
  const auto stay_there = [&](int rank) {
    const Kvs kvs = open(rank);
    kvs->put("key", "old");
    ::pause();
  };
  const pid_t zero = start_process([&] { stay_there(0); });
  const pid_t one = start_process([&] { stay_there(1); });
  await_file("value-0");
  await_file("value-1");
  kill_process(zero);
  kill_process(one);
  {
    const auto next = open_two();
    next[0]->put("key", "new");
    EXPECT_EQ(next[1]->get(0, "key", 20s), "new");
    next[1]->put("key", "new");
    EXPECT_EQ(next[0]->get(1, "key", 20s), "new");
  }
  expect_nothing_remains();
}

// Its host stood still, for example.
TEST_F(SecondFileKvs, ARankZeroThatWasReplacedAndWakesFails) {
  silence_ = 500ms;
  const pid_t old = start_process([&] {
    expect_second(0, [&] { open(0); });
    if (HasFailure()) throw std::runtime_error("the old rank 0 did not fail");
  });
  await_file("beat");
  ::kill(old, SIGSTOP);
  {
    const auto next = open_two();
    ::kill(old, SIGCONT);
    EXPECT_TRUE(has_succeeded(old));
    std::future<void> fence = std::async(std::launch::async, [&] { next[1]->fence(20s); });
    next[0]->fence(20s);
    fence.get();
  }
  expect_nothing_remains();
}

TEST_F(SecondFileKvs, NothingIsReadableByOthersAndTheLastOneRemovesIt) {
  const mode_t before = ::umask(0);
  {
    auto ranks = open_two();
    ranks[0]->put("secret", "word");
    ranks[1]->put("key", "");
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      EXPECT_EQ(entry.status().permissions(),
                fs::perms::owner_read | fs::perms::owner_write |
                    (entry.is_directory() ? fs::perms::owner_exec : fs::perms::none))
          << entry.path();
    }
    ranks[0].reset();
    EXPECT_EQ(ranks[1]->get(0, "secret", 0ms), "word");
  }
  ::umask(before);
  expect_nothing_remains();
  EXPECT_THROW(open(0, 2, 100ms), Error);
  EXPECT_THROW(open(1, 2, 100ms), Error);
  expect_nothing_remains();
}

// A rank may come before all ranks of the launch before have left.
TEST_F(SecondFileKvs, TheNextLaunchWaitsForTheEndOfThisOne) {
  {
    auto ranks = open_two();
    ranks[1]->leave();
    std::future<Kvs> one = open_soon(1);
    EXPECT_EQ(one.wait_for(100ms), std::future_status::timeout);
    ranks[0]->leave();
    const Kvs zero = open(0);
    zero->put("key", "next");
    EXPECT_EQ(one.get()->get(0, "key", 20s), "next");
  }
  expect_nothing_remains();
}

}  // namespace
}  // namespace hpcboot
