#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// A file that grows while a run goes on. Bytes reach it at the latest a second after they were
/// appended when further ones follow, and at the end: a crash loses little, and a fast step does
/// not wait for a file system.
class AppendFile {
 public:
  /// Opens the file, or makes it. @throws Error{unwritable_output}, also if something else than a
  /// regular file has the name: links are not followed
  explicit AppendFile(std::filesystem::path path);
  /// Writes what is left; a failure is told by an explicit flush() only.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

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
