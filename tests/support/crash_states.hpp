#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/file_recorder.hpp"

namespace hpcboot::test {

/// The content of a disk: the bytes of each file, nothing for a folder, by path below the root.
using DiskContent = std::map<std::string, std::optional<std::string>>;

/// A disk after a power cut.
struct CrashState {
  std::size_t operations = 0;        ///< completed by the program
  std::size_t marks = 0;             ///< among these operations
  std::vector<std::size_t> dropped;  ///< operations that never reached the disk, in their order
  DiskContent content;

  std::string description(const std::vector<FileOperation>& all) const;
};

/// All states that a power cut may leave of these operations, by POSIX's guarantees: after any
/// number of them, each one that no later sync of its file (bytes) or folder (names) covers may
/// have reached the disk or not. At most two of those are missing at a time; for missing bytes the
/// file is shorter, or has zeros in their place. Bytes and names are not ordered: a file that was
/// renamed and not synced may be empty under its new name.
/// @param visit returns whether to continue
void for_each_crash(const std::vector<FileOperation>& operations,
                    const std::function<bool(const CrashState&)>& visit);

/// Whether operation `index` makes any earlier one durable.
bool makes_durable(const std::vector<FileOperation>& operations, std::size_t index);

/// The content after the first `count` operations, without a power cut.
DiskContent content_after(const std::vector<FileOperation>& operations, std::size_t count);

/// The current content of a folder.
DiskContent content_of(const std::filesystem::path& folder);

/// Creates a folder with exactly this content.
void materialise(const DiskContent& content, const std::filesystem::path& folder);

}  // namespace hpcboot::test
