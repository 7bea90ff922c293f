#include "private_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorCode::unwritable_output, path + ": " + std::strerror(errno),
              "a writable folder for temporary files", "set TMPDIR to one");
}

}  // namespace

PrivateFile::PrivateFile(std::string_view content) {
  std::error_code failure;
  const std::string folder = std::filesystem::temp_directory_path(failure).string();
  if (failure) {
    errno = failure.value();
    fail("the folder for temporary files");
  }
  path_ = folder + "/hpcboot-run.XXXXXX";
  const int fd = mkstemp(path_.data());  // of mode 0600
  if (fd < 0) fail(path_);
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      close(fd);
      unlink(path_.c_str());
      errno = reason;
      fail(path_);
    }
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  close(fd);
}

PrivateFile::~PrivateFile() {
  unlink(path_.c_str());
}

}  // namespace hpcboot::run
