#include "secret_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/file_system.hpp"
#include "core/user_folders.hpp"
#include "core/write_all.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "place.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr const char* kNamed = "HPCBOOT_RENDEZVOUS_SECRET_FILE";
constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 4096;

[[noreturn]] void fail(const std::string& path, const std::string& why, const std::string& remedy) {
  throw Error(ErrorCode::unreadable_file, path + " " + why,
              "a secret in a regular file that this user alone can read (mode 0600)", remedy);
}

enum class Owner { user, user_or_root };

// Checks and reads the same open file.
Secret read_secret(const Socket& file, const std::string& path, Owner owner) {
  struct stat status {};
  if (fstat(file.fd(), &status) != 0)
    fail(path, std::string("cannot be read: ") + std::strerror(errno), "give another file");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file", "give another file");
  const bool is_of_root = owner == Owner::user_or_root && status.st_uid == 0;
  if (status.st_uid != geteuid() && !is_of_root)
    fail(path, "belongs to the user " + std::to_string(status.st_uid), "use a file of your own");
  // Platforms mount a secret of root readable by a group that contains only this process.
  const unsigned closed_to = is_of_root ? 037U : 077U;
  if ((status.st_mode & closed_to) != 0) {
    fail(
        path, "is open to others",
        "chmod 600 " + path + "; for a Kubernetes Secret: defaultMode: 0400, or 0440 with fsGroup");
  }
  std::array<char, kLongest + 64> bytes{};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = read(file.fd(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      fail(path, std::string("cannot be read: ") + std::strerror(errno), "check the file");
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  const std::string_view text(bytes.data(), size);
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), size);
  const std::size_t last = text.find_last_not_of(kBlanks);
  const std::size_t length = first == size ? 0 : last + 1 - first;
  Secret secret(std::string(text.substr(first, length)));
  explicit_bzero(bytes.data(), bytes.size());
  if (length >= kShortest && length <= kLongest && size < bytes.size()) return secret;
  throw Error(ErrorCode::malformed_file,
              path + " contains " + std::to_string(length) + " characters" +
                  (size == bytes.size() ? " or more" : ""),
              "a secret of 16 to 4096 characters",
              "create one: (umask 077; openssl rand -hex 32 >FILE)");
}

}  // namespace

std::optional<Secret> named_secret(const Env& env) {
  const auto named = env.text(kNamed);
  if (!named) return std::nullopt;
  const std::string path(*named);
  const Socket file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) {
    fail(path, std::string("(") + kNamed + ") cannot be read: " + std::strerror(errno),
         std::string("give every rank the same file, or unset ") + kNamed);
  }
  return read_secret(file, path, Owner::user_or_root);
}

std::string key_path(const Env& env) {
  const std::string folder = config_folder(env);
  return folder.empty() ? "" : folder + "/hpcboot/rendezvous.key";
}

std::string host_key_path(const Env& env) {
  const std::string path = key_path(env);
  if (path.empty()) return {};
  return path.substr(0, path.rfind('/')) + "/rendezvous." + own_hostname() + ".key";
}

bool is_on_network_file_system(const std::string& path) {
  for (std::string folder = path; !folder.empty(); folder.erase(folder.rfind('/'))) {
    if (const auto system = file_system_at(folder)) return system->seen_by == SeenBy::many_hosts;
  }
  return false;
}

bool may_have_key(const std::string& path) {
  struct stat status {};
  return !path.empty() &&
         (lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

std::optional<Secret> read_key(const std::string& path, std::string& reason) {
  reason = "HOME is not set";
  if (path.empty()) return std::nullopt;
  const Socket file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (file.is_open()) return read_secret(file, path, Owner::user);
  reason = path + ": " + std::strerror(errno);
  return std::nullopt;
}

bool make_key(const std::string& path, std::string& reason) {
  reason = "HOME is not set";
  if (path.empty()) return false;
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string parent = folder.substr(0, folder.rfind('/'));
  for (const std::string& name : {parent, folder}) {
    if (mkdir(name.c_str(), 0700) == 0 || errno == EEXIST) continue;
    reason = name + ": " + std::strerror(errno);
    return false;
  }
  const Token random = random_token();
  const std::string name = folder + "/.rendezvous.key." +
                           hex_of({reinterpret_cast<const char*>(random.data()), random.size()});
  Socket file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) {
    reason = name + ": " + std::strerror(errno);
    return false;
  }
  struct stat status {};
  if (fstat(file.fd(), &status) != 0 || status.st_uid != geteuid() ||
      (status.st_mode & 077U) != 0) {
    unlink(name.c_str());
    reason = folder + ": the file system does not keep owner and mode";
    return false;
  }
  std::string text = hex_of(Secret::random().bytes()) + "\n";
  const bool is_written = write_all(file.fd(), text) && fsync(file.fd()) == 0;
  explicit_bzero(text.data(), text.size());
  // On a file system without hard links, this user gets no key rather than an incomplete one.
  const bool is_there = is_written && (link(name.c_str(), path.c_str()) == 0 || errno == EEXIST);
  if (!is_there) reason = path + ": " + std::strerror(errno);
  unlink(name.c_str());
  return is_there;
}

}  // namespace hpcboot::rendezvous
