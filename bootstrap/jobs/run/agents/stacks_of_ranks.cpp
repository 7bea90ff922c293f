#include "stacks_of_ranks.hpp"

#include <algorithm>

#include "hpcboot/facts.hpp"

namespace hpcboot::run {
namespace {

// A debugger loads the symbols of all libraries: some 100 MB for a LibTorch program.
constexpr std::size_t kAtOnce = 8;

}  // namespace

void StacksOfRanks::add(int rank, pid_t program, RankStacks::Write write) {
  waiting_.push_back({rank, program, std::move(write)});
}

void StacksOfRanks::forget(int rank) {
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [&](const Waiting& w) { return w.rank == rank; }),
                 waiting_.end());
  running_.remove_if([&](const Running& r) { return r.rank == rank; });
}

void StacksOfRanks::add_children(std::vector<pid_t>& to) const {
  for (const Running& running : running_) {
    if (const auto child = running.stacks.child()) to.push_back(*child);
  }
}

void StacksOfRanks::add_to(PollSet& set) const {
  for (const Running& running : running_) running.stacks.add_to(set);
}

void StacksOfRanks::handle(const PollSet& set) {
  for (Running& running : running_) running.stacks.handle(set);
  running_.remove_if([](const Running& running) { return running.stacks.is_done(); });
  while (!waiting_.empty() && running_.size() < kAtOnce) {
    Waiting& next = waiting_.front();
    const std::string name = "rank " + std::to_string(next.rank) + " on " + own_hostname();
    running_.push_back({next.rank, RankStacks(name, next.program, env_, std::move(next.write))});
    waiting_.pop_front();
  }
}

Clock::time_point StacksOfRanks::next_time() const {
  if (running_.empty() && !waiting_.empty()) return Clock::now();
  auto next = Clock::time_point::max();
  for (const Running& running : running_) next = std::min(next, running.stacks.next_time());
  return next;
}

}  // namespace hpcboot::run
