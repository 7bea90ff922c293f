#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::train {

/// The checkpoint of the best epoch, beside the newest ones.
constexpr const char* kBestCheckpoint = "best.safetensors";

/// "epoch_0003_step_00000470.safetensors": after three whole epochs and 470 steps of the run.
std::string checkpoint_name(int epochs_done, std::int64_t step);

/// The checkpoints in a folder, newest first, without the best one. Empty if the folder is missing.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);

/// Keeps `newest` and the `keep` - 1 checkpoints before it. Later ones are removed, too: the run
/// has gone back to `newest`, and they would count as newer. Files that cannot be removed stay.
void keep_newest_checkpoints(const std::filesystem::path& newest, std::size_t keep) noexcept;

/// Removes the temporary files of killed saves. The caller must hold the run's lock.
void remove_unfinished_checkpoints(const std::filesystem::path& folder) noexcept;

}  // namespace hpcboot::train
