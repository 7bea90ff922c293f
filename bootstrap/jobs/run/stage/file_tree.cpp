#include "file_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/contains.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20U;

[[noreturn]] void fail_to_read(const std::string& path, const std::string& reason) {
  throw Error(ErrorCode::unreadable_file, path + " cannot be staged: " + reason,
              "files and folders that this user can read on every host",
              "correct the path of --stage, or the files below it");
}

[[noreturn]] void fail_to_write(const std::string& path) {
  throw Error(ErrorCode::unwritable_output, path + ": " + std::strerror(errno),
              "room for the staged copy on this host's disk",
              "free some space, set TMPDIR to another folder, or leave out --stage");
}

class Reader {
 public:
  Reader(const std::string& root, const std::function<void()>& go_on, std::size_t most)
      : root_(root), go_on_(go_on), most_(most) {}

  FileTree read() {
    struct stat status {};
    if (stat(root_.c_str(), &status) != 0) fail_to_read(root_, std::strerror(errno));
    add("", status);
    return std::move(tree_);
  }

 private:
  void add(const std::string& name, const struct stat& status) {
    go_on_();
    if (S_ISDIR(status.st_mode)) {
      add_folder(name, status);
    } else if (S_ISREG(status.st_mode)) {
      if (access((root_ + name).c_str(), R_OK) != 0)
        fail_to_read(root_ + name, std::strerror(errno));
      add_entry({name, FileTree::Kind::file, status.st_mode, ""});
      tree_.bytes += static_cast<std::uint64_t>(status.st_size);
    } else {
      fail_to_read(root_ + name, "it is a device, a pipe or a socket");
    }
  }

  // Links to folders with links to folders can multiply without an end in sight.
  void add_entry(FileTree::Entry entry) {
    if (tree_.entries.size() >= most_) {
      throw Error(
          ErrorCode::unreadable_file,
          root_ + " cannot be staged: more than " + std::to_string(most_) + " files and folders",
          "at most that many, including those that links lead to",
          "correct the path of --stage, pack the files into archives, or remove links that "
          "lead to the same folder again");
    }
    tree_.entries.push_back(std::move(entry));
  }

  void add_folder(const std::string& name, const struct stat& status) {
    const std::pair<dev_t, ino_t> identity{status.st_dev, status.st_ino};
    if (contains(above_, identity))
      fail_to_read(root_ + name, "a link points to a folder that contains it");
    above_.push_back(identity);
    add_entry({name, FileTree::Kind::folder, status.st_mode, ""});
    std::error_code reason;
    for (fs::directory_iterator it(root_ + name, reason), end; !reason && it != end;
         it.increment(reason))
      add_found(name + "/" + it->path().filename().string());
    if (reason) fail_to_read(root_ + name, reason.message());
    above_.pop_back();
  }

  void add_found(const std::string& name) {
    const std::string path = root_ + name;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) fail_to_read(path, std::strerror(errno));
    if (S_ISLNK(status.st_mode)) {
      std::error_code reason;
      const fs::path target = fs::read_symlink(path, reason);
      if (!reason && stays_below(name, target)) {
        add_entry({name, FileTree::Kind::link, 0, target.string()});
        return;
      }
      if (stat(path.c_str(), &status) != 0) fail_to_read(path, std::strerror(errno));
    }
    add(name, status);
  }

  // This also holds in the copy: no other link is on the way.
  bool stays_below(const std::string& name, const fs::path& target) const {
    if (target.is_absolute()) return false;
    const fs::path whole = (fs::path(name.substr(1)).parent_path() / target).lexically_normal();
    std::error_code reason;
    const fs::path real = fs::canonical(root_ + name, reason);
    if (whole.empty() || *whole.begin() == ".." || reason) return false;
    const fs::path expected = (fs::canonical(root_, reason) / whole).lexically_normal();
    // "v1/" and "." now end in a slash, unlike `real`.
    return real == (expected.has_filename() ? expected : expected.parent_path());
  }

  const std::string& root_;
  const std::function<void()>& go_on_;
  const std::size_t most_;
  FileTree tree_;
  std::vector<std::pair<dev_t, ino_t>> above_;  // the folders above the current one
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

class Copier {
 public:
  explicit Copier(const std::function<void()>& go_on) : go_on_(go_on), buffer_(kPiece) {}

  void copy_file(const std::string& from, const std::string& to, mode_t mode) {
    const Descriptor in(open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (in.get() < 0) fail_to_read(from, std::strerror(errno));
    const Descriptor out(
        open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode & 0777U) | 0600U));
    if (out.get() < 0) fail_to_write(to);
    while (true) {
      go_on_();
      const ssize_t count = read(in.get(), buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_to_read(from, std::strerror(errno));
      if (count == 0) return;
      write_all(out.get(), static_cast<std::size_t>(count), to);
    }
  }

 private:
  void write_all(int fd, std::size_t size, const std::string& to) {
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = write(fd, buffer_.data() + done, size - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_to_write(to);
      done += static_cast<std::size_t>(count);
    }
  }

  const std::function<void()>& go_on_;
  std::vector<char> buffer_;
};

}  // namespace

FileTree read_tree(const std::string& root, const std::function<void()>& go_on, std::size_t most) {
  return Reader(root, go_on, most).read();
}

void copy_tree(const FileTree& tree, const std::string& root, const std::string& to,
               const std::function<void()>& go_on) {
  Copier copier(go_on);
  for (const FileTree::Entry& entry : tree.entries) {
    go_on();
    const std::string path = to + entry.name;
    switch (entry.kind) {
      case FileTree::Kind::folder:
        if (mkdir(path.c_str(), (entry.mode & 0777U) | 0700U) != 0) fail_to_write(path);
        break;
      case FileTree::Kind::link:
        if (symlink(entry.target.c_str(), path.c_str()) != 0) fail_to_write(path);
        break;
      case FileTree::Kind::file:
        copier.copy_file(root + entry.name, path, entry.mode);
        break;
    }
  }
}

}  // namespace hpcboot::run
