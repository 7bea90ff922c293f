#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "profile/trace_event.hpp"
#include "text/table.hpp"

namespace hpcboot::profile {

/// All calls of one operator, or of one of the program's ranges. Times are in nanoseconds.
struct KeyAverage {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t total = 0;   ///< on the host, with what it called
  std::int64_t self = 0;    ///< without
  std::int64_t gpu = 0;     ///< of the kernels and copies that it launched itself
  std::uint64_t flops = 0;  ///< of all calls; 0 if not known
};

/// By operator, as PyTorch's key_averages(), the one with the longest time first: on the GPU if
/// anything ran there, else itself on the host.
std::vector<KeyAverage> key_averages(const Recording& recording);

/// The first `most` of them, as a table.
Encoded key_averages_table(const std::vector<KeyAverage>& averages, std::size_t most,
                           const Look& look = {});

/// All of them as a CSV file, times in microseconds.
std::string key_averages_csv(const std::vector<KeyAverage>& averages);

}  // namespace hpcboot::profile
