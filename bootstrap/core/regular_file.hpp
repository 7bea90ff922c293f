#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <streambuf>
#include <string>

namespace hpcboot {

/// Reads a regular file. What the path names is examined after it is opened: in a folder that
/// changes, it may have become a pipe, and to open or read one would wait for another process.
class RegularFileStream : public std::istream {
 public:
  /// If it cannot be opened, or is no regular file, the stream has failed, and error() is not 0.
  explicit RegularFileStream(const std::filesystem::path& path);

  /// An errno: EISDIR for a folder, EINVAL for what else is no regular file.
  int error() const noexcept { return buffer_.error; }
  /// The error in words: "it is not a regular file".
  std::string reason() const;
  std::uintmax_t size() const noexcept { return buffer_.size; }  ///< when it was opened

 private:
  struct Buffer : std::streambuf {
    explicit Buffer(const std::filesystem::path& path);
    ~Buffer() override;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    int_type underflow() override;
    pos_type seekpos(pos_type position, std::ios::openmode which) override;

    int descriptor;
    int error = 0;
    std::uintmax_t size = 0;
    std::array<char, 1 << 14> bytes{};
  };

  Buffer buffer_;
};

}  // namespace hpcboot
