#pragma once

#include <chrono>
#include <string>

#include "rendezvous/handover.hpp"
#include "rendezvous/store/link.hpp"

// Names shared by both sides of the control store.
namespace hpcboot::run::control {

inline constexpr auto kPatience = std::chrono::hours(24);  // of one wait, which is then repeated
inline constexpr const char* kFirstEnd = "end";
inline constexpr const char* kFirstToldEnd = "end when told";
inline constexpr const char* kStarted = "started";       // counts the parents that have connected
inline constexpr const char* kBegun = "begun";           // one line for each of them: its host
inline constexpr const char* kEnded = "ended";           // one line for each whose rank has ended
inline constexpr const char* kStaged = "staged";         // counts the ranks whose host has the data
inline constexpr const char* kAllStaged = "all staged";  // exists once all have it
inline constexpr const char* kSigns = "signs";           // counts reports of output
inline constexpr const char* kStacks = "stacks";  // counts ranks with no stacks left to write
inline constexpr const char* kAddressOfRank0 = "rank 0";

// Instead of a signal, handled within ControlLink.
inline constexpr int kAskForSigns = 101;

// The signals that `run` sends are numbered from 1.
inline std::string key_of_signal(int number) {
  return "signal/" + std::to_string(number);
}

// @param number the rank; `run` itself has the number after the last rank
inline rendezvous::Member member_of(const rendezvous::Handover& handover, int number) {
  rendezvous::World world{"run/" + handover.launch_id + "/control",
                          static_cast<std::uint32_t>(handover.world_size) + 1,
                          rendezvous::Secret(handover.secret), rendezvous::SecretKind::run};
  return {std::move(world), static_cast<std::uint32_t>(number)};
}

}  // namespace hpcboot::run::control
