#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "file.hpp"
#include "own_folder.hpp"

namespace hpcboot {

// What the file "lease" says.
struct Lease {
  std::string run;       // empty while the file is being written
  std::string replaced;  // the run of a dead rank 0 that had the lease before; may be empty
};

// The folder in which one rank meets the others of its launch: who is rank 0, and is there only one
// process of this rank? file.cpp describes the protocol.
class ExchangeFolder {
 public:
  explicit ExchangeFolder(const FileKvsOptions& options);

  const std::string& name() const { return name_; }
  // After open(). Refers to the folder that was opened, even if its name has been replaced since.
  std::string at(const std::string& name) const { return folder_->path() + "/" + name; }
  // False if it does not exist. @throws Error{exchange_failed} if others can enter it
  bool open();
  // The lease; nullopt if no rank 0 has one. After open().
  std::optional<Lease> lease() const;

  // Rank 0 calls this until it returns true; then the lease names `run`.
  // @param silence after which a lease that nobody renews belongs to a dead process
  bool take_lease(const std::string& run, std::chrono::milliseconds silence);
  // Also removes what earlier runs have left. Does nothing if another rank 0 has the lease.
  void release_lease(const std::string& run);

  // Another rank calls this until it returns true; then the process is the only one of its rank in
  // the run that the lease names, and `run` is its name.
  bool enter(std::string& run);

  // Removes the run if this is the last rank in it, and this folder if it is empty. Rank 0 has
  // released the lease and writes nothing any more.
  // @param run may be empty
  void leave(const std::string& run);

  // False if the file exists, or its folder does not exist any more.
  // @param reason 0, or errno. @throws Error{exchange_failed} for any other reason
  bool is_written(int reason, const std::string& file) const;
  [[noreturn]] void fail_twice(const std::string& rank) const;

 private:
  // What is seen of a process that has this rank's place.
  struct Holder {
    std::string run;
    std::string beat;

    bool operator!=(const Holder& other) const { return run != other.run || beat != other.beat; }
  };

  std::string own(const std::string& kind) const { return kind + std::to_string(rank_); }
  Holder holder_of(const std::string& run) const;
  void await(const Holder& now);
  void remove(const std::string& name) const;
  bool everyone_has_left(const std::string& run) const;

  const int rank_;
  const int world_size_;
  const std::string name_;
  std::optional<OwnFolder> folder_;
  std::optional<Holder> holder_;
  std::chrono::steady_clock::time_point looked_;
  std::chrono::steady_clock::duration unchanged_{};  // since when holder_ is as it is
};

}  // namespace hpcboot
