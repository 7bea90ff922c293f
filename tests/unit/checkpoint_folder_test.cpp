// Which checkpoints of a run are kept.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "loop/checkpoint_folder.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using test::TemporaryFolder;

TEST(CheckpointFolder, IsListedNewestFirstAndCleaned) {
  const TemporaryFolder folder;
  const auto touch = [&](const std::string& name) { std::ofstream(folder.path() / name) << "x"; };
  for (const auto& [epochs, step] : {std::pair{0, 20}, {1, 20}, {0, 9}, {1, 100}}) {
    touch(checkpoint_name(epochs, step));
  }
  touch(kBestCheckpoint);
  touch("epoch_1_step_2.safetensors");
  touch("." + checkpoint_name(2, 200) + ".1-0.tmp");
  const auto names = [&] {
    std::vector<std::string> list;
    for (const auto& path : checkpoints_in(folder.path())) list.push_back(path.filename().string());
    return list;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{checkpoint_name(1, 100), checkpoint_name(1, 20),
                                               checkpoint_name(0, 20), checkpoint_name(0, 9)}));
  keep_newest_checkpoints(folder.path() / checkpoint_name(1, 100), 2);
  EXPECT_EQ(names(), (std::vector<std::string>{checkpoint_name(1, 100), checkpoint_name(1, 20)}));
  keep_newest_checkpoints(folder.path() / checkpoint_name(9, 9), 1);
  EXPECT_EQ(names().size(), 2U) << "a listing without the newest one is stale";
  keep_newest_checkpoints(folder.path() / checkpoint_name(1, 20), 2);
  EXPECT_EQ(names(), std::vector<std::string>{checkpoint_name(1, 20)})
      << "the later one is removed";
  remove_unfinished_checkpoints(folder.path());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 3U) << "one, the best and the foreign one";
  EXPECT_TRUE(checkpoints_in(folder.path() / "absent").empty());
}

TEST(CheckpointFolder, ABestCheckpointIsSparedUnlessItIsLater) {
  const TemporaryFolder folder;
  const auto path = [&](int epochs) {
    return folder.path() / sharded_checkpoint_name(epochs, 10 * epochs);
  };
  const auto epochs_kept = [&] {
    std::vector<int> list;
    for (int epochs = 1; epochs <= 9; ++epochs) {
      if (std::filesystem::exists(path(epochs))) list.push_back(epochs);
    }
    return list;
  };
  for (int epochs = 1; epochs <= 5; ++epochs) std::filesystem::create_directories(path(epochs));
  mark_as_best(path(1), true);
  keep_newest_checkpoints(path(5), 2);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 5}));
  mark_as_best(path(5), true);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 5})) << "a regular one is removed by its age";
  EXPECT_EQ(checkpoint_path(folder.path(), kBestCheckpoint), path(5));
  keep_newest_checkpoints(path(4), 2);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4}));
  EXPECT_EQ(checkpoint_path(folder.path(), kBestCheckpoint), folder.path() / kBestCheckpoint);
  // Those that were saved only because they were the best replace each other.
  for (int epochs = 6; epochs <= 8; ++epochs) {
    std::filesystem::create_directories(path(epochs));
    mark_as_best(path(epochs), false);
    mark_as_best(path(epochs), false);
  }
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 8}));
}

}  // namespace
}  // namespace hpcboot::train
