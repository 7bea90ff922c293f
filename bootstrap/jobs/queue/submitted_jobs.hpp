#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "queue.hpp"

namespace hpcboot::queue {

/// A job that hpcboot submitted, as recorded for its user.
struct SubmittedJob {
  std::string id;
  std::string scheduler;
  std::string cluster;
  std::string site;
  std::string name;
  std::string folder;                 ///< it was submitted from
  std::string command;                ///< the hpcboot command line
  std::vector<std::string> output{};  ///< the files it writes to
  std::string runs_dir{};             ///< of the trainer; empty for another program
  int nodes = 0;
  std::int64_t submitted = 0;  ///< seconds since 1970
  std::string state{};         ///< how it ended, once known; empty before
  std::optional<int> exit_code{};
  std::int64_t ended = 0;          ///< seconds since 1970; 0: unknown
  std::int64_t missing_since = 0;  ///< since then the scheduler has not known it; 0: it does
};

/// The jobs that hpcboot submitted: one file per job in the user's state folder,
/// $XDG_STATE_HOME/hpcboot/submitted, readable only by the user.
class SubmittedJobs {
 public:
  explicit SubmittedJobs(const Env& env);

  /// @return false if there is no home folder to store it in
  /// @throws Error{unwritable_output}
  bool remember(const SubmittedJob& job) const;

  /// The jobs of a scheduler, latest first, among the last 500; unreadable files are skipped.
  /// @param queue null: all schedulers
  std::vector<SubmittedJob> of(const Queue* queue) const;

  /// The job with this id, or whose id starts with it and a dot ("12" of "12.server"). @param id
  /// empty: the latest job
  std::optional<SubmittedJob> find(const std::string& id, const Queue* queue) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hpcboot::queue
