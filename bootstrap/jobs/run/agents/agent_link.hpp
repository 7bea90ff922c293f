#pragma once

#include <functional>
#include <memory>
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

// One agent as seen by `hpcboot run`: the process that connects to it, and the channel.
class AgentLink {
 public:
  // Starts the agent. @param words the command; empty: the agent is a child of this process
  // @param foreign descriptors of other links, which the child must not keep open
  // @throws Error{backend_unavailable} if it cannot be started
  AgentLink(std::string host, const std::vector<std::string>& words, std::set<int> ranks,
            const std::vector<int>& foreign);

  const std::string& host() const { return host_; }
  // Is the agent a child of this process?
  bool is_here() const { return is_here_; }
  // The ranks whose output is not complete; those that have not ended are among them.
  const std::set<int>& ranks() const { return ranks_; }
  const std::set<int>& running() const { return running_; }
  // Each @throws Error{malformed_file} if no such message about this rank can follow.
  void note_output(int rank, std::size_t bytes);
  void note_end(int rank);
  void note_complete(int rank, std::size_t bytes);
  // There is room for the output so far: the agent may send more.
  void give_room();

  // nullptr once the link is closed.
  const std::shared_ptr<FrameChannel>& channel() const { return channel_; }
  int fd() const { return channel_ ? channel_->in() : -1; }
  void send(FrameKind kind, const std::string& payload);
  // The agent notices and ends its ranks. The process that connects to it is killed unless it ends
  // within time_to_end.
  void close();
  // Kills the process if its time is over. @return whether it has ended and the link is closed
  bool has_ended();

  std::optional<AgentHello> hello;
  bool has_written_stacks = false;
  bool is_staged = false;               // the data is there, or none was asked for
  std::chrono::seconds time_to_end{2};  // for the process to end by itself
  Clock::time_point last_seen = Clock::now();

  // Lines that ssh or the agent has printed since the last call.
  std::vector<std::string> new_messages();
  // "its ssh ended with exit code 255: ssh: connect to host n2 …": why the agent is gone.
  // @param patience how long to wait for the process to end
  std::string reason(std::chrono::milliseconds patience = {});

  void add_to(PollSet& set, bool reads) const;

 private:
  void read_messages();
  void add_message(std::string line);

  std::string host_;
  bool is_here_;
  std::string way_;  // the program that connects to it: "ssh"; "agent" on this host
  std::set<int> ranks_;
  std::set<int> running_;
  std::size_t taken_ = 0;  // bytes of output since the agent was last told of room
  std::optional<RankChild> process_;
  std::shared_ptr<FrameChannel> channel_;
  std::string unfinished_;  // line of its messages
  std::vector<std::string> messages_;
  std::string last_message_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace hpcboot::run
