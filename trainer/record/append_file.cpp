#include "record/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {
constexpr std::chrono::seconds kFlushInterval{1};
}  // namespace

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)),
      descriptor_(
          ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  // O_NONBLOCK: a FIFO that nobody reads is an error then, and no wait.
  if (descriptor_ < 0) throw output_error("open", path_, errno);
}

AppendFile::~AppendFile() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor has nobody to tell; whoever needs to know calls flush().
  }
  ::close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
  pending_ += bytes;
  if (std::chrono::steady_clock::now() - last_flush_ >= kFlushInterval) flush();
}

void AppendFile::flush() {
  last_flush_ = std::chrono::steady_clock::now();
  while (!pending_.empty()) {
    const ssize_t written = ::write(descriptor_, pending_.data(), pending_.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw output_error("write", path_, errno);
    }
    pending_.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace hpcboot::record
