#include "job_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hpcboot::queue {
namespace {

constexpr std::size_t kPart = std::size_t{64} << 10U;
constexpr std::size_t kTail = std::size_t{1} << 20U;

}  // namespace

JobLog::JobLog(const std::vector<std::string>& files) {
  add(files);
}

JobLog::~JobLog() {
  for (const File& file : files_) {
    if (file.descriptor >= 0) ::close(file.descriptor);
  }
}

void JobLog::add(const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    const bool is_known =
        std::any_of(files_.begin(), files_.end(), [&](const File& f) { return f.path == path; });
    if (!is_known) files_.push_back({path});
  }
  open_new();
}

// Regular files only: no devices, and no FIFOs, which would block.
void JobLog::open_new() {
  for (File& file : files_) {
    if (file.descriptor >= 0) continue;
    const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) continue;
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor);
      continue;
    }
    file.descriptor = descriptor;
    is_there_ = true;
  }
}

void JobLog::skip_to_last(std::size_t lines) {
  for (const File& file : files_) {
    const off_t size = file.descriptor < 0 ? 0 : ::lseek(file.descriptor, 0, SEEK_END);
    if (size <= 0) continue;
    std::string tail(std::min<std::size_t>(kTail, static_cast<std::size_t>(size)), '\0');
    const off_t begin = size - static_cast<off_t>(tail.size());
    const ssize_t got = ::pread(file.descriptor, tail.data(), tail.size(), begin);
    tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    // A newline at the very end belongs to the last line.
    std::size_t at = tail.empty() ? 0 : tail.size() - 1;
    for (std::size_t left = lines; left > 0 && at > 0; --left) {
      const std::size_t line_end = tail.rfind('\n', at - 1);
      at = line_end == std::string::npos ? 0 : line_end;
    }
    const std::size_t from = lines == 0 ? tail.size() : at == 0 ? 0 : at + 1;
    ::lseek(file.descriptor, begin + static_cast<off_t>(from), SEEK_SET);
  }
}

// A requeued job may truncate its file, or create a new one of the same name.
void JobLog::look_for_new(File& file) {
  struct stat here {};
  struct stat there {};
  if (::fstat(file.descriptor, &here) != 0) return;
  if (here.st_size < ::lseek(file.descriptor, 0, SEEK_CUR)) ::lseek(file.descriptor, 0, SEEK_SET);
  const bool is_another = ::stat(file.path.c_str(), &there) == 0 && S_ISREG(there.st_mode) &&
                          (there.st_ino != here.st_ino || there.st_dev != here.st_dev);
  if (!is_another) return;
  ::close(file.descriptor);
  file.descriptor = -1;
  open_new();
}

std::string JobLog::read() {
  open_new();
  for (std::size_t count = 0; count < files_.size(); ++count) {
    // In turns: a file that grows all the time must not starve the others.
    const std::size_t i = (next_ + count) % files_.size();
    std::string part(kPart, '\0');
    ssize_t size = 0;
    for (int attempt = 0; attempt < 2 && size <= 0 && files_[i].descriptor >= 0; ++attempt) {
      if (attempt > 0) look_for_new(files_[i]);
      if (files_[i].descriptor >= 0) size = ::read(files_[i].descriptor, part.data(), part.size());
    }
    if (size <= 0) continue;
    part.resize(static_cast<std::size_t>(size));
    next_ = i + 1;
    const bool is_another = shown_ && *shown_ != i;
    const std::string head =
        is_another ? std::string(is_in_line_ ? "\n" : "") + "==> " + files_[i].path + " <==\n" : "";
    shown_ = i;
    is_in_line_ = part.back() != '\n';
    return head + part;
  }
  return "";
}

}  // namespace hpcboot::queue
