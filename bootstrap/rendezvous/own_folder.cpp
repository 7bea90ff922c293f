#include "own_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <sstream>
#include <utility>

#include "core/classic.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& found) {
  throw Error(ErrorCode::exchange_failed, path + " " + found,
              "a folder of this user that no other user can enter (mode 0700)",
              "remove it, or set HPCBOOT_EXCHANGE_DIR to a folder of your own that all hosts "
              "share");
}

int write_and_close(int descriptor, const std::string& text) {
  int reason = 0;
  for (std::size_t written = 0; written < text.size() && reason == 0;) {
    const ssize_t count = write(descriptor, text.data() + written, text.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) reason = errno;
  }
  if (close(descriptor) != 0 && reason == 0) reason = errno;
  return reason;
}

}  // namespace

void fail_folder(const std::string& found) {
  throw Error(ErrorCode::exchange_failed, found,
              "a folder that every rank can write to, on a file system shared by all hosts",
              "correct HPCBOOT_EXCHANGE_DIR");
}

void OwnFolder::make(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    fail_folder("cannot create " + path + ": " + std::strerror(errno));
}

std::optional<OwnFolder> OwnFolder::open(const std::string& path) {
  OwnFolder folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.descriptor_ < 0 && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if (folder.descriptor_ < 0 || fstat(folder.descriptor_, &status) != 0)
    refuse(path, std::string("cannot be opened as a folder: ") + std::strerror(errno));
  if (status.st_uid != geteuid())
    refuse(path, "belongs to the user " + std::to_string(status.st_uid));
  if ((status.st_mode & 077U) != 0) refuse(path, "is accessible to others");
  return folder;
}

OwnFolder::~OwnFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

OwnFolder& OwnFolder::operator=(OwnFolder&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string unique_word() {
  static const std::string of_program = [] {
    std::random_device device;
    Classic<std::ostringstream> word;
    word << std::hex << device() << device();
    return word.str();
  }();
  static std::atomic<int> count{0};
  // A process that forks shares the rest with its children.
  return of_program + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

int create_file(const std::string& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  const int reason = write_and_close(descriptor, text);
  if (reason != 0) unlink(path.c_str());
  return reason;
}

int overwrite_file(const std::string& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return descriptor < 0 ? errno : write_and_close(descriptor, text);
}

int replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + "." + unique_word();
  int reason = create_file(temporary, text);
  if (reason != 0 || std::rename(temporary.c_str(), path.c_str()) == 0) return reason;
  reason = errno;
  unlink(temporary.c_str());
  return reason;
}

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

void look_again(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) close(descriptor);
}

}  // namespace hpcboot
