#include "read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

// Ten thousand hosts with a hundred lines each take 64 MiB.
constexpr std::size_t kMostBytes = std::size_t{128} << 20U;

FileText failed(const char* reason) {
  return {std::nullopt, reason};
}

FileText read_descriptor(int file, FileKind kind) {
  struct stat status {};
  if (fstat(file, &status) != 0) return failed(std::strerror(errno));
  if (kind == FileKind::regular && !S_ISREG(status.st_mode))
    return failed("it is not a regular file");
  constexpr const char* kTooLarge = "it is larger than 128 MiB";
  if (status.st_size > static_cast<off_t>(kMostBytes)) return failed(kTooLarge);
  std::string text;
  char bytes[1 << 16];
  while (true) {
    const ssize_t count = read(file, bytes, sizeof bytes);
    if (count == 0) return {std::move(text), ""};
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(std::strerror(errno));
    text.append(bytes, static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) return failed(kTooLarge);
  }
}

}  // namespace

FileText read_whole(const std::string& path, FileKind kind) {
  // Without O_NONBLOCK, open() blocks until the other end of a FIFO is opened.
  const int flags = O_RDONLY | O_CLOEXEC | (kind == FileKind::regular ? O_NONBLOCK | O_NOCTTY : 0);
  const int file = open(path.c_str(), flags);
  if (file < 0) return failed(std::strerror(errno));
  FileText answer = read_descriptor(file, kind);
  close(file);
  return answer;
}

std::optional<std::string> read_file(const std::string& path) {
  return read_whole(path, FileKind::regular).text;
}

void take_hosts_from_file(Allocation& job, const Env& env, const char* variable,
                          const AllocationOptions& options,
                          Nodefile (*parse)(std::string_view text, std::string_view name)) {
  std::optional<std::string> path = options.nodefile;
  if (!path && options.read_files && env.has(variable)) path = *env.text(variable);
  if (!path) return;
  const FileText file = read_whole(*path, options.nodefile ? FileKind::any : FileKind::regular);
  if (file.text) {
    Nodefile nodefile = parse(*file.text, *path);
    job.hosts = std::move(nodefile.hosts);
    job.slots = std::move(nodefile.slots);
    job.num_tasks = sum_of(job.slots);
    job.hosts_variable = options.nodefile ? "--nodefile" : variable;
  } else if (options.nodefile) {
    throw Error(ErrorCode::unreadable_file,
                "the nodefile " + *path + " cannot be read: " + file.reason, "a file of host names",
                "correct the path given as --nodefile");
  } else {
    job.unreadable_file = *path;
    job.unreadable_reason = file.reason;
  }
}

std::optional<int> sum_of(const std::vector<int>& slots) {
  const std::int64_t sum = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
  if (sum > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(sum);
}

}  // namespace hpcboot
