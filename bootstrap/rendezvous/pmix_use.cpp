#include "pmix_use.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/time_left.hpp"
#include "pmi_kvs.hpp"

namespace hpcboot {
namespace {

constexpr int kMostUses = 100'000;
constexpr std::chrono::milliseconds kWait = std::chrono::seconds(5);

// "hpcboot.slurm.pmix.7.0.": the files of this launch.
std::string files_of_launch(const Env& env) {
  return "hpcboot." + escape_for_pmi(env.text("PMIX_NAMESPACE").value_or("")) + ".";
}

// A folder of this user, in which nobody else can put a file; -1 if there is none. (PRRTE's can be
// read by everybody.)
int open_folder_of_job(const Env& env) {
  const std::string name(env.text("PMIX_SERVER_TMPDIR").value_or(""));
  const int folder = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (folder < 0) return -1;
  if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 022U) == 0)
    return folder;
  close(folder);
  return -1;
}

// The lock ends with its process, however that ends.
void wait_for_end(int folder, const char* file, std::chrono::steady_clock::time_point end) {
  const int descriptor = openat(folder, file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  while (flock(descriptor, LOCK_SH | LOCK_NB) != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  close(descriptor);
}

// For the end of one use by every rank of this host. @param folder is closed
void wait_for_use(int folder, std::string_view prefix, int number,
                  std::chrono::steady_clock::time_point end) {
  const std::string suffix = "." + std::to_string(number);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(folder), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    const bool is_of_use = name.size() > prefix.size() + suffix.size() &&
                           name.substr(0, prefix.size()) == prefix &&
                           name.substr(name.size() - suffix.size()) == suffix;
    if (is_of_use) wait_for_end(folder, entry->d_name, end);
  }
}

}  // namespace

PmixUse::PmixUse(const Env& env, std::chrono::milliseconds deadline) {
  const int folder = open_folder_of_job(env);
  if (folder < 0) return;
  const std::string prefix = files_of_launch(env);
  const std::string own = prefix + escape_for_pmi(env.text("PMIX_RANK").value_or("")) + ".";
  int number = 0;
  do {
    const std::string file = own + std::to_string(++number);
    lock_ = openat(folder, file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (lock_ < 0 && errno == EEXIST && number < kMostUses);
  if (lock_ >= 0) {
    number_ = number;
    flock(lock_, LOCK_EX | LOCK_NB);
  }
  wait_for_use(folder, prefix, number_ - 1, end_after(std::min(deadline, kWait)));
}

PmixUse::~PmixUse() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace hpcboot
