#include "record/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "record/disk_sync.hpp"
#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

/// @return errno of a write that failed, else 0
int write_all(int descriptor, const char* next, std::size_t size) {
  // Linux writes at most 0x7ffff000 bytes per call.
  constexpr std::size_t kLargestWrite = std::size_t{1} << 30U;
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, std::min(size, kLargestWrite));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    next += written;
    size -= static_cast<std::size_t>(written);
    add_disk_progress();
  }
  return 0;
}

/// Is this ".NAME.PROCESS-COUNT.tmp"?
bool is_unfinished(std::string_view name, std::string_view of) {
  constexpr std::string_view kEnd = ".tmp";
  if (name.size() < of.size() + 2 + kEnd.size() || name.front() != '.' ||
      name.substr(1, of.size()) != of || name[of.size() + 1] != '.' ||
      name.substr(name.size() - kEnd.size()) != kEnd) {
    return false;
  }
  name.remove_prefix(of.size() + 2);
  name.remove_suffix(kEnd.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

}  // namespace

std::filesystem::path unfinished_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() /
         fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

void remove_unfinished(const std::filesystem::path& path) noexcept {
  try {
    std::error_code ignored;
    std::vector<std::filesystem::path> left;
    const std::string of = path.filename().string();
    const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
      if (is_unfinished(entry.path().filename().string(), of)) left.push_back(entry.path());
    }
    for (const auto& one : left) std::filesystem::remove_all(one, ignored);
  } catch (const std::exception&) {
    // They only take up space.
  }
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  do {
    temporary_ = unfinished_name(path_);
    // 0666 minus the umask, as for any file; mkstemp's 0600 would hide the record from colleagues.
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail("create", errno);
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::write(const void* data, std::size_t size) {
  const int failure = write_all(descriptor_, static_cast<const char*>(data), size);
  if (failure != 0) fail("write", failure);
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("write", errno);
  add_disk_progress();
  // On NFS only close() reports some errors, above all a full disk.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("create", errno);
  temporary_.clear();
  sync_folder(path_.parent_path());
}

void AtomicFile::fail(std::string_view action, int error_number) {
  discard();  // also for the constructor: no destructor runs if it throws
  throw output_error(action, path_, error_number);
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

namespace {

namespace fs = std::filesystem;

/// What a path stands for.
struct Target {
  fs::path file;        ///< where links lead in the end
  int descriptor = -1;  ///< of an open file of this process, for a link such as /proc/self/fd/1
};

/// @throws Error{unwritable_output} for a loop of links
Target target_of(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  const std::string own = fmt::format("/proc/{}/fd", ::getpid());
  Target target{path};
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    fs::path& file = target.file;
    if (!fs::is_symlink(fs::symlink_status(file, error))) return target;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (fs::canonical(folder, error) == own) {
      const std::string number = file.filename().string();
      std::from_chars(number.data(), number.data() + number.size(), target.descriptor);
      return target;
    }
    file = file.parent_path() / fs::read_symlink(file, error);
  }
  throw output_error("write", path, ELOOP);
}

/// Closes the descriptor. @throws Error{unwritable_output}
void write_and_close(int descriptor, const fs::path& path, std::string_view text) {
  if (descriptor < 0) throw output_error("write", path, errno);
  int failure = write_all(descriptor, text.data(), text.size());
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure != 0) throw output_error("write", path, failure);
}

}  // namespace

void write_named_file(const fs::path& path, std::string_view text) {
  const Target target = target_of(path);
  // One that this program already has open: what else is written there stays.
  if (target.descriptor >= 0) return write_and_close(::dup(target.descriptor), path, text);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status))
    return write_file_atomically(target.file, text);
  write_and_close(::open(path.c_str(), O_WRONLY | O_CLOEXEC), path, text);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace hpcboot::record
