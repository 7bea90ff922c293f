#pragma once

#include <string>

#include "hpcboot/env.hpp"

namespace hpcboot::run {

// How many attempts in a row a job was queued again after, without progress. It outlives the
// attempts, in the user's folder of states, a file for each job.
class Attempts {
 public:
  // Where neither XDG_STATE_HOME nor HOME is set, nothing is remembered.
  explicit Attempts(const Env& env);

  int in_vain(const std::string& job_id) const;
  // @return false if it could not be written
  bool remember(const std::string& job_id, int in_vain) const;
  void forget(const std::string& job_id) const;

 private:
  std::string path_of(const std::string& job_id) const;

  std::string folder_;
  std::string cluster_;  // job ids of clusters that share a home are alike
};

}  // namespace hpcboot::run
