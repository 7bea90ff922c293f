#include "trusted_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

Error unreadable(const std::string& path, const std::string& why, const std::string& expected,
                 const std::string& remedy) {
  return {ErrorCode::unreadable_file, path + " " + why, expected, remedy};
}

// Whoever can write a description controls the placement of every program of this user.
void require_trusted(const struct stat& status, const std::string& path) {
  constexpr const char* kExpected =
      "files and folders owned by this user or by root, not writable by group or others";
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    throw unreadable(path, "belongs to the user " + std::to_string(status.st_uid), kExpected,
                     "copy it to a folder of your own, or remove it from HPCBOOT_LAUNCHER_PATH");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw unreadable(path, "can be written by others", kExpected, "chmod go-w " + path);
}

std::string read_open_file(const Descriptor& file, const struct stat& status,
                           const std::string& path, std::size_t longest) {
  if (!S_ISREG(status.st_mode)) {
    throw unreadable(path, "is not a regular file", "a file that describes a launcher",
                     "remove it, or give another path");
  }
  std::string text(longest + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(file.number(), text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw unreadable(path, std::string("cannot be read: ") + std::strerror(errno),
                       "a file that describes a launcher", "make it readable, or remove it");
    }
    size += static_cast<std::size_t>(count);
  }
  if (size > longest) {
    throw unreadable(path, "is longer than " + std::to_string(longest) + " bytes",
                     "a file that describes one launcher", "shorten it, or remove it");
  }
  text.resize(size);
  return text;
}

struct stat status_of(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.number(), &status) == 0) return status;
  throw unreadable(path, std::string("cannot be examined: ") + std::strerror(errno),
                   "a file or folder", "remove it, or give another path");
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::optional<Descriptor> open_trusted_folder(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
  if (folder.number() < 0) {
    const int reason = errno;
    struct stat status {};
    // A dangling link is an error, not a missing folder.
    const bool is_there = lstat(path.c_str(), &status) == 0;
    if (!is_there && (reason == ENOENT || reason == ENOTDIR || reason == EACCES))
      return std::nullopt;
    throw unreadable(path, std::string("cannot be read: ") + std::strerror(reason),
                     "a folder of launcher descriptions", "make it readable, or remove it");
  }
  require_trusted(status_of(folder, path), path);
  return folder;
}

std::vector<std::string> toml_files_in(const Descriptor& folder, const std::string& path) {
  // readdir() needs a descriptor of its own, which closedir() closes.
  const int copy = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (!entries) {
    if (copy >= 0) close(copy);
    throw unreadable(path, std::string("cannot be listed: ") + std::strerror(errno), "a folder",
                     "make it readable, or remove it");
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    constexpr std::string_view kSuffix = ".toml";
    // Hidden copies that an editor left are not descriptions.
    const bool is_toml = name.size() > kSuffix.size() && name.front() != '.' &&
                         name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
    if (is_toml) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_trusted_file(const Descriptor& folder, const std::string& folder_path,
                              const std::string& name, std::size_t longest) {
  const std::string path = folder_path + "/" + name;
  // Without O_NONBLOCK, opening a FIFO waits for its other end.
  const Descriptor file(openat(folder.number(), name.c_str(),
                               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) {
    const bool is_link = errno == ELOOP;
    throw unreadable(
        path,
        is_link ? "is a symbolic link" : std::string("cannot be read: ") + std::strerror(errno),
        "a file that describes a launcher",
        is_link ? "replace it with a copy of the file" : "make it readable, or remove it");
  }
  const struct stat status = status_of(file, path);
  require_trusted(status, path);
  return read_open_file(file, status, path, longest);
}

std::string read_named_file(const std::string& path, std::size_t longest) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) {
    throw unreadable(path, std::string("cannot be read: ") + std::strerror(errno),
                     "a file that describes a launcher", "correct the path");
  }
  return read_open_file(file, status_of(file, path), path, longest);
}

}  // namespace hpcboot
