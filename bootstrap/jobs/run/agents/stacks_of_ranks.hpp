#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "jobs/run/ranks/rank_stacks.hpp"

namespace hpcboot::run {

// The stacks of one agent's ranks; a limited number of debuggers run at once.
class StacksOfRanks {
 public:
  // @param env of the ranks
  explicit StacksOfRanks(std::map<std::string, std::string> env) : env_(std::move(env)) {}

  void add(int rank, pid_t program, RankStacks::Write write);
  // The rank has ended.
  void forget(int rank);
  bool are_done() const { return waiting_.empty() && running_.empty(); }

  // Adds the running debuggers, which are reaped here.
  void add_children(std::vector<pid_t>& to) const;
  void add_to(PollSet& set) const;
  void handle(const PollSet& set);
  Clock::time_point next_time() const;

 private:
  struct Waiting {
    int rank = 0;
    pid_t program = 0;
    RankStacks::Write write;
  };
  struct Running {
    int rank = 0;
    RankStacks stacks;
  };

  std::map<std::string, std::string> env_;
  std::deque<Waiting> waiting_;
  std::list<Running> running_;
};

}  // namespace hpcboot::run
