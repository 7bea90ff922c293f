#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/launch_source.hpp"

// Launchers inside launchers: which of two that are present started the other?
namespace hpcboot {

// What one detected launcher reports.
struct Claim {
  const LaunchSource* source = nullptr;
  LaunchFacts facts;
  std::exception_ptr damage;  // set if its variables are incomplete or malformed
};

Claim claim_of(const LaunchSource& source, const Env& env, const Facts& facts);

// "rank=0 world_size=2 local_rank=0"
std::string describe(const LaunchFacts& facts);

// True unless both report a field with different values.
bool agree(const LaunchFacts& a, const LaunchFacts& b);

// Is this a program that starts processes, whose variables only it sets? Any script may export the
// variables of the others.
bool is_real_launcher(const LaunchSource& source);

// Proof that `inner` was started inside `outer`, as a clause; nullopt if the ancestor processes do
// not prove it.
std::optional<std::string> proof_of_nesting(const LaunchSource& inner, const LaunchSource& outer,
                                            const Facts& facts);

// Does each process of `outer` start several, which only have RANK, WORLD_SIZE and LOCAL_RANK, as
// agents do? `numbers` is then of such a process: its world is larger, and `outer` has one process
// on this host.
bool may_be_started_by_agent(const Claim& numbers, const Claim& outer);

// Proof that this is so, or of the opposite, as in proof_of_nesting().
std::optional<std::string> proof_of_agent(const Claim& numbers, const Claim& outer,
                                          const Facts& facts);
std::optional<std::string> proof_of_inherited_numbers(const Claim& inner, const Claim& numbers,
                                                      const Facts& facts);

// The same without proof, judged by the sizes and by this process.
std::optional<std::string> reason_for_nesting(const Claim& inner, const Claim& outer,
                                              const Env& env, const Facts& facts);

// Are there launchers that only the ancestor processes can tell apart?
bool needs_ancestors(const Env& env, const Facts& facts);

}  // namespace hpcboot
