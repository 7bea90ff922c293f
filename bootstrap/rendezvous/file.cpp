#include "file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"
#include "pmi_kvs.hpp"

// Files of an earlier run with the same identity (a repeated job step, a login node without a job)
// look like files of this run. So every rank first writes a greeting, "hello-RANK", that contains a
// random word of its own; rank 0 lists the words that it sees in "roster", headed by a random word
// for the run. A rank that finds its own word in the roster knows that the roster belongs to this
// run, and answers in the folder named after the run; only rank 0 can mistake a stale greeting for
// a new one, and it waits for these answers. Everything else happens in the run's folder, which is
// new. Files are created under a temporary name and renamed, so that they appear complete.
//
// Anyone who can write here can act as rank 0. So the meeting place is a folder that only this user
// can access, and it is reached by a descriptor: in a folder such as /tmp, others can put a folder
// of their own in its place, but cannot make it belong to this user.
namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string random_word() {
  std::random_device device;
  std::ostringstream word;
  word << std::hex << device() << device() << '-' << getpid();
  return word.str();
}

[[noreturn]] void fail(const std::string& found) {
  throw Error(ErrorCode::exchange_failed, found,
              "a folder that every rank can write to, on a file system shared by all hosts",
              "correct HPCBOOT_EXCHANGE_DIR");
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + "." + random_word();
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0)
    fail("cannot write " + path.string() + ": " + std::strerror(errno));
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// Polls until `is_so` returns true; returns false if the deadline passes first.
bool poll_until(milliseconds deadline, const std::function<bool()>& is_so) {
  const auto end = Clock::now() + deadline;
  auto pause = milliseconds(1);
  while (!is_so()) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(2 * pause, milliseconds(100));
  }
  return true;
}

// A folder of this user that no other user can enter; created if it does not exist.
class OwnFolder {
 public:
  explicit OwnFolder(const fs::path& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      fail("cannot create " + path.string() + ": " + std::strerror(errno));
    descriptor_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      const std::string reason = std::strerror(errno);
      close_descriptor();
      refuse(path, "cannot be opened as a folder: " + reason);
    }
    if (status.st_uid != geteuid()) {
      close_descriptor();
      refuse(path, "belongs to the user " + std::to_string(status.st_uid));
    }
    if ((status.st_mode & 077U) != 0) {
      close_descriptor();
      refuse(path, "is accessible to others");
    }
  }
  ~OwnFolder() { close_descriptor(); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  // Refers to the opened folder, even if its name has been replaced since.
  fs::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  [[noreturn]] static void refuse(const fs::path& path, const std::string& found) {
    throw Error(ErrorCode::exchange_failed, path.string() + " " + found,
                "a folder of this user that no other user can enter (mode 0700)",
                "remove it, or set HPCBOOT_EXCHANGE_DIR to a folder of your own that all hosts "
                "share");
  }

  void close_descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_ = -1;
};

// The user id in the name keeps two users of one folder apart.
fs::path make_parent(const FileKvsOptions& options) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) fail("cannot create " + options.folder + ": " + error.message());
  return fs::path(options.folder) /
         ("hpcboot-" + std::to_string(geteuid()) + "-" + escape_for_pmi(options.identity) + "-" +
          std::to_string(options.world_size));
}

class FileKvs : public KeyValueStore {
 public:
  FileKvs(const FileKvsOptions& options, milliseconds deadline)
      : rank_(options.rank),
        world_size_(options.world_size),
        name_(make_parent(options)),
        folder_(name_),
        meeting_place_(folder_.path()) {
    rank_ == 0 ? gather(deadline) : join(deadline);
  }

  void put(const std::string& key, const std::string& value) override {
    write_file(file_of(rank_, key), value);
  }

  void commit(milliseconds) override {}

  std::string get(int rank, const std::string& key, milliseconds deadline) override {
    std::optional<std::string> text;
    if (poll_until(deadline, [&] { return (text = read_file(file_of(rank, key))).has_value(); }))
      return *text;
    fail_late("no '" + key + "' from rank " + std::to_string(rank), deadline);
  }

  void fence(milliseconds deadline) override {
    const std::string name = "fence-" + std::to_string(++fences_) + "-";
    write_file(run_ / (name + std::to_string(rank_)), "");
    await_all(name, "a fence", deadline);
  }

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return "file: " + name_.string(); }

 private:
  fs::path file_of(int rank, const std::string& key) const {
    return run_ / ("value-" + std::to_string(rank) + "-" + escape_for_pmi(key));
  }

  void remove_earlier_runs() const {
    std::error_code ignored;  // another user's, or already removed: harmless
    for (const auto& entry : fs::directory_iterator(meeting_place_, ignored)) {
      if (entry.path().filename().string().rfind("run-", 0) == 0)
        fs::remove_all(entry.path(), ignored);
    }
  }

  // Rank 0: lists the ranks that it sees until all have answered.
  void gather(milliseconds deadline) {
    remove_earlier_runs();
    const std::string run = "run-" + random_word();
    run_ = meeting_place_ / run;
    std::error_code error;
    fs::create_directory(run_, error);
    if (error) fail("cannot create " + run_.string() + ": " + error.message());
    write_file(run_ / "here-0", "");
    std::string last;
    std::set<int> missing;
    for (int rank = 1; rank < world_size_; ++rank) missing.insert(rank);
    const bool all = poll_until(deadline, [&] {
      std::string roster = run + "\n";
      for (int rank = 1; rank < world_size_; ++rank) {
        const auto word = read_file(meeting_place_ / ("hello-" + std::to_string(rank)));
        if (word) roster += *word + "\n";
      }
      if (roster != last) write_file(meeting_place_ / "roster", roster);
      last = roster;
      for (auto rank = missing.begin(); rank != missing.end();) {
        const bool is_here = fs::exists(run_ / ("here-" + std::to_string(*rank)));
        rank = is_here ? missing.erase(rank) : std::next(rank);
      }
      return missing.empty();
    });
    if (!all) fail_missing(missing, "at " + name_.string(), deadline);
  }

  void join(milliseconds deadline) {
    const std::string word = random_word();
    write_file(meeting_place_ / ("hello-" + std::to_string(rank_)), word);
    const bool is_listed = poll_until(deadline, [&] {
      const auto roster = read_file(meeting_place_ / "roster");
      if (!roster || roster->find("\n" + word + "\n") == std::string::npos) return false;
      run_ = meeting_place_ / roster->substr(0, roster->find('\n'));
      return true;
    });
    if (!is_listed) fail_late("rank 0 did not arrive at " + name_.string(), deadline);
    write_file(run_ / ("here-" + std::to_string(rank_)), "");
  }

  void await_all(const std::string& name, const std::string& where, milliseconds deadline) const {
    std::set<int> missing;
    for (int rank = 0; rank < world_size_; ++rank) missing.insert(rank);
    const bool all = poll_until(deadline, [&] {
      for (auto rank = missing.begin(); rank != missing.end();) {
        const bool is_here = fs::exists(run_ / (name + std::to_string(*rank)));
        rank = is_here ? missing.erase(rank) : std::next(rank);
      }
      return missing.empty();
    });
    if (!all) fail_missing(missing, "at " + where, deadline);
  }

  [[noreturn]] static void fail_missing(const std::set<int>& missing, const std::string& where,
                                        milliseconds deadline) {
    std::string ranks;
    for (const int rank : missing) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    fail_late((missing.size() == 1 ? "rank " : "ranks ") + ranks.substr(0, 200) +
                  " did not arrive " + where,
              deadline);
  }

  [[noreturn]] static void fail_late(const std::string& what, milliseconds deadline) {
    throw Error(ErrorCode::deadline_exceeded,
                what + " within " + std::to_string(deadline.count()) + " ms",
                "every rank of the launch to start within the deadline, and a folder visible to "
                "all of them",
                "check the output of that rank and its host: did it start, and does it see "
                "HPCBOOT_EXCHANGE_DIR?");
  }

  int rank_;
  int world_size_;
  fs::path name_;  // of the meeting place, for messages
  OwnFolder folder_;
  fs::path meeting_place_;
  fs::path run_;
  int fences_ = 0;
};

}  // namespace

std::unique_ptr<KeyValueStore> open_file_kvs(const FileKvsOptions& options, milliseconds deadline) {
  return std::make_unique<FileKvs>(options, deadline);
}

}  // namespace hpcboot
