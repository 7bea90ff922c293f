#include "script_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>

#include "core/regular_file.hpp"
#include "core/write_all.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

namespace fs = std::filesystem;

// @param reason an errno
[[noreturn]] void fail(const std::string& file, int reason) {
  throw Error(ErrorCode::unwritable_output,
              "the script cannot be written to " + file + ": " + std::strerror(reason),
              "a file in a writable folder with room for it", "correct --output");
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::unwritable_output, what,
              "a new file, or a script that `hpcboot script` has written",
              "name another file, or remove this one");
}

// At the start of a line: a program of the user may quote it.
bool has_own_mark(std::istream& text) {
  constexpr std::size_t kHead = 8192;
  std::string head(kHead, '\0');
  text.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(text.gcount()));
  return ("\n" + head).find("\n# Written by `hpcboot ") != std::string::npos;
}

void require_own_script(const std::string& file) {
  RegularFileStream stream(file);
  if (stream.error() != 0) refuse(file + " is there, and cannot be read: " + stream.reason());
  if (stream.size() > 0 && !has_own_mark(stream))
    refuse(file + " is there, and hpcboot has not written it");
}

// @return 0, or an errno
int write_and_close(int fd, std::string_view text) {
  const int reason = write_all(fd, text) ? 0 : errno;
  return close(fd) != 0 && reason == 0 ? errno : reason;
}

}  // namespace

void write_script(const std::string& file, const std::string& script) {
  std::error_code none;
  const fs::file_status before = fs::status(file, none);
  // A device or a FIFO keeps its mode: it must not change, although root could change it.
  if (fs::exists(before) && !fs::is_regular_file(before)) {
    const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (const int reason = fd < 0 ? errno : write_and_close(fd, script)) fail(file, reason);
    return;
  }
  const bool replaces = fs::exists(before);
  if (replaces) require_own_script(file);
  // The rename would replace the link.
  if (!replaces && fs::is_symlink(fs::symlink_status(file, none)))
    refuse(file + " is a link to a file that is missing or cannot be seen");
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = replaces ? static_cast<mode_t>(before.permissions()) : 0666U & ~mask;
  // A full disk must not leave half a script, nor cost the one that is there.
  const std::string target = replaces ? fs::canonical(file, none).string() : file;
  std::string part = target + ".XXXXXX";
  const int fd = mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) fail(file, errno);
  int reason = fchmod(fd, mode | (0111U & ~mask)) == 0 ? 0 : errno;
  const int unwritten = write_and_close(fd, script);
  if (reason == 0) reason = unwritten;
  if (reason == 0 && rename(part.c_str(), target.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  unlink(part.c_str());
  fail(file, reason);
}

}  // namespace hpcboot::tool
