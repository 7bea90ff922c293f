#pragma once

#include <chrono>
#include <string>

#include "rendezvous/handover.hpp"
#include "rendezvous/store/link.hpp"

// What both sides of the control store know it by.
namespace hpcboot::run::control {

inline constexpr auto kPatience = std::chrono::hours(24);  // of a wait; then it is asked again
inline constexpr const char* kFirstEnd = "end";
inline constexpr const char* kFirstToldEnd = "end when told";
inline constexpr const char* kStarted = "started";  // counts the parents of ranks that have come
inline constexpr const char* kBegun = "begun";      // a line for each of them: its host
inline constexpr const char* kEnded = "ended";      // and for each whose rank has ended
inline constexpr const char* kStaged = "staged";    // counts the ranks whose host has the data
inline constexpr const char* kAllStaged = "all staged";  // is there once all have
inline constexpr const char* kSigns = "signs";           // and how often one has told of output
inline constexpr const char* kStacks = "stacks";         // and those with no stacks left to write
inline constexpr const char* kAddressOfRank0 = "rank 0";

// In place of a signal, for ControlLink alone.
inline constexpr int kAskForSigns = 101;

// The signals that `run` sends are numbered from 1.
inline std::string key_of_signal(int number) {
  return "signal/" + std::to_string(number);
}

// @param number of the rank; `run` itself is the one behind them
inline rendezvous::Member member_of(const rendezvous::Handover& handover, int number) {
  rendezvous::World world{"run/" + handover.launch_id + "/control",
                          static_cast<std::uint32_t>(handover.world_size) + 1,
                          rendezvous::Secret(handover.secret), rendezvous::SecretKind::run};
  return {std::move(world), static_cast<std::uint32_t>(number)};
}

}  // namespace hpcboot::run::control
