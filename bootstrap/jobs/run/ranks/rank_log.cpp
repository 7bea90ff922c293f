#include "rank_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

constexpr int kFlags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

// What it is instead of a regular file of this user; empty if it is one.
std::string foreign_kind(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "a symbolic link";
  if (S_ISFIFO(status.st_mode)) return "a named pipe";
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  if (!S_ISREG(status.st_mode)) return "a device";
  return status.st_uid == geteuid() ? "" : "another user's file";
}

}  // namespace

RankLog::RankLog(const std::string& folder, int rank, const char* ending) {
  std::error_code ignored;  // open() reports the reason
  std::filesystem::create_directories(folder, ignored);
  std::string number = std::to_string(rank);
  number.insert(0, 4 - std::min<std::size_t>(4, number.size()), '0');
  file_ = folder + "/rank_" + number + "." + ending;
  // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): after the folder exists
  fd_ = open(file_.c_str(), kFlags | O_CREAT | O_EXCL, 0644);
  if (fd_ < 0 && errno == EEXIST) take_old_file();
  if (fd_ < 0) {
    throw Error(ErrorCode::unwritable_output, file_ + ": " + std::strerror(errno),
                "a folder for the rank logs that is writable on every host",
                "choose another folder with --output-dir");
  }
}

// Other users may be able to write to the folder: whatever is there must not redirect the output or
// block.
void RankLog::take_old_file() {
  fd_ = open(file_.c_str(), kFlags);
  const int reason = errno;
  struct stat status {};
  const bool is_known = fd_ < 0 ? lstat(file_.c_str(), &status) == 0 : fstat(fd_, &status) == 0;
  const std::string kind = is_known ? foreign_kind(status) : "";
  std::string why = "it is " + kind;
  if (kind.empty()) {
    if (fd_ >= 0 && ftruncate(fd_, 0) == 0) return;
    why = std::strerror(fd_ >= 0 ? errno : reason);
  }
  if (fd_ >= 0) close(fd_);
  throw Error(ErrorCode::unwritable_output, file_ + ": " + why,
              "a regular file that you own, or none",
              "remove it, or choose another folder with --output-dir");
}

RankLog::~RankLog() {
  if (fd_ >= 0) close(fd_);
}

std::string RankLog::write(std::string_view bytes) {
  while (fd_ >= 0 && !bytes.empty()) {
    const ssize_t size = ::write(fd_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int reason = errno;
      close(fd_);
      fd_ = -1;
      return file_ + " is incomplete: " + std::strerror(reason);
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return "";
}

}  // namespace hpcboot::run
