#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hpcboot::test {

/// Files and folders are numbered in the order in which they were made; this is the folder that is
/// recorded.
constexpr int kRoot = 0;

/// One change below a recorded folder, or what makes earlier ones durable.
struct FileOperation {
  enum class Kind {
    write,     ///< `bytes` at `offset` of the file `node`
    truncate,  ///< the file `node` to `offset` bytes
    name,      ///< `node` gets the name `to` in `folder`: a file or folder is made, or linked
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

/// While it lives, what this process does to the files of an empty folder is recorded, by all its
/// threads: the test's program has file_recorder.cpp's functions in place of the C library's. One
/// at a time.
class FileRecorder {
 public:
  explicit FileRecorder(const std::filesystem::path& root);
  ~FileRecorder();
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// A moment to be found again among the operations.
  void mark();
  std::vector<FileOperation> operations() const;
};

}  // namespace hpcboot::test
