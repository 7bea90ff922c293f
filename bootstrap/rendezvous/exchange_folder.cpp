#include "exchange_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/schedulers/read_file.hpp"
#include "heartbeat.hpp"
#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kLease = "lease";

std::string text_of(const Lease& lease) {
  return lease.run + " " + lease.replaced + "\n";
}

// The user id in the name keeps two users of one folder apart.
std::string name_for(const FileKvsOptions& options) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) fail_folder("cannot create " + options.folder + ": " + error.message());
  return fs::path(options.folder) /
         ("hpcboot-" + std::to_string(geteuid()) + "-" + escape_for_pmi(options.identity) + "-" +
          std::to_string(options.world_size));
}

}  // namespace

ExchangeFolder::ExchangeFolder(const FileKvsOptions& options)
    : rank_(options.rank), world_size_(options.world_size), name_(name_for(options)) {}

bool ExchangeFolder::open() {
  auto folder = OwnFolder::open(name_);
  if (!folder) return false;
  folder_ = std::move(folder);
  return true;
}

std::optional<Lease> ExchangeFolder::lease() const {
  const auto text = read_file(at(kLease));
  if (!text) return std::nullopt;
  if (text->empty() || text->back() != '\n') return Lease{};
  const std::size_t space = text->find(' ');
  return Lease{text->substr(0, space), text->substr(space + 1, text->size() - space - 2)};
}

bool ExchangeFolder::is_written(int reason, const std::string& file) const {
  if (reason == 0) return true;
  if (reason != EEXIST && reason != ENOENT && reason != ESTALE)
    fail_folder("cannot write " + file + " in " + name_ + ": " + std::strerror(reason));
  return false;
}

ExchangeFolder::Holder ExchangeFolder::holder_of(const std::string& run) const {
  look_again(at(run));
  return {run, read_file(at(run + "/beat")).value_or("")};
}

// Another process has this rank's place. If it is alive, this one is the second.
void ExchangeFolder::await(const Holder& now) {
  const bool is_changed = holder_ && now != *holder_;
  if (is_changed) fail_twice(std::to_string(rank_));
  if (!holder_ && !now.run.empty()) replace_file(at(now.run + "/second"), std::to_string(rank_));
  // A look that took long, since this host stood still or the file system hung, counts as a short
  // one.
  const auto before = std::exchange(looked_, Clock::now());
  unchanged_ += std::min<Clock::duration>(looked_ - before, 2 * Heartbeat::kInterval);
  if (!holder_) unchanged_ = {};
  holder_ = now;
}

bool ExchangeFolder::take_lease(const std::string& run, std::chrono::milliseconds silence) {
  OwnFolder::make(name_);
  if (!open()) return false;
  const auto other = lease();
  if (!other) {
    if (holder_) fail_twice(std::to_string(rank_));
    return is_written(create_file(at(kLease), text_of({run, ""})), kLease);
  }
  await(holder_of(other->run));
  if (unchanged_ < silence) return false;
  return is_written(replace_file(at(kLease), text_of({run, other->run})), kLease);
}

bool ExchangeFolder::enter(std::string& run) {
  const auto named = open() ? lease() : std::nullopt;
  if (holder_ && (!named || named->run != holder_->run)) {
    if (!named || named->replaced != holder_->run) fail_twice(std::to_string(rank_));
    holder_.reset();
  }
  if (!named || named->run.empty()) return false;
  if (named->run == run) return true;
  const std::string folder = named->run + "/";
  const Holder now = holder_of(named->run);
  // The next run is for this process if an earlier one of this rank has left this one.
  if (exists(at(folder + own("left-")))) return false;
  const std::string here = own("here-");
  if (!is_written(create_file(at(folder + here), ""), here)) {
    if (exists(at(folder + here))) await(now);
    return false;
  }
  if (!run.empty()) leave(run);
  run = named->run;
  return true;
}

void ExchangeFolder::release_lease(const std::string& run) {
  const auto named = lease();
  if (!named || named->run != run) return;
  for (const auto& entry : fs::directory_iterator(folder_->path())) {
    const std::string name = entry.path().filename();
    if (name != kLease && name != run) remove(name);
  }
  unlink(at(kLease).c_str());
}

// Under another name first, so that no rank creates a file in it any more; one that has just opened
// it may still do so.
void ExchangeFolder::remove(const std::string& name) const {
  constexpr int kTries = 10;
  const std::string ended = at("ended-" + unique_word());
  if (std::rename(at(name).c_str(), ended.c_str()) != 0) return;
  std::error_code error;
  for (int i = 0; i == 0 || (error && i < kTries); ++i) fs::remove_all(ended, error);
}

bool ExchangeFolder::everyone_has_left(const std::string& run) const {
  look_again(at(run));
  if (!exists(at(run + "/left-0"))) return false;  // rank 0 may be about to create its "here-0"
  for (int rank = 1; rank < world_size_; ++rank) {
    const std::string number = std::to_string(rank);
    if (exists(at(run + "/here-" + number)) && !exists(at(run + "/left-" + number))) return false;
  }
  return true;
}

void ExchangeFolder::leave(const std::string& run) {
  if (!run.empty()) create_file(at(run + "/" + own("left-")), "");
  if (!run.empty() && everyone_has_left(run)) remove(run);
  if (folder_) rmdir(name_.c_str());
}

void ExchangeFolder::fail_twice(const std::string& rank) const {
  throw Error(
      ErrorCode::exchange_failed,
      "two processes are rank " + rank + " of " + std::to_string(world_size_) + " at " + name_,
      "one process of each rank: launches that use a folder at the same time must differ "
      "in something that all their ranks see, such as a job or a step",
      "give each launch a folder of its own in HPCBOOT_EXCHANGE_DIR, and start each of its "
      "ranks once");
}

}  // namespace hpcboot
