#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent_messages.hpp"
#include "frames.hpp"
#include "jobs/run/plan/plan.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/output_lines.hpp"
#include "jobs/run/ranks/rank_child.hpp"

namespace hpcboot::run {

// What `hpcboot run` has of one agent: the process that leads to it, and the way there.
class AgentLink {
 public:
  // Starts it. @param words the command; empty: an agent that is a child of this process
  // @param foreign descriptors of other links, which the child must not keep open
  // @throws Error{backend_unavailable} where it cannot be started
  AgentLink(std::string host, const std::vector<std::string>& words, std::set<int> ranks,
            const std::vector<int>& foreign);

  const std::string& host() const { return host_; }
  // Is the agent a child of this process?
  bool is_here() const { return is_here_; }
  // Those that have not ended.
  const std::set<int>& ranks() const { return ranks_; }
  void note_end(int rank) { ranks_.erase(rank); }
  // @throws Error{malformed_file} if it is none of them
  void expect_rank(int rank) const;

  // None once it is closed.
  FrameChannel* channel() { return channel_ ? &*channel_ : nullptr; }
  int fd() const { return channel_ ? channel_->in() : -1; }
  void send(FrameKind kind, const std::string& payload);
  // The agent sees its end, too, and ends its ranks. What led to it is killed unless it ends soon.
  void close();
  // Closes it where need be. @return whether the process has ended
  bool has_ended();

  std::optional<AgentHello> hello;
  bool has_written_stacks = false;
  bool is_staged = false;               // it needs no more to start its ranks
  std::chrono::seconds time_to_end{2};  // for the process to end by itself
  Clock::time_point last_seen = Clock::now();

  // Lines that ssh or the agent printed since the last call.
  std::vector<std::string> new_messages();
  // "its ssh ended with exit code 255: ssh: connect to host n2 …": for an agent that went.
  // @param patience to wait for the end of the process, where it is about to come
  std::string reason(std::chrono::milliseconds patience = {});

  void add_to(PollSet& set, bool reads) const;

 private:
  void read_messages();
  void add_message(std::string line);

  std::string host_;
  bool is_here_;
  std::string way_;  // the program that leads there: "ssh"; "agent" for one that is here
  std::set<int> ranks_;
  std::optional<RankChild> process_;
  std::optional<FrameChannel> channel_;
  std::string unfinished_;  // of its messages
  std::vector<std::string> messages_;
  std::string last_message_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace hpcboot::run
