#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "queue.hpp"

namespace hpcboot::queue {

/// A job that hpcboot submitted, as it is remembered for its user.
struct SubmittedJob {
  std::string id;
  std::string scheduler;
  std::string cluster;
  std::string site;
  std::string name;
  std::string folder;                 ///< that it was submitted from
  std::string command;                ///< what was asked of hpcboot
  std::vector<std::string> output{};  ///< the files that it writes to
  std::string runs_dir{};             ///< of the trainer; empty for another program
  int nodes = 0;
  std::int64_t submitted = 0;  ///< seconds since 1970
  std::string state{};         ///< how it ended, once that was seen; empty before
  std::optional<int> exit_code{};
  std::int64_t ended = 0;          ///< seconds since 1970; 0: not known
  std::int64_t missing_since = 0;  ///< the scheduler has not known it from then on; 0: it does
};

/// What hpcboot submitted: a file for each job in the user's state folder,
/// $XDG_STATE_HOME/hpcboot/submitted, which only the user may read.
class SubmittedJobs {
 public:
  explicit SubmittedJobs(const Env& env);

  /// @return false if there is no home to keep it in
  /// @throws Error{unwritable_output}
  bool remember(const SubmittedJob& job) const;

  /// Those of a scheduler, the latest first; a file that cannot be read is left out. Of no more
  /// than the last 500.
  /// @param queue null: of all
  std::vector<SubmittedJob> of(const Queue* queue) const;

  /// The latest of them; or the one of this id, or whose id begins with it and a dot ("12" of
  /// "12.server").
  std::optional<SubmittedJob> find(const std::string& id, const Queue* queue) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hpcboot::queue
