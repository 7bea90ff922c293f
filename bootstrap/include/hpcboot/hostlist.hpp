#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::hostlist {

/// Expansion beyond this many hosts is an error, so that a typo such as n[1-99999999] does not
/// exhaust the memory.
inline constexpr std::size_t kMaxHosts = std::size_t{256} * 1024;

/// Expands a Slurm host list: names separated by commas or white space, each with any number of
/// bracketed sets: "n[9-11],gpu[001-3,7],r[1-2]n[01-02]". Order and duplicates are kept. Numbers of
/// a range are padded to the width of its first number and may grow beyond it (n[098-101]). As an
/// extension to Slurm's grammar, text may follow the last bracket: "n[1-2]-ib".
///
/// Several brackets expand in the order of `scontrol show hostnames` (22.05): the last bracket
/// varies fastest; of the others, an earlier one varies faster than a later one.
/// @throws Error{malformed_hostlist, hostlist_too_large}
std::vector<std::string> expand(std::string_view expression, std::size_t limit = kMaxHosts);

/// The number of hosts, including duplicates, without expanding the list.
/// @throws Error{malformed_hostlist, hostlist_too_large (beyond 64 bits)}
std::uint64_t count(std::string_view expression);

/// The first host, without expanding the list: reads only its first entry.
/// @throws Error{malformed_hostlist} also for an empty list.
std::string first(std::string_view expression);

/// The shortest list in this format that expands to the same hosts in the same order; consecutive
/// numbers are joined: {"n9","n10","n12","a"} -> "n[9-10,12],a".
std::string compress(const std::vector<std::string>& hosts);

/// Expands Slurm's per-node counts: "2(x3),1" -> {2,2,2,1} (SLURM_TASKS_PER_NODE and similar).
/// @throws Error{malformed_value} naming `variable`; Error{hostlist_too_large}
std::vector<int> expand_counts(std::string_view text, std::string_view variable,
                               std::size_t limit = kMaxHosts);

}  // namespace hpcboot::hostlist
