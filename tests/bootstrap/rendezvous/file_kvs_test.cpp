// Ranks that meet in the folder HPCBOOT_EXCHANGE_DIR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <future>
#include <thread>

#include "hpcboot/error.hpp"
#include "hpcboot/key_value_store.hpp"
#include "support/errors.hpp"
#include "support/file_ranks.hpp"
#include "support/temporary_folder.hpp"
#include "support/without_threads.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::error_of;
using test::FileRanks;
using testing::AllOf;
using testing::HasSubstr;

void exchange_once(int rank, const Env& env, const std::string& round) {
  const auto kvs = open_kvs(env, 20s);
  kvs->put("key", round + std::to_string(rank));
  kvs->commit(20s);
  for (int other = 0; other < kvs->world_size(); ++other) {
    if (kvs->get(other, "key", 20s) != round + std::to_string(other))
      throw std::runtime_error("stale");
  }
  kvs->fence(20s);
}

TEST(FileKvs, RunAfterRunInOneFolderSeesItsOwnValuesOnly) {
  test::TemporaryFolder folder;
  FileRanks ranks(folder.path().string(), 4);
  for (const char* round : {"a", "b", "c"}) {
    // Rank 0 arrives last in one round, so that the others first see the files of the earlier run.
    EXPECT_EQ(ranks.run({0, 1, 2, 3},
                        [&](int rank, const Env& env) {
                          if (rank == 0 && *round == 'b') std::this_thread::sleep_for(300ms);
                          if (rank == 2 && *round == 'c') std::this_thread::sleep_for(300ms);
                          exchange_once(rank, env, round);
                        }),
              0);
  }
}

TEST(FileKvs, RankZeroNamesWhoIsMissingAlsoIfItWasThereInAnEarlierRun) {
  test::TemporaryFolder folder;
  FileRanks ranks(folder.path().string(), 3);
  ASSERT_EQ(ranks.run({0, 1, 2}, [](int r, const Env& e) { exchange_once(r, e, "a"); }), 0);
  const int failures = ranks.run({0, 1}, [](int rank, const Env& env) {
    if (rank == 1) {
      open_kvs(env, 20s);
      return;
    }
    try {
      open_kvs(env, 3s);  // rank 1 arrives within this time
    } catch (const Error& error) {
      if (error.code() == ErrorCode::deadline_exceeded &&
          error.found().rfind("rank 2 did not arrive at", 0) == 0) {
        return;
      }
    }
    throw std::runtime_error("rank 0 does not name rank 2");
  });
  EXPECT_EQ(failures, 0);
}

TEST(FileKvs, WithoutRankZeroTheDeadlineHolds) {
  test::TemporaryFolder folder;
  const FileRanks ranks(folder.path().string(), 2);
  const Error error = error_of([&] { open_kvs(ranks.env_of(1), 200ms); }).value();
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  EXPECT_THAT(error.found(), HasSubstr("rank 0 did not arrive at"));
}

// What was put before a fence is visible after it, also for the first rank that passes.
TEST(FileKvs, AFenceLetsNobodyPassBeforeAllHaveCome) {
  test::TemporaryFolder folder;
  FileRanks ranks(folder.path().string(), 3);
  const int failures = ranks.run({0, 1, 2}, [](int rank, const Env& env) {
    const auto kvs = open_kvs(env, 20s);
    for (const char* key : {"first", "second"}) {
      if (rank == 2) std::this_thread::sleep_for(300ms);
      kvs->put(key, std::to_string(rank));
      kvs->fence(20s);
      for (int other = 0; other < 3; ++other) kvs->get(other, key, 0ms);
    }
  });
  EXPECT_EQ(failures, 0);
}

TEST(FileKvs, AFenceNamesWhoDoesNotCome) {
  test::TemporaryFolder folder;
  FileRanks ranks(folder.path().string(), 3);
  const int failures = ranks.run({0, 1, 2}, [](int rank, const Env& env) {
    const auto kvs = open_kvs(env, 20s);
    if (rank == 1) return;
    const Error error = error_of([&] { kvs->fence(500ms); }).value();
    if (error.code() != ErrorCode::deadline_exceeded ||
        error.found() != "rank 1 did not arrive at a fence within 500 ms") {
      throw std::runtime_error(error.found());
    }
  });
  EXPECT_EQ(failures, 0);
}

// Anyone who can write at the meeting place can act as rank 0.
TEST(FileKvs, AMeetingPlaceOfOthersIsRefused) {
  test::TemporaryFolder folder;
  const FileRanks ranks(folder.path().string(), 2);
  ::chmod(folder.path().c_str(), 01777);
  std::string place;
  {
    auto other = std::async(std::launch::async, [&] { return open_kvs(ranks.env_of(1), 20s); });
    const auto kvs = open_kvs(ranks.env_of(0), 20s);
    ASSERT_NE(other.get(), nullptr);
    place = fs::directory_iterator(folder.path())->path();
    struct stat status {};
    ASSERT_EQ(::stat(place.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
  }
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  const auto refused = [&](const char* found) {
    for (const int rank : {0, 1}) {
      const Error error = error_of([&] { open_kvs(ranks.env_of(rank), 200ms); }).value();
      EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
      EXPECT_THAT(error.found(), AllOf(HasSubstr(place), HasSubstr(found)));
      EXPECT_THAT(error.remedy(), HasSubstr("HPCBOOT_EXCHANGE_DIR"));
    }
  };
  for (const mode_t mode : {0777U, 0750U, 0701U}) {
    ::chmod(place.c_str(), mode);
    refused("is accessible to others");
  }
  ::chmod(place.c_str(), 0700);
  ::rename(place.c_str(), (place + ".moved").c_str());
  ASSERT_EQ(::symlink((place + ".moved").c_str(), place.c_str()), 0);
  refused("cannot be opened as a folder");
  ::unlink(place.c_str());
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  ASSERT_EQ(::chown(place.c_str(), 12345, 12345), 0);
  refused("belongs to the user 12345");
}

// A key is a part of a file's name, and of PMI's names of 63 bytes.
TEST(FileKvs, TakesWhatEveryBackEndTakes) {
  test::TemporaryFolder folder;
  const auto kvs = open_kvs(FileRanks(folder.path().string(), 1).env_of(0), 20s);
  const std::string value("ab\0cd", 5);
  for (const std::string& key :
       {std::string(32, 'k'), std::string(10, '/'), std::string(1, '\0')}) {
    kvs->put(key, value);
    EXPECT_EQ(kvs->get(0, key, 20s), value);
  }
  for (const std::string& key : {std::string(), std::string(33, 'k'), std::string(11, '/')}) {
    const Error of_put = error_of([&] { kvs->put(key, value); }).value();
    EXPECT_EQ(of_put.code(), ErrorCode::exchange_failed);
    EXPECT_THAT(of_put.found(), HasSubstr(key.empty() ? "has 0 bytes" : "has 33 bytes"));
    EXPECT_THAT(of_put.remedy(), HasSubstr("short"));
    EXPECT_EQ(error_of([&] { kvs->get(0, key, 20s); }).value().found(), of_put.found());
  }
  kvs->put("long", std::string(1U << 20U, 'x'));
  EXPECT_THAT(error_of([&] { kvs->put("longer", std::string((1U << 20U) + 1, 'x')); })->found(),
              HasSubstr("'longer' for the exchange has 1048577 bytes"));
  EXPECT_THAT(error_of([&] { kvs->put("longer", std::string(350'000, '_')); })->found(),
              HasSubstr("'longer' for the exchange has 1050000 bytes"));
}

TEST(FileKvs, TheLongestDeadlineIsAwaitedAndANegativeOneIsOver) {
  test::TemporaryFolder folder;
  FileRanks ranks(folder.path().string(), 2);
  const auto longest = std::chrono::milliseconds::max();
  EXPECT_EQ(ranks.run({0, 1},
                      [&](int rank, const Env& env) {
                        if (rank == 0) std::this_thread::sleep_for(100ms);
                        const auto kvs = open_kvs(env, longest);
                        if (rank == 0) std::this_thread::sleep_for(100ms);
                        kvs->put("key", "of " + std::to_string(rank));
                        kvs->commit(longest);
                        if (kvs->get(1 - rank, "key", longest) != "of " + std::to_string(1 - rank))
                          throw std::runtime_error("another value");
                        kvs->fence(longest);
                      }),
            0);
  const Error error =
      error_of([&] { open_kvs(ranks.env_of(1), std::chrono::milliseconds::min()); }).value();
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
}

TEST(FileKvs, WithoutAThreadForTheHeartbeatItIsRefused) {
  test::TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 01777);
  const FileRanks ranks(folder.path().string(), 2);
  const auto holds = test::holds_without_threads([&] {
    const Error error = error_of([&] { open_kvs(ranks.env_of(0), 20s); }).value();
    sigset_t own;
    pthread_sigmask(SIG_SETMASK, nullptr, &own);
    return error.code() == ErrorCode::exchange_failed &&
           error.found().rfind("cannot start a thread: ", 0) == 0 &&
           sigismember(&own, SIGTERM) == 0;
  });
  if (!holds) GTEST_SKIP() << "this process cannot be limited";
  EXPECT_TRUE(*holds);
}

TEST(FileKvs, AFolderThatCannotBeMadeIsAnError) {
  const FileRanks ranks("/proc/nonexistent", 2);
  const Error error = error_of([&] { open_kvs(ranks.env_of(1), 200ms); }).value();
  EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
}

}  // namespace
}  // namespace hpcboot
