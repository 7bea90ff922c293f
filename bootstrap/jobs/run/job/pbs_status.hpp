#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler_job.hpp"

namespace hpcboot::run {

// What `qstat -f` of PBS or Torque shows for one job. Its JSON output, which only PBS has, is
// unusable: it turns a variable with the value 007 into 7, and merges the variable after `x\` into
// it.
class PbsStatus {
 public:
  explicit PbsStatus(std::string_view text);

  // "walltime" of "Resource_List" is "Resource_List.walltime". The first of several. Empty: not
  // shown
  const std::string& text(const std::string& name) const;
  bool is(const std::string& name, std::string_view value) const { return text(name) == value; }

  // A time that is shown, in this host's time zone, which qstat also uses.
  std::optional<WallTime> time(const std::string& name) const;

  // Names and values of the requested resources, without "Resource_List.".
  std::vector<std::pair<std::string, std::string>> resources() const;

  // The job's variables, including those that PBS derived from the submission (PBS_O_*).
  std::map<std::string, std::string> variables() const;

  JobState state(WallTime now) const;

  // The job is being queued again, by `qrerun` or because another job needs its hosts.
  bool is_rerun() const;

  // An attribute that is shown more than once: all but one are unescaped lines of a variable's
  // value or of an argument. Empty: none
  std::string repeated() const;

 private:
  // All values shown for a name; only those before the variables are certain to come from PBS.
  std::map<std::string, std::vector<std::string>> attributes_;
};

}  // namespace hpcboot::run
