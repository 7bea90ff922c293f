#include "script_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file) {
  throw Error(ErrorCode::unwritable_output, "the script cannot be written to " + file,
              "a file in a writable folder with room for it", "correct --output");
}

void require_own_script(const std::string& file) {
  constexpr std::size_t kHead = 8192;
  std::string head(kHead, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(stream.gcount()));
  if (head.empty() || head.find("# Written by `hpcboot ") != std::string::npos) return;
  throw Error(ErrorCode::unwritable_output, file + " is there, and hpcboot has not written it",
              "a new file, or a script that `hpcboot script` has written",
              "name another file, or remove this one");
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

void write_script(const std::string& file, const std::string& script) {
  std::error_code none;
  const fs::file_status before = fs::status(file, none);
  // A device or a FIFO keeps its mode: it must not change, although root could change it.
  if (fs::exists(before) && !fs::is_regular_file(before)) {
    std::ofstream stream(file, std::ios::binary);
    stream << script;
    stream.close();
    if (!stream) fail(file);
    return;
  }
  const bool replaces = fs::exists(before);
  if (replaces) require_own_script(file);
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = replaces ? static_cast<mode_t>(before.permissions()) : 0666U & ~mask;
  // A full disk must not leave half a script, nor cost the one that is there.
  const std::string target = replaces ? fs::canonical(file, none).string() : file;
  std::string part = target + ".XXXXXX";
  const int fd = mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) fail(file);
  bool is_written = write_all(fd, script) && fchmod(fd, mode | (0111U & ~mask)) == 0;
  is_written = close(fd) == 0 && is_written;
  if (is_written && rename(part.c_str(), target.c_str()) == 0) return;
  unlink(part.c_str());
  fail(file);
}

}  // namespace hpcboot::tool
