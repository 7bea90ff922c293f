#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// A file that grows during a run. Appended bytes are written by the first append() that comes a
/// second after the last write, and at the end: a crash loses little, and a fast step does not wait
/// for the file system.
class AppendFile {
 public:
  /// Opens or creates the file. Symbolic links are not followed.
  /// @throws Error{unwritable_output}, also if the name belongs to anything but a regular file
  explicit AppendFile(std::filesystem::path path);
  /// Writes what is left; only an explicit flush() reports a failure.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Drops what follows the first `size` bytes. Before the first append().
  /// @throws Error{unwritable_output}
  void cut(std::size_t size);
  /// @throws Error{unwritable_output}
  void append(std::string_view bytes);
  /// @throws Error{unwritable_output}
  void flush();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string pending_;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

}  // namespace hpcboot::record
