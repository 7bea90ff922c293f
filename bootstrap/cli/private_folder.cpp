#include "private_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/write_all.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

[[noreturn]] void fail_unwritable(const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::unwritable_output, what,
              "a folder that only this user may enter (mode 0700), shared by all ranks", remedy);
}

}  // namespace

PrivateFolder::PrivateFolder(std::string path) : path_(std::move(path)) {
  // "link/" would be followed, "link" is not.
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    fail_unwritable(path_ + ": " + std::generic_category().message(errno),
                    "choose a folder whose parent exists and is writable on every host");
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor_ < 0) {
    fail_unwritable(path_ + " is a link, or cannot be opened as a folder",
                    "choose a folder that does not exist yet");
  }
  struct stat status {};
  const bool is_known = ::fstat(descriptor_, &status) == 0;
  // Root can write into everyone's folder, whose owner could then replace what is in it.
  const bool is_own = is_known && status.st_uid == ::geteuid();
  if (is_own && (status.st_mode & 077U) == 0) return;
  ::close(descriptor_);
  if (is_known && !is_own) {
    fail_unwritable(path_ + " belongs to the user " + std::to_string(status.st_uid),
                    "choose a folder that does not exist yet, or one of your own");
  }
  fail_unwritable("users other than its owner may enter " + path_,
                  "choose a folder that does not exist yet, or chmod 700 " + path_);
}

PrivateFolder::~PrivateFolder() {
  ::close(descriptor_);
}

void PrivateFolder::fail(const std::string& name) const {
  fail_unwritable(path_ + "/" + name + ": " + std::generic_category().message(errno),
                  "free up disk space there, or choose another folder");
}

bool PrivateFolder::create(const std::string& name, std::string_view content) const {
  const int file = ::openat(descriptor_, name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) fail(name);
  const bool written = write_all(file, content);
  // Network file systems report a full disk when the file is closed.
  if (::close(file) != 0 || !written) fail(name);
  return true;
}

void PrivateFolder::publish(const std::string& name, std::string_view content) const {
  const std::string partial = name + ".partial";
  if (!create(partial, content)) {
    errno = EEXIST;
    fail(partial);
  }
  if (::renameat(descriptor_, partial.c_str(), descriptor_, name.c_str()) != 0) fail(name);
}

}  // namespace hpcboot::tool
