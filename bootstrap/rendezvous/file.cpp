#include "file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "core/schedulers/read_file.hpp"
#include "core/time_left.hpp"
#include "exchange_folder.hpp"
#include "heartbeat.hpp"
#include "hpcboot/error.hpp"
#include "stored_entry.hpp"

// Launches with the same identity meet in one folder, which only this user can enter: anyone who
// can write there can act as rank 0.
//
// 1. Rank 0 creates "lease", which names its run: a new folder, in which everything else happens.
//    It renews "beat" there until it removes the lease.
// 2. Another rank N creates "here-N" in the run that the lease names, and waits until rank 0 has
//    created "seen-N": so rank 0 was alive when it came. Until it has got a value, it follows a new
//    lease.
// 3. If "lease" or "here-N" exists, another process has this rank's place. The rank creates
//    "second" there, and fails as soon as it sees that the other one lives or has ended in order.
//    A rank 0 that finds "second" fails, and creates "twice", which fails the others. It looks
//    before it lets all ranks pass a fence.
// 4. If nothing changes for some seconds, by the clock of the rank 0 that waits for the lease, its
//    owner is dead. The lease is replaced by one that also names the run of the dead.
// 5. At its end, rank 0 removes earlier runs and the lease. Every rank that ends creates "left-N",
//    so that the last one removes the run, and the folder if it is empty.
//
// So no run has two processes of a rank, and of two that are there at the same time the second one
// fails. "lease" and "here-N" are created exclusively, which network file systems support; neither
// locks nor the clocks of the hosts matter.
namespace hpcboot {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Less would be too short on a busy machine.
constexpr milliseconds kShortestSilence = 5 * Heartbeat::kInterval;

// Polls until `is_so` returns true; returns false if the end comes first. What comes after a
// time is seen a quarter of that time later at most.
bool poll_until(Clock::time_point end, const std::function<bool()>& is_so) {
  Clock::duration pause = std::chrono::microseconds(500);
  while (!is_so()) {
    const auto left = end - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min<Clock::duration>(pause + pause / 4, milliseconds(100));
  }
  return true;
}

class FileKvs : public KeyValueStore {
 public:
  explicit FileKvs(const FileKvsOptions& options)
      : rank_(options.rank),
        world_size_(options.world_size),
        silence_(options.silence),
        folder_(options) {}
  ~FileKvs() override { leave(); }
  FileKvs(const FileKvs&) = delete;
  FileKvs& operator=(const FileKvs&) = delete;

  void meet(milliseconds deadline) { rank_ == 0 ? gather(deadline) : join(deadline); }

  void put(const std::string& key, const std::string& value) override {
    require_storable(key, value);
    publish(value_name(rank_, key), value);
  }

  void commit(milliseconds) override {}

  std::string get(int rank, const std::string& key, milliseconds deadline) override {
    std::optional<std::string> text;
    const std::string name = value_name(rank, key);
    if (!wait(deadline, [&] { return (text = read_file(in_run(name))).has_value(); }))
      fail_late("no '" + key + "' from rank " + std::to_string(rank), deadline);
    return *text;
  }

  // Rank 0 decides when all may pass, so that no rank passes if rank 0 fails.
  void fence(milliseconds deadline) override {
    const std::string name = "fence-" + std::to_string(++fences_) + "-";
    const std::string pass = name + "pass";
    publish(own(name), "");
    std::set<int> missing = every_rank();
    const bool is_over = wait(
        deadline, [&] { return rank_ == 0 ? erase_present(missing, name) : exists(in_run(pass)); });
    if (!is_over) {
      if (erase_present(missing, name)) missing = {0};
      fail_missing(missing, "at a fence", deadline);
    }
    if (rank_ != 0) return;
    check_twice();
    publish(pass, "");
  }

  void leave() override {
    if (has_left_) return;
    has_left_ = true;
    try {
      if (rank_ == 0 && !run_.empty()) folder_.release_lease(run_);
      beat_.reset();
      folder_.leave(run_);
    } catch (const std::exception&) {
      // What remains is removed by the next rank 0.
    }
  }

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::string description() const override { return "file: " + folder_.name(); }

 private:
  static std::string value_name(int rank, const std::string& key) {
    return "value-" + std::to_string(rank) + "-" + stored_key(key);
  }
  std::string own(const std::string& kind) const { return kind + std::to_string(rank_); }
  std::string in_run(const std::string& name) const { return folder_.at(run_ + "/" + name); }

  std::set<int> every_rank() const {
    std::set<int> ranks;
    for (int rank = 0; rank < world_size_; ++rank) ranks.insert(ranks.end(), rank);
    return ranks;
  }

  // Erases the ranks whose file of this kind exists; true if none is left.
  bool erase_present(std::set<int>& ranks, const std::string& kind) const {
    for (auto rank = ranks.begin(); rank != ranks.end();)
      rank = exists(in_run(kind + std::to_string(*rank))) ? ranks.erase(rank) : std::next(rank);
    return ranks.empty();
  }

  // If the run has been removed, wait() notices.
  void publish(const std::string& name, const std::string& text) {
    published_[name] = text;
    folder_.is_written(replace_file(in_run(name), text), name);
  }

  // Rank 0: takes the lease, and tells the ranks that it sees until all have arrived.
  void gather(milliseconds deadline) {
    const auto end = end_after(deadline);
    const std::string run = "run-" + unique_word();
    const auto silence = std::min(silence_, std::max(deadline / 2, kShortestSilence));
    if (!poll_until(end, [&] { return folder_.take_lease(run, silence); }))
      fail_late("an earlier rank 0 did not release " + folder_.name(), deadline);
    run_ = run;
    is_in_ = true;
    if (mkdir(folder_.at(run_).c_str(), 0700) != 0)
      fail_folder("cannot create " + run + " in " + folder_.name() + ": " + std::strerror(errno));
    beat_.emplace(in_run("beat"));
    publish("here-0", "");
    std::set<int> missing = every_rank();
    const bool all = poll_until(end, [&] {
      stay();
      const std::set<int> before = missing;
      erase_present(missing, "here-");
      for (const int rank : before) {
        const std::string seen = "seen-" + std::to_string(rank);
        if (missing.count(rank) == 0) folder_.is_written(create_file(in_run(seen), ""), seen);
      }
      return missing.empty();
    });
    if (!all) fail_missing(missing, "at " + folder_.name(), deadline);
  }

  // Every other rank: until rank 0 has seen it.
  void join(milliseconds deadline) {
    const bool is_seen = poll_until(end_after(deadline), [&] {
      stay();
      return is_in_;
    });
    if (!is_seen) fail_late("rank 0 did not arrive at " + folder_.name(), deadline);
  }

  // Waits for something in this run. A rank that has got it can no longer follow another rank 0.
  bool wait(milliseconds deadline, const std::function<bool()>& is_so) {
    return poll_until(end_after(deadline), [&] {
      const bool is_there = is_in_ && is_so();
      if (!is_there) stay();
      has_got_ = has_got_ || is_there;
      return is_there;
    });
  }

  // While this rank waits: is this still its run?
  void stay() {
    if (rank_ == 0) {
      const auto lease = folder_.lease();
      if (lease && lease->run != run_) folder_.fail_twice("0");
    } else if (has_got_) {
      const auto lease = folder_.lease();
      if (lease && lease->replaced == run_) fail_replaced();
    } else {
      follow();
    }
    if (run_.empty()) return;
    look_again(folder_.at(run_));
    check_twice();
  }

  void follow() {
    std::string run = run_;
    if (!folder_.enter(run)) return;
    if (run != run_) {
      run_ = run;
      for (const auto& [name, text] : published_)
        folder_.is_written(replace_file(in_run(name), text), name);
    }
    is_in_ = exists(in_run(own("seen-")));
  }

  // Rank 0 tells the others. If it is dead, a second process may be the only one.
  void check_twice() const {
    const auto rank = read_file(in_run(rank_ == 0 ? "second" : "twice"));
    if (!rank) return;
    if (rank_ == 0) replace_file(in_run("twice"), *rank);
    folder_.fail_twice(*rank);
  }

  [[noreturn]] void fail_replaced() const {
    throw Error(ErrorCode::exchange_failed,
                "rank 0 at " + folder_.name() +
                    " was started again after this rank had read values "
                    "of the earlier one",
                "a rank 0 that runs until all ranks have met", "start all ranks again");
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

  const int rank_;
  const int world_size_;
  const milliseconds silence_;
  ExchangeFolder folder_;
  std::string run_;       // empty until this rank is in one
  bool is_in_ = false;    // rank 0 has seen this rank
  bool has_got_ = false;  // a value, or the end of a fence
  bool has_left_ = false;
  std::map<std::string, std::string> published_;
  int fences_ = 0;
  std::optional<Heartbeat> beat_;  // of rank 0, while it has the lease
};

}  // namespace

std::unique_ptr<KeyValueStore> open_file_kvs(const FileKvsOptions& options, milliseconds deadline) {
  auto kvs = std::make_unique<FileKvs>(options);
  kvs->meet(deadline);
  return kvs;
}

}  // namespace hpcboot
