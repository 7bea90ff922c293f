#undef _FORTIFY_SOURCE  // its inline functions have the same names as those below

#include "support/file_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

namespace hpcboot::test {
namespace {

using Kind = FileOperation::Kind;

struct OpenFile {
  int node = kRoot;
  bool appends = false;
  std::uint64_t position = 0;
};

/// The recording, and the state of the files that it needs.
struct Recording {
  bool runs = false;
  std::string root;
  std::vector<FileOperation> operations;
  int nodes = 1;
  std::map<std::string, int> paths;  // as the program writes them
  std::map<int, OpenFile> open;      // by descriptor
  std::map<int, std::uint64_t> sizes;
};

std::mutex mutex;
Recording recording;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_recorded(const std::string& path) {
  return path.rfind(recording.root + "/", 0) == 0;
}

FileOperation operation_in(const std::string& path, Kind kind, int node) {
  FileOperation operation;
  operation.kind = kind;
  operation.node = node;
  operation.folder = recording.paths.at(folder_of(path));
  return operation;
}

void add_name(const std::string& path, int node, bool makes_folder) {
  FileOperation operation = operation_in(path, Kind::name, node);
  operation.to = name_of(path);
  operation.makes_folder = makes_folder;
  recording.operations.push_back(std::move(operation));
  recording.paths[path] = node;
}

void add_removal(const std::string& path) {
  FileOperation operation = operation_in(path, Kind::remove, recording.paths.at(path));
  operation.from = name_of(path);
  recording.operations.push_back(std::move(operation));
  recording.paths.erase(path);
}

void add_rename(const std::string& from, const std::string& to) {
  const int node = recording.paths.at(from);
  const auto other = recording.paths.find(to);
  if (other != recording.paths.end() && other->second == node) return;  // POSIX: does nothing
  FileOperation operation = operation_in(to, Kind::rename, node);
  operation.from = name_of(from);
  operation.to = name_of(to);
  recording.operations.push_back(std::move(operation));
  recording.paths.erase(from);
  recording.paths[to] = node;
}

void add_truncation(int node, std::uint64_t size) {
  FileOperation operation;
  operation.kind = Kind::truncate;
  operation.node = node;
  operation.offset = size;
  recording.operations.push_back(std::move(operation));
  recording.sizes[node] = size;
}

void add_write(int node, std::uint64_t offset, const void* bytes, std::size_t size) {
  FileOperation operation;
  operation.kind = Kind::write;
  operation.node = node;
  operation.offset = offset;
  operation.bytes.assign(static_cast<const char*>(bytes), size);
  recording.operations.push_back(std::move(operation));
  recording.sizes[node] = std::max(recording.sizes[node], offset + size);
}

void add_sync(int descriptor) {
  const auto file = recording.open.find(descriptor);
  if (file == recording.open.end()) return;
  FileOperation operation;
  operation.kind = Kind::sync;
  operation.node = file->second.node;
  recording.operations.push_back(std::move(operation));
}

void opened(const std::string& path, int flags, int descriptor) {
  if (path != recording.root && !is_recorded(path)) return;
  if (recording.paths.count(path) == 0) add_name(path, recording.nodes++, false);
  const int node = recording.paths.at(path);
  if ((flags & O_TRUNC) != 0 && recording.sizes[node] > 0) add_truncation(node, 0);
  recording.open[descriptor] = {node, (flags & O_APPEND) != 0, 0};
}

/// The result of a system call, which `note` records if the call succeeded.
template <typename Note, typename... Arguments>
long call(const Note& note, long number, Arguments... arguments) {
  const std::lock_guard<std::mutex> lock(mutex);
  const long result = ::syscall(number, arguments...);
  if (result >= 0 && recording.runs) note(result);
  return result;
}

}  // namespace

FileRecorder::FileRecorder(const std::filesystem::path& root) {
  const std::lock_guard<std::mutex> lock(mutex);
  recording = {};
  recording.root = root.string();
  recording.paths[recording.root] = kRoot;
  recording.runs = true;
}

FileRecorder::~FileRecorder() {
  const std::lock_guard<std::mutex> lock(mutex);
  recording = {};
}

void FileRecorder::mark() {
  const std::lock_guard<std::mutex> lock(mutex);
  recording.operations.emplace_back();
}

std::vector<FileOperation> FileRecorder::operations() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return recording.operations;
}

}  // namespace hpcboot::test

// The functions with which the program, its libraries' inline code and std::filesystem change
// files.
using namespace hpcboot::test;
#pragma GCC visibility push(default)  // so that std::filesystem finds them, too
extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  return static_cast<int>(call([&](long fd) { opened(path, flags, static_cast<int>(fd)); },
                               SYS_openat, AT_FDCWD, path, flags, mode));
}

int close(int descriptor) {
  return static_cast<int>(
      call([&](long) { recording.open.erase(descriptor); }, SYS_close, descriptor));
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  return call(
      [&](long written) {
        const auto file = recording.open.find(descriptor);
        if (file == recording.open.end()) return;
        OpenFile& one = file->second;
        if (one.appends) one.position = recording.sizes[one.node];
        add_write(one.node, one.position, bytes, static_cast<std::size_t>(written));
        one.position += static_cast<std::uint64_t>(written);
      },
      SYS_write, descriptor, bytes, size);
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
  return call(
      [&](long written) {
        const auto file = recording.open.find(descriptor);
        if (file == recording.open.end()) return;
        add_write(file->second.node, static_cast<std::uint64_t>(offset), bytes,
                  static_cast<std::size_t>(written));
      },
      SYS_pwrite64, descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  return static_cast<int>(call([&](long) { add_sync(descriptor); }, SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  return static_cast<int>(call([&](long) { add_sync(descriptor); }, SYS_fdatasync, descriptor));
}

int ftruncate(int descriptor, off_t size) noexcept {
  return static_cast<int>(call(
      [&](long) {
        const auto file = recording.open.find(descriptor);
        if (file != recording.open.end())
          add_truncation(file->second.node, static_cast<std::uint64_t>(size));
      },
      SYS_ftruncate, descriptor, size));
}

int truncate(const char* path, off_t size) noexcept {
  return static_cast<int>(call(
      [&](long) {
        if (is_recorded(path))
          add_truncation(recording.paths.at(path), static_cast<std::uint64_t>(size));
      },
      SYS_truncate, path, size));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return static_cast<int>(call(
      [&](long) {
        if (is_recorded(path)) add_name(path, recording.nodes++, true);
      },
      SYS_mkdirat, AT_FDCWD, path, mode));
}

int link(const char* from, const char* to) noexcept {
  return static_cast<int>(call(
      [&](long) {
        if (is_recorded(to)) add_name(to, recording.paths.at(from), false);
      },
      SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(call(
      [&](long) {
        if (is_recorded(to)) add_rename(from, to);
      },
      SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int unlink(const char* path) noexcept {
  return static_cast<int>(call(
      [&](long) {
        if (is_recorded(path)) add_removal(path);
      },
      SYS_unlinkat, AT_FDCWD, path, 0));
}

// std::filesystem::remove calls this, also for folders.
int remove(const char* path) noexcept {
  const int result = unlink(path);
  if (result == 0 || errno != EISDIR) return result;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"
#pragma GCC visibility pop
