#pragma once

#include <cstdint>
#include <optional>

#include "hpcboot/env.hpp"

// OMP_NUM_THREADS.
namespace hpcboot {

// Its first level, at least 1: levels of nested parallelism are separated by commas. nullopt if it
// is not set, or no such number.
std::optional<std::int64_t> omp_threads(const Env& env);

// Whether it has the value that PBS gives it: the CPUs of a chunk, however many ranks the chunk has
// (pbs_resources(7B), ompthreads).
bool has_omp_threads_of_a_chunk(const Env& env);

}  // namespace hpcboot
