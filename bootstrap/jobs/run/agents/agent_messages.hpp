#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/error.hpp"
#include "jobs/run/ranks/rank_end.hpp"
#include "jobs/run/ranks/rank_environment.hpp"

// The payloads of frames: JSON, but for the bytes of ranks. Each read_…() throws
// Error{malformed_file} for what is none.
namespace hpcboot::run {

// What an agent is to start.
struct AgentSpec {
  std::string version;
  std::vector<std::string> words;  // the program and its arguments
  std::string folder;              // that the ranks work in
  Variables set;                   // how their environment differs from the agent's
  std::vector<std::string> unset;
  Variables handover;  // of the launch, HPCBOOT_RUN_*
  int node_rank = 0;
  int num_nodes = 1;
  int first_rank = 0;
  int ranks = 1;
  int world_size = 1;
  bool gpu_bind = false;
  std::optional<std::string> output_dir;  // a log a rank
  std::optional<std::string> stage;       // what is copied to the host's disk first
};
std::string to_payload(const AgentSpec& spec);
// @throws Error{backend_unavailable} also where it is of another version
AgentSpec read_spec(std::string_view payload);

struct AgentHello {
  std::string version;
  std::string hostname;
  std::string address;  // where ranks of other hosts reach this one; empty: its name has to do
  int port = 0;         // that rank 0 can have, if it is here
};
std::string to_payload(const AgentHello& hello);
AgentHello read_hello(std::string_view payload);

std::string to_payload(const MasterEndpoint& master);
MasterEndpoint read_master(std::string_view payload);

struct SignalOrder {
  int signal = 0;
  // The ranks that have not ended then are killed.
  std::optional<std::chrono::milliseconds> kill_after;
};
std::string to_payload(const SignalOrder& order);
SignalOrder read_order(std::string_view payload);

// `host` is left out: who reads it knows it.
std::string to_payload(const RankEnd& end);
RankEnd read_end(std::string_view payload);

std::string to_payload(const Error& error);
// A code that is none is exchange_failed.
Error read_error(std::string_view payload);

// What a rank wrote.
struct RankBytes {
  int rank = 0;
  std::string_view bytes;
};
std::string to_payload(const RankBytes& output);
RankBytes read_output(std::string_view payload);

}  // namespace hpcboot::run
