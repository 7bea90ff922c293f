#include "stage_keeper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "file_tree.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "stage.hpp"
#include "stage_folder.hpp"

namespace hpcboot::run {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLook{50};

// The copy is no longer needed.
struct NotWanted {};

// Signals of launchers and schedulers are meant for the ranks, and this process must not keep the
// ranks' pipes open.
void stand_apart(int report) {
  prctl(PR_SET_NAME, kStageKeeper);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  std::vector<int> fds;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(folder)) {
      const auto fd = parse_whole_number(entry->d_name);
      if (fd && *fd != report) fds.push_back(static_cast<int>(*fd));
    }
    closedir(folder);
  }
  for (const int fd : fds) close(fd);
  for (int i = 0; i < 3; ++i) open("/dev/null", O_RDWR);
  if (chdir("/") != 0) return;  // the working folder's file system stays busy then
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10;
  for (; tenths >= 10000 && unit + 1 < kUnits.size(); ++unit) tenths /= 1000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + kUnits.at(unit);
}

class Keeper {
 public:
  explicit Keeper(const KeeperOrder& order)
      : source_(order.source),
        folder_(order.folder),
        report_(order.report),
        keeper_(order.folder + "/keeper"),
        copy_(order.folder + "/data/" + fs::path(order.source).filename().string()) {}

  void run() {
    while (!is_copied() && !keeper_.try_alone()) {
      if (!is_heard()) return;
      PollSet nothing;
      nothing.wait(Clock::now() + kLook);
    }
    if (is_copied()) {
      report_copy("");
      return;
    }
    if (!keeper_.is_there()) return;
    users_.emplace(folder_ + "/users");
    try {
      copy();
      users_->await_alone();
    } catch (const NotWanted&) {
    }
    remove_stage_folder(folder_);
  }

 private:
  bool is_copied() const { return access((folder_ + "/data").c_str(), F_OK) == 0; }

  // Does anything still read the report?
  bool is_heard() const {
    pollfd entry{report_, 0, 0};
    return poll(&entry, 1, 0) <= 0 || (entry.revents & POLLERR) == 0;
  }

  void report(const std::string& text) const {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t count = write(report_, rest.data(), rest.size());
      if (count < 0 && errno != EINTR) break;
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    }
    close(report_);
  }

  void report_copy(const std::string& note) const {
    report(kReportStaged + note + kReportBehindNote + copy_);
  }

  void go_on() {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + kLook;
    if (users_->try_alone()) throw NotWanted{};
  }

  // After a failure this keeper stays with what there is: otherwise the next keeper would try and
  // fail too.
  void copy() {
    try {
      const auto begin = Clock::now();
      remove_left_behind(fs::path(folder_).parent_path().string());
      const auto look = [this] { go_on(); };
      const FileTree tree = read_tree(source_, look);
      require_room(tree.bytes);
      const std::string part = folder_ + "/part";
      fs::remove_all(part);  // of a keeper that was killed
      fs::create_directory(part);
      copy_tree(tree, source_, part + "/" + fs::path(source_).filename().string(), look);
      fs::rename(part, folder_ + "/data");
      const std::chrono::duration<double> time = Clock::now() - begin;
      report_copy(note_of(tree.bytes, time.count()));
    } catch (const Error& error) {
      report(kReportError + to_payload(error));
    } catch (const std::system_error& error) {
      report(kReportError + to_payload(Error(ErrorCode::unwritable_output, error.what(),
                                             "a folder on this host's disk for the staged copy",
                                             "set TMPDIR to one")));
    }
  }

  void require_room(std::uint64_t bytes) const {
    struct statvfs disk {};
    if (statvfs(folder_.c_str(), &disk) != 0) return;  // the copy itself will report it
    const std::uint64_t room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    if (bytes <= room) return;
    throw Error(
        ErrorCode::unwritable_output,
        source_ + " has " + size_text(bytes) + ", and " + fs::path(folder_).parent_path().string() +
            " has room for " + size_text(room),
        "enough room for a copy on the disk of each host",
        "request more from the scheduler, set TMPDIR to another folder, or leave out --stage");
  }

  std::string note_of(std::uint64_t bytes, double seconds) const {
    const auto tenths = static_cast<std::uint64_t>(seconds * 10);
    return size_text(bytes) + " staged to " + folder_ + " in " + std::to_string(tenths / 10) + "." +
           std::to_string(tenths % 10) + " s";
  }

  std::string source_;
  std::string folder_;
  int report_;
  LockFile keeper_;
  std::optional<LockFile> users_;
  std::string copy_;
  Clock::time_point next_look_;
};

}  // namespace

void keep_stage(const KeeperOrder& order) noexcept {
  stand_apart(order.report);
  try {
    Keeper(order).run();
  } catch (...) {
    _exit(1);  // without a report: the Stage notices
  }
  _exit(0);
}

}  // namespace hpcboot::run
