#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/error.hpp"
#include "jobs/run/ranks/rank_end.hpp"
#include "jobs/run/ranks/rank_environment.hpp"

// The payloads of frames: JSON, except for the output of ranks. Each read_…() throws
// Error{malformed_file} for a malformed payload.
namespace hpcboot::run {

// What an agent must start.
struct AgentSpec {
  std::string version;
  std::vector<std::string> words;  // the program and its arguments
  std::string folder;              // working folder of the ranks
  bool is_in_folder = false;       // it is the agent's, too
  Variables set;                   // how their environment differs from the agent's
  std::vector<std::string> unset;
  Variables handover;  // HPCBOOT_RUN_* of the launch
  int node_rank = 0;
  int num_nodes = 1;
  int first_rank = 0;
  int ranks = 1;
  int world_size = 1;
  bool gpu_bind = false;
  std::optional<std::string> output_dir;  // one log file per rank and stream
  std::optional<std::string> stage;       // path to copy to the host's disk first
  // The ranks end once `run` has sent nothing for this long, unless it has stopped with them.
  std::optional<std::chrono::milliseconds> silence;
};
std::string to_payload(const AgentSpec& spec);
// @throws Error{backend_unavailable} also if it comes from another version of hpcboot
AgentSpec read_spec(std::string_view payload);

struct AgentHello {
  std::string version;
  std::string hostname;
  std::string address;  // at which ranks of other hosts reach this one; empty: use its name
  int port = 0;         // for rank 0, if it is on this host: free, or chosen by the user
};
std::string to_payload(const AgentHello& hello);
AgentHello read_hello(std::string_view payload);

std::string to_payload(const MasterEndpoint& master);
MasterEndpoint read_master(std::string_view payload);

struct SignalOrder {
  int signal = 0;
  // Ranks that have not ended by then are killed.
  std::optional<std::chrono::milliseconds> kill_after;
};
std::string to_payload(const SignalOrder& order);
SignalOrder read_order(std::string_view payload);

// `host` is omitted: the receiver knows it.
std::string to_payload(const RankEnd& end);
RankEnd read_end(std::string_view payload);

std::string to_payload(const Error& error);
// An unknown code becomes exchange_failed.
Error read_error(std::string_view payload);

// Output of a rank.
struct RankBytes {
  int rank = 0;
  std::string_view bytes;
};
std::string to_payload(const RankBytes& output);
RankBytes read_output(std::string_view payload);

// For more output.
struct OutputRoom {
  int bytes = 0;
};
std::string to_payload(const OutputRoom& room);
OutputRoom read_room(std::string_view payload);

}  // namespace hpcboot::run
