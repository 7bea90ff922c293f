#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::data {

/// A file in a zip archive, as listed in the archive's directory.
struct ZipEntry {
  std::string name;
  int method = 0;            ///< 0: stored, 8: deflated
  std::uint64_t stored = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes once it is unpacked
};

/// The directory of an archive (PKWARE's APPNOTE.TXT, 4.3.12 to 4.3.16), Zip64 included, located as
/// LibTorch does: by the last end marker. nullopt if it is incomplete.
std::optional<std::vector<ZipEntry>> read_zip_directory(std::istream& archive);

/// Why a file of torch.save() must not be read; empty if it may be. LibTorch allocates whatever
/// size the directory states, and unpacks into it.
std::string trouble_in_archive(std::istream& archive);

}  // namespace hpcboot::data
