#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::test {

/// Files and folders are numbered in the order of their creation; this is the recorded folder.
constexpr int kRoot = 0;

/// One change below a recorded folder, or a sync that makes earlier changes durable.
struct FileOperation {
  enum class Kind {
    write,     ///< `bytes` at `offset` of the file `node`
    truncate,  ///< the file `node` to `offset` bytes
    name,      ///< `node` gets the name `to` in `folder`: a file or folder is created or linked
    rename,    ///< `from` in `folder` becomes `to` there, which is `node`
    remove,    ///< of the name `from` in `folder`
    sync,      ///< of the file or folder `node`
    mark,      ///< nothing: FileRecorder::mark()
  };
  Kind kind = Kind::mark;
  int node = kRoot;
  bool makes_folder = false;  ///< of `name`
  int folder = kRoot;
  std::string from{};
  std::string to{};
  std::uint64_t offset = 0;
  std::string bytes{};
};

/// While it lives, everything that any thread of this process does to the files of an initially
/// empty folder is recorded: file_recorder.cpp's functions replace the C library's in the test's
/// program. Only one may exist at a time.
class FileRecorder {
 public:
  explicit FileRecorder(const std::filesystem::path& root);
  ~FileRecorder();
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// Marks a moment among the operations.
  void mark();
  std::vector<FileOperation> operations() const;
};

}  // namespace hpcboot::test
