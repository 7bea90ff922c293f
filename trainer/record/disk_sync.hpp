#pragma once

#include <filesystem>

// What has to outlast a power cut is told to the disk: the bytes of a file by syncing it, the names
// in a folder by syncing the folder. What cannot be synced is left alone: some network file systems
// do not sync folders, and a user may have no right to read one.

namespace hpcboot::record {

/// Makes the names in a folder durable: files that were made, renamed and removed there.
/// @throws Error{unwritable_output}
void sync_folder(const std::filesystem::path& folder);

/// Makes the bytes of a file durable, whoever has written them; not its name, which is the
/// folder's. A file that is not there has none.
/// @throws Error{unwritable_output}
void sync_file(const std::filesystem::path& file);

/// Makes a folder, durably, with those above it. One that is there is left as it is.
/// @throws Error{unwritable_output}
void make_folders(const std::filesystem::path& folder);

}  // namespace hpcboot::record
