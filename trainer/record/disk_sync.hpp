#pragma once

#include <cstdint>
#include <filesystem>

// What must survive a power failure is synced to disk: the bytes of a file by syncing the file, the
// names in a folder by syncing the folder. What cannot be synced is skipped: some network file
// systems do not sync folders, and a user may lack permission to read one.

namespace hpcboot::record {

/// Makes the names in a folder durable: files that were created, renamed and removed there.
/// @throws Error{unwritable_output}
void sync_folder(const std::filesystem::path& folder);

/// Makes the bytes of a file durable, whoever wrote them, but not its name, which belongs to the
/// folder. A missing file is ignored.
/// @throws Error{unwritable_output}
void sync_file(const std::filesystem::path& file);

/// A number that grows with each piece of a file that this process has written atomically or
/// synced.
std::uint64_t disk_progress();
/// Counts such a piece.
void add_disk_progress();

/// Creates a folder and those above it, durably. An existing folder is left as it is.
/// @throws Error{unwritable_output}
void make_folders(const std::filesystem::path& folder);

}  // namespace hpcboot::record
