#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent_messages.hpp"
#include "core/cpu_topology.hpp"
#include "frames.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/output_lines.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "jobs/run/ranks/rank_log.hpp"
#include "stacks_of_ranks.hpp"

namespace hpcboot::run {

// The ranks of one agent: their processes, output and how they ended.
class LocalRanks {
 public:
  // Sends a frame to `hpcboot run`.
  using Send = std::function<void(FrameKind kind, const std::string& payload)>;

  // @throws Error if the environment is invalid or the log folder cannot be used
  LocalRanks(AgentSpec spec, Send send);

  // What the first of them would resolve.
  const Resolution& resolution() const { return environments_.front().resolution(); }

  // The environment that they share.
  const Env& env() const { return env_; }

  // Sets the path of the staged copy. Call before start().
  void set_staged(const std::string& path);
  // @param between is called after the start of each rank
  void start(const MasterEndpoint& master, const std::function<void()>& between);
  bool have_ended() const;

  // Ranks that have not been reaped, and debuggers.
  std::vector<pid_t> children() const;

  // Signals each rank that has not ended.
  void signal(int number);
  // Input for rank 0; empty: end of input.
  void give_input(std::string_view bytes);

  // Writes the stacks to the ranks' standard error, then reports stacks_written.
  void write_stacks();

  // @param reads whether there is room for more output
  void add_to(PollSet& set, bool reads) const;
  void handle(const PollSet& set);
  // When handle() must be called next, even without an event.
  Clock::time_point next_time() const;

 private:
  struct Rank {
    int rank = 0;
    std::optional<RankChild> child;
    LastLines out_lines;
    LastLines err_lines;
    std::unique_ptr<RankLog> out_log;
    std::unique_ptr<RankLog> err_log;
    std::optional<RankEnd> end;
    Clock::time_point ended_at;
  };

  void start_rank(std::size_t index, const MasterEndpoint& master, const std::vector<Core>& cores);
  bool read_output(Rank& rank, bool is_error);
  void show(Rank& rank, bool is_error, std::string_view bytes);
  void show_stacks(Rank& rank, const std::string& lines);
  void read_rest(Rank& rank);
  void look_for_end(Rank& rank);
  static std::vector<std::string> last_lines(const Rank& rank);
  void report(Rank& rank, const ChildEnd& end, int process_id);
  void write_input();
  void close_input();

  AgentSpec spec_;
  Send send_;
  Env env_;
  Facts facts_;
  std::vector<RankEnvironment> environments_;
  std::vector<Rank> ranks_;
  std::string staged_;  // path; empty: nothing staged
  int input_fd_ = -1;
  std::string input_;
  bool input_ends_ = false;
  std::int64_t oom_kills_before_ = 0;
  std::optional<StacksOfRanks> stacks_;  // until they are written
};

}  // namespace hpcboot::run
