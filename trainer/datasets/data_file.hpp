#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hpcboot::data {

/// The most bytes that one deflated byte can expand to (zlib's manual).
constexpr std::uint64_t kDeflateRatio = 1032;

/// A data file, read from front to back; if its name ends in .gz, it is decompressed on the fly.
class DataFile {
 public:
  /// @param remedy of fail(): what to do about damage; if empty, MNIST's
  /// @throws Error{unreadable_file} if the file cannot be opened
  explicit DataFile(std::filesystem::path path, std::string remedy = {});
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  /// Reads up to `size` bytes and returns how many; fewer than asked only at the end of the file.
  /// Throws Error{malformed_data} if compressed data is truncated or damaged.
  std::size_t read(std::uint8_t* out, std::size_t size);

  /// The number of bytes read so far; decompressed bytes for a .gz.
  std::uint64_t offset() const noexcept { return offset_; }

  /// The most bytes that read() can ever return: the size of a plain file; for a .gz, its size
  /// times 1032, the best ratio that deflate reaches (zlib's technical notes).
  std::uint64_t max_size() const noexcept { return max_size_; }

  bool is_compressed() const noexcept { return compressed_; }
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Throws Error{malformed_data}: `found` at `offset`, where `expected` should be.
  [[noreturn]] void fail(std::uint64_t offset, const std::string& found,
                         const std::string& expected) const;

 private:
  std::size_t read_stored(std::uint8_t* out, std::size_t size);
  std::size_t read_compressed(std::uint8_t* out, std::size_t size);

  std::filesystem::path path_;
  std::string remedy_;
  bool compressed_;
  std::ifstream stream_;
  std::uint64_t max_size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t stored_offset_ = 0;
  // Used only for compressed files. A .gz may hold several members, one after the other.
  z_stream zlib_{};
  std::vector<std::uint8_t> buffer_;
  bool in_member_ = true;
};

}  // namespace hpcboot::data
