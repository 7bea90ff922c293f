#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler_job.hpp"

namespace hpcboot::run {

// What `qstat -f` of PBS or Torque shows of one job. Its JSON, which only PBS has, is of no use: it
// makes 7 of a variable that is 007, and takes the one after `x\` for a part of it.
class PbsStatus {
 public:
  explicit PbsStatus(std::string_view text);

  // "walltime" of "Resource_List" is "Resource_List.walltime". Of several the first. Empty: not
  // shown
  const std::string& text(const std::string& name) const;
  bool is(const std::string& name, std::string_view value) const { return text(name) == value; }

  // A time that it shows, in this host's time zone, which is qstat's, too.
  std::optional<WallTime> time(const std::string& name) const;

  // Names and values of the resources asked for, without "Resource_List.".
  std::vector<std::pair<std::string, std::string>> resources() const;

  // The job's variables, those that PBS made of the submission (PBS_O_*) among them.
  std::map<std::string, std::string> variables() const;

  JobState state(WallTime now) const;

  // It is being queued again, by `qrerun` or because another job needs its hosts.
  bool is_rerun() const;

  // An attribute that is shown more than once: all but one of them are lines of a variable's value
  // or of an argument, which stand there as they are. Empty: none
  std::string repeated() const;

 private:
  // All that is shown by a name; what is before the variables is what PBS says.
  std::map<std::string, std::vector<std::string>> attributes_;
};

}  // namespace hpcboot::run
