#include "record/append_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {
constexpr std::chrono::seconds kFlushInterval{1};

/// Other users may be able to write to the folder: what they put there must not redirect writes, or
/// block this process.
int open_own(const std::filesystem::path& path) {
  const auto refuse = [&](std::string_view kind) {
    throw Error(ErrorCode::unwritable_output, fmt::format("'{}' is {}", path.string(), kind),
                "a regular file, or none", "remove it, or choose another place with --runs-dir");
  };
  // With O_NONBLOCK, a FIFO without a reader is an error instead of a wait.
  const int descriptor = ::open(
      path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0 && errno == ELOOP) refuse("a symbolic link");
  if (descriptor < 0 && errno == ENXIO) refuse("a named pipe or a socket");
  if (descriptor < 0) throw output_error("open", path, errno);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  ::close(descriptor);
  refuse("not a regular file");
  return -1;
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open_own(path_)) {}

AppendFile::~AppendFile() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor cannot report it; callers that need to know call flush().
  }
  ::close(descriptor_);
}

void AppendFile::cut(std::size_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
    throw output_error("write", path_, errno);
}

void AppendFile::append(std::string_view bytes) {
  pending_ += bytes;
  if (std::chrono::steady_clock::now() - last_flush_ >= kFlushInterval) flush();
}

void AppendFile::flush() {
  last_flush_ = std::chrono::steady_clock::now();
  while (!pending_.empty()) {
    const ssize_t written = ::write(descriptor_, pending_.data(), pending_.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw output_error("write", path_, errno);
    }
    pending_.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace hpcboot::record
