#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/launch_source.hpp"

// Launchers inside launchers: which of two that are present started the other?
namespace hpcboot {

// What one launcher says that is present.
struct Claim {
  const LaunchSource* source = nullptr;
  LaunchFacts facts;
  std::exception_ptr damage;  // why it says nothing: its variables are partial or malformed
};

Claim claim_of(const LaunchSource& source, const Env& env, const Facts& facts);

// "rank=0 world_size=2 local_rank=0"
std::string describe(const LaunchFacts& facts);

// Does one of them say of a field something else than the other?
bool agree(const LaunchFacts& a, const LaunchFacts& b);

// Did a program start this launch, and nobody but a launcher set its variables? Any script may
// export the others'.
bool is_real_launcher(const LaunchSource& source);

// Why `inner` is known to have been started from within `outer`, as a clause; nullopt if the
// processes above this one do not prove it.
std::optional<std::string> proof_of_nesting(const LaunchSource& inner, const LaunchSource& outer,
                                            const Facts& facts);

// The same for two that no proof tells apart, by what the sizes and this process say.
std::optional<std::string> reason_for_nesting(const Claim& inner, const Claim& outer,
                                              const Env& env, const Facts& facts);

// Are there launchers that only the processes above this one can tell apart?
bool needs_ancestors(const Env& env, const Facts& facts);

}  // namespace hpcboot
