#pragma once

#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::run {

// Counts attempts in a row after which a job was queued again without progress. The count outlives
// the attempts: one file per job in the user's state folder.
class Attempts {
 public:
  // If neither XDG_STATE_HOME nor HOME is set, nothing is remembered.
  explicit Attempts(const Env& env);

  int in_vain(const std::string& job_id) const;
  // @return false if it could not be written
  bool remember(const std::string& job_id, int in_vain) const;
  void forget(const std::string& job_id) const;

 private:
  std::string path_of(const std::string& job_id) const;

  std::string folder_;
  std::string cluster_;  // clusters that share a home folder may have equal job ids
};

}  // namespace hpcboot::run
