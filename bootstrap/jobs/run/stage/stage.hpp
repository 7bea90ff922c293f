#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "lock_file.hpp"

// `--stage PATH`: before the ranks of a host start, PATH is copied to that host's own disk, once,
// and removed when the last of them has ended, however they end. Each process that starts ranks
// there has a Stage. One of them starts a keeper process in its own session that copies and then
// waits until the copy is no longer used: it survives when a launcher kills its processes.
namespace hpcboot::run {

inline constexpr const char* kStagedVariable = "HPCBOOT_STAGED";
inline constexpr const char* kStagedWord = "{staged}";
// Where the copy goes, for users.
inline constexpr const char* kStageBases =
    "under $HPCBOOT_STAGE_DIR, $SLURM_TMPDIR, $TMPDIR or /tmp";
// The kernel's name of the keeper process.
inline constexpr const char* kStageKeeper = "hpcboot-stage";

struct Staged {
  std::string path;  // of the copy
  std::string note;  // what was copied, for users; empty: another process of this host did it
};

class Stage {
 public:
  // Starts the copy. @param source an absolute path
  // @param env of the ranks. @throws Error
  Stage(const std::string& source, const Env& env, const std::string& launch_id);
  // If nothing else uses the copy, waits at most a minute for its removal.
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Readable when result() has more to do; -1 once there was a result.
  int fd() const { return report_; }
  // Never blocks. @throws Error if it cannot be copied
  std::optional<Staged> result();

 private:
  void leave();

  std::string folder_;
  std::optional<LockFile> users_;
  int report_ = -1;
  std::string text_;
};

// The words with each {staged} replaced by `path`.
std::vector<std::string> with_staged(std::vector<std::string> words, const std::string& path);

}  // namespace hpcboot::run
