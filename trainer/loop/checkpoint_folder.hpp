#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::train {

/// The file of the best epoch, beside the newest ones.
constexpr const char* kBestCheckpoint = "best.safetensors";

/// "epoch_0003_step_00000470.safetensors": after three whole epochs and 470 steps of the run.
std::string checkpoint_name(int epochs_done, std::int64_t step);

/// The checkpoints in a folder, the newest first, without the best one. None where it is missing.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);

/// Leaves `newest` and the `keep` - 1 before it. Later ones go, too: the run has gone back from
/// them, and they would count as the newest. What cannot be removed stays.
void keep_newest_checkpoints(const std::filesystem::path& newest, std::size_t keep) noexcept;

/// Removes what saves that were killed have left. For who holds the run's lock.
void remove_unfinished_checkpoints(const std::filesystem::path& folder) noexcept;

}  // namespace hpcboot::train
