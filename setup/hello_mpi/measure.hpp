#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hello {

/// The speed between two ranks that communicate while all others are idle.
struct Link {
  int from = 0;  ///< rank in MPI_COMM_WORLD
  int to = 0;
  double latency_us = 0;  ///< half a round trip of 8 bytes, the minimum of many
  double mib_per_s = 0;   ///< one way, the best of a few messages
};

/// The pairs of ranks to measure: the first rank of each host with the first of every other host,
/// in rank order. Beyond 32 hosts, only each host with the next, and the last with the first. On a
/// single host, its first two ranks, if it has two.
/// @param hosts the host of every rank, by rank: equal numbers for equal hosts
std::vector<std::pair<int, int>> pairs_to_measure(const std::vector<int>& hosts);

/// Collective; every rank returns all links, in the order of `pairs`.
std::vector<Link> measure_links(const std::vector<std::pair<int, int>>& pairs, std::size_t bytes);

/// Collective: every rank sends to the next and receives from the previous one, all at the same
/// time, as in the all-reduce of gradients.
/// @return MiB/s of the slowest rank, one way; 0 for a single rank
double measure_ring(std::size_t bytes);

}  // namespace hello
