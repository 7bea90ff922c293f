#include "stage_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/file_system.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"

namespace hpcboot::run {
namespace {

namespace fs = std::filesystem;

// A process that removes the folder holds it for a moment between checking and removing.
constexpr int kMostTries = 100;
constexpr useconds_t kBetweenTries = 20000;

bool is_own_disk(const std::string& path) {
  struct stat status {};
  if (path.empty() || path.front() != '/' || stat(path.c_str(), &status) != 0 ||
      !S_ISDIR(status.st_mode) || access(path.c_str(), W_OK | X_OK) != 0)
    return false;
  const auto system = file_system_at(path);
  return system && system->seen_by != SeenBy::many_hosts;
}

std::string head_of_names() {
  return "hpcboot-stage-" + std::to_string(geteuid()) + "-";
}

// On a disk that several hosts share, each host has its own folder.
std::string tail_of_names() {
  std::string host = own_hostname();
  std::replace(host.begin(), host.end(), '/', '_');
  return "-" + host;
}

[[noreturn]] void refuse(const std::string& folder, const std::string& reason) {
  throw Error(ErrorCode::unwritable_output, folder + ": " + reason,
              "a private folder of this run for the staged copy",
              "set TMPDIR to a folder on this host that no other user can write to");
}

void make_or_take(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) return;
  if (errno != EEXIST) refuse(folder, std::strerror(errno));
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) return;  // removed in the meantime: the caller retries
  if (S_ISLNK(status.st_mode)) refuse(folder, "it is a symbolic link");
  if (!S_ISDIR(status.st_mode)) refuse(folder, "it is not a folder");
  if (status.st_uid != geteuid()) refuse(folder, "it belongs to another user");
  if ((status.st_mode & 077U) != 0) refuse(folder, "other users have access to it");
}

}  // namespace

std::string stage_base(const Env& env) {
  std::string tried;
  for (const char* name : {"HPCBOOT_STAGE_DIR", "SLURM_TMPDIR", "TMPDIR"}) {
    const std::string path(env.text(name).value_or(""));
    if (path.empty()) continue;
    if (is_own_disk(path)) return path;
    tried += path + ", ";
  }
  if (is_own_disk("/tmp")) return "/tmp";
  throw Error(ErrorCode::unwritable_output,
              "no usable folder on this host's own disk for staged data: tried " + tried + "/tmp",
              "a folder on a local file system that this user can write to",
              "set TMPDIR to one, or leave out --stage");
}

std::string stage_folder(const std::string& base, const std::string& launch_id) {
  const bool is_word =
      !launch_id.empty() && std::all_of(launch_id.begin(), launch_id.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      });
  if (!is_word) {
    throw Error(ErrorCode::malformed_value, "HPCBOOT_RUN_ID='" + launch_id + "'",
                "letters and digits only, as hpcboot run sets it",
                "do not set the variable yourself");
  }
  return base + "/" + head_of_names() + launch_id + tail_of_names();
}

LockFile use_stage_folder(const std::string& folder) {
  for (int i = 0; i < kMostTries; ++i) {
    make_or_take(folder);
    LockFile users(folder + "/users");
    if (users.try_shared() && users.is_there()) return users;
    usleep(kBetweenTries);
  }
  refuse(folder, "the other ranks of this host have ended, and the folder is being removed");
}

void remove_stage_folder(const std::string& folder) {
  std::error_code ignored;  // a later run tries again
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored))
    paths.push_back(it->path());
  for (const fs::path& path : paths) {
    if (path.filename() != "users" && path.filename() != "keeper") fs::remove_all(path, ignored);
  }
  // Last: until now no other process can mistake the folder for a new one.
  for (const char* name : {"/keeper", "/users"}) unlink((folder + name).c_str());
  rmdir(folder.c_str());
}

bool remove_if_unused(const std::string& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) return errno == ENOENT;
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) return false;
  LockFile keeper(folder + "/keeper");
  LockFile users(folder + "/users");
  if (!keeper.try_alone() || !users.try_alone()) return false;
  remove_stage_folder(folder);
  return true;
}

void remove_left_behind(const std::string& base) {
  const std::string head = head_of_names();
  const std::string tail = tail_of_names();
  std::error_code ignored;
  for (fs::directory_iterator it(base, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    const bool is_one = name.size() > head.size() + tail.size() && name.rfind(head, 0) == 0 &&
                        name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
    if (!is_one) continue;
    try {
      remove_if_unused(it->path().string());
    } catch (const Error&) {
      continue;  // it only takes up space
    }
  }
}

}  // namespace hpcboot::run
