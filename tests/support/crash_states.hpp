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

/// What a disk holds: the bytes of each file, nothing for a folder, by their paths below the root.
using DiskContent = std::map<std::string, std::optional<std::string>>;

/// A disk after a power cut.
struct CrashState {
  std::size_t operations = 0;        ///< that the program had done
  std::size_t marks = 0;             ///< among these
  std::vector<std::size_t> dropped;  ///< of these, in their order: the disk never got them
  DiskContent content;

  std::string description(const std::vector<FileOperation>& all) const;
};

/// All that a power cut may leave of these operations, by what POSIX promises: after any number of
/// them each that no later sync of its file (bytes) or folder (names) covers may have reached the
/// disk or not. Of those up to two are missing at a time; where bytes are, the file is shorter, or
/// has zeros in their place. Bytes and names know no order: a file that was renamed and not synced
/// may be empty under its new name.
/// @param visit returns whether to go on
void for_each_crash(const std::vector<FileOperation>& operations,
                    const std::function<bool(const CrashState&)>& visit);

/// Whether operation `index` makes any before it durable.
bool makes_durable(const std::vector<FileOperation>& operations, std::size_t index);

/// What the first `count` operations make without a power cut.
DiskContent content_after(const std::vector<FileOperation>& operations, std::size_t count);

/// What is below a folder now.
DiskContent content_of(const std::filesystem::path& folder);

/// Makes a folder that holds this and nothing else.
void materialise(const DiskContent& content, const std::filesystem::path& folder);

}  // namespace hpcboot::test
