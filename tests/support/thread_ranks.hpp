#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "hpcboot/resolve.hpp"
#include "support/free_port.hpp"

namespace hpcboot::testing_support {

/// The result of resolve() for one of `world_size` ranks on this host with an explicit endpoint.
inline Resolution loopback_resolution(int rank, int world_size, int port) {
  Resolution resolution;
  resolution.placement = {rank, world_size, rank, world_size, 0, 1};
  resolution.launcher = "explicit";
  resolution.master_addr = "127.0.0.1";
  resolution.master_port = port;
  resolution.endpoint_is_explicit = true;
  return resolution;
}

/// Runs `body` in one thread per rank of `ranks`, as if each were a process of a world of
/// `world_size`.
/// @return for each position in `ranks`, the exception that it threw, or null
inline std::vector<std::exception_ptr> run_ranks(
    const std::vector<int>& ranks, int world_size,
    const std::function<void(const Resolution&)>& body) {
  const int port = free_port();
  std::vector<std::exception_ptr> thrown(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(loopback_resolution(ranks[i], world_size, port));
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace hpcboot::testing_support
