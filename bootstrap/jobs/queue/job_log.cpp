#include "job_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hpcboot::queue {
namespace {

constexpr std::size_t kPart = std::size_t{64} << 10U;

// Where the last lines begin: read backwards, a part at a time.
off_t start_of_last(std::size_t lines, int descriptor, off_t size) {
  if (lines == 0) return size;
  std::string part(kPart, '\0');
  // A newline at the very end belongs to the last line.
  for (off_t end = size - 1; end > 0;) {
    const off_t begin = std::max(end - static_cast<off_t>(kPart), off_t{0});
    const ssize_t got =
        ::pread(descriptor, part.data(), static_cast<std::size_t>(end - begin), begin);
    if (got <= 0) return end;  // it has become shorter
    for (auto i = static_cast<std::size_t>(got); i > 0; --i) {
      if (part[i - 1] == '\n' && --lines == 0) return begin + static_cast<off_t>(i);
    }
    end = begin;
  }
  return 0;
}

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
    ::lseek(file.descriptor, start_of_last(lines, file.descriptor, size), SEEK_SET);
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
