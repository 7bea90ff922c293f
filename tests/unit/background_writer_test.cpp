// Files that a thread writes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "loop/background_writer.hpp"
#include "record/atomic_file.hpp"
#include "record/disk_sync.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using test::TemporaryFolder;

TEST(BackgroundWriter, IsWaitedForAsLongAsTheDiskCompletesSomething) {
  constexpr std::chrono::milliseconds kLimit(2);
  std::promise<void> disk;
  BackgroundWriter writer(std::chrono::milliseconds(1));
  writer.start([&] { disk.get_future().wait(); });
  for (int i = 0; i < 3; ++i) {
    record::sync_folder(testing::TempDir());
    EXPECT_FALSE(writer.finish(kLimit)) << "nothing is completed within the patience after this";
  }
  // The disk hangs from now on: the wait has no limit.
  std::atomic<bool> is_released{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_released = true;
    disk.set_value();
  });
  EXPECT_TRUE(writer.finish(kLimit));
  EXPECT_TRUE(is_released);
  later.join();
}

TEST(BackgroundWriter, TellsAFailureInsteadOfBeingDone) {
  BackgroundWriter writer;
  writer.start([] { throw std::runtime_error("a full disk"); });
  EXPECT_THROW(while (!writer.finish(std::chrono::milliseconds(10))){}, std::runtime_error);
  EXPECT_TRUE(writer.finish(std::chrono::milliseconds(10)));
}

TEST(BackgroundWriter, KnowsThatAFileIsWritten) {
  const TemporaryFolder folder;
  const std::uint64_t before = record::disk_progress();
  record::write_file_atomically(folder.path() / "file", "text");
  EXPECT_EQ(record::disk_progress(), before + 3) << "its bytes, its sync, its name";
}

}  // namespace
}  // namespace hpcboot::train
