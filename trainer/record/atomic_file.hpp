#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// A hidden name beside `path` for what is to become `path`, a file or a folder, which no other
/// writer of this host uses: it contains the process id and a counter. Writers on other hosts of a
/// shared file system may choose the same one.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

/// Removes what has such a name, which killed writers of `path` have left. Only for the holder of
/// the lock of `path` (WriterLock): a process id says nothing of the processes of other hosts.
void remove_unfinished(const std::filesystem::path& path) noexcept;

/// A file that appears complete or not at all: it is written under a temporary name in the folder
/// of the final one, and renamed by commit(). A reader sees the old file or the new one, never a
/// part, even after a power failure. Not for concurrent use by several threads.
///
/// Every function throws Error{unwritable_output} with the path and the system's reason.
class AtomicFile {
 public:
  /// Opens the temporary file. The folder must exist.
  explicit AtomicFile(std::filesystem::path path);
  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t size);
  /// The file under its temporary name, for libraries that open and write it themselves.
  const std::filesystem::path& temporary() const noexcept { return temporary_; }
  /// Syncs the bytes to disk and gives the file its name. Call it once, last.
  void commit();

 private:
  [[noreturn]] void fail(std::string_view action, int error_number);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes a file that a user names: replaced atomically if it is a regular file or does not exist;
/// a symbolic link stays one; a device, a pipe or an open file (/proc/self/fd/1) is written to,
/// never replaced.
void write_named_file(const std::filesystem::path& path, std::string_view text);

/// Replaces `path` atomically with a file of this text.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace hpcboot::record
