#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::data {

/// A file in a zip archive, as the archive's directory has it.
struct ZipEntry {
  std::string name;
  int method = 0;            ///< 0: stored, 8: deflated
  std::uint64_t stored = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes once it is unpacked
};

/// The directory of an archive (PKWARE's APPNOTE.TXT, 4.3.12 to 4.3.16), Zip64 included, found as
/// LibTorch finds it: the last mark of its end counts. nullopt if it is not whole.
std::optional<std::vector<ZipEntry>> read_zip_directory(std::istream& archive);

/// Why a file of torch.save() is not to be read; empty if nothing speaks against it. LibTorch makes
/// room for whatever size the directory states, and unpacks into it.
std::string trouble_in_archive(std::istream& archive);

}  // namespace hpcboot::data
