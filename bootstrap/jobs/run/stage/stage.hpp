#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "lock_file.hpp"

// `--stage PATH`: before the ranks of a host start, PATH is copied to that host's own disk, once,
// and removed when the last of them has ended, however they end. Whoever starts ranks there has a
// Stage. One of them gets a process beside it, in a session of its own, that copies and then waits
// until nobody uses the copy any more: it outlives what a launcher kills.
namespace hpcboot::run {

inline constexpr const char* kStagedVariable = "HPCBOOT_STAGED";
inline constexpr const char* kStagedWord = "{staged}";
// Where the copy goes, for people.
inline constexpr const char* kStageBases =
    "below $HPCBOOT_STAGE_DIR, $SLURM_TMPDIR, $TMPDIR or /tmp";
// The name of that process, as the kernel has it.
inline constexpr const char* kStageKeeper = "hpcboot-stage";

struct Staged {
  std::string path;  // of the copy
  std::string note;  // what was copied, for people; empty: by another process of this host
};

class Stage {
 public:
  // Begins to copy. @param source an absolute path
  // @param env of the ranks. @throws Error
  Stage(const std::string& source, const Env& env, const std::string& launch_id);
  // Waits for the end of the copy if nobody else uses it, for a minute at most.
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Readable where result() has more to do; -1 once there was a result.
  int fd() const { return report_; }
  // Never waits. @throws Error where it cannot be copied
  std::optional<Staged> result();

 private:
  void leave();

  std::string folder_;
  std::optional<LockFile> users_;
  int report_ = -1;
  std::string text_;
};

// The words with `path` in the place of each {staged}.
std::vector<std::string> with_staged(std::vector<std::string> words, const std::string& path);

}  // namespace hpcboot::run
