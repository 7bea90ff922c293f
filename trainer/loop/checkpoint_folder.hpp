#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::train {

// A checkpoint is a file that rank 0 has written, or, of --sharded-checkpoints, a folder with files
// of all ranks.

/// The checkpoint of the best epoch, beside the newest ones; also how --resume names it if it is a
/// folder.
constexpr const char* kBestCheckpoint = "best.safetensors";

/// "epoch_0003_step_00000470.safetensors": after three whole epochs and 470 steps of the run.
std::string checkpoint_name(int epochs_done, std::int64_t step);

/// "epoch_0003_step_00000470"
std::string sharded_checkpoint_name(int epochs_done, std::int64_t step);

/// The steps of the run before a checkpoint, according to its name; none if it has another form.
std::optional<std::int64_t> step_of_checkpoint(const std::filesystem::path& checkpoint);

/// The checkpoints in a folder, newest first, without the file of the best one. Empty if the folder
/// is missing.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);

/// The checkpoint with this name. That of the best epoch is a file of its own, or one of the
/// folders among checkpoints_in(), which best.json names.
std::filesystem::path checkpoint_path(const std::filesystem::path& folder, const std::string& name);

/// Makes one of the sharded checkpoints that of the best epoch. The one before is removed if it was
/// saved only for that.
/// @param is_regular whether a checkpoint was due anyway
/// @throws Error{unwritable_output}
void mark_as_best(const std::filesystem::path& checkpoint, bool is_regular);

/// Called when best.safetensors has been written.
void forget_best_mark(const std::filesystem::path& folder) noexcept;

/// Keeps `newest`, the `keep` - 1 checkpoints before it, and the one before it that is marked as
/// the best. Later ones are removed, too: the run has gone back to `newest`, and they would count
/// as newer. What cannot be removed stays.
void keep_newest_checkpoints(const std::filesystem::path& newest, std::size_t keep) noexcept;

/// Removes what killed saves have left. The caller must hold the run's lock.
void remove_unfinished_checkpoints(const std::filesystem::path& folder) noexcept;

}  // namespace hpcboot::train
