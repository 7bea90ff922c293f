#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::machine {

/// Times of equal operations, in seconds.
struct Timing {
  double median = 0;
  double low = 0;   ///< the shortest
  double high = 0;  ///< the longest
  int samples = 0;  ///< how many were measured, each the mean of as many operations as take 2 ms
};

/// One line: an operation, and how long it takes.
struct BenchRow {
  std::vector<std::string> what;  ///< a value for each of BenchResult::columns
  double size = 0;                ///< the last of them as a number, for the plot
  Timing timing{};
  double bytes = 0;  ///< that an operation moves; 0: does not count
  double flop = 0;   ///< that it computes; 0: does not count
  double items = 0;  ///< that it delivers; 0: does not count
  /// What the data sheet of the device promises: bytes/s or FLOP/s.
  std::optional<double> promised{};
};

struct BenchResult {
  std::string kind;                  ///< "matmul"
  std::string device;                ///< "NVIDIA H200", "Intel(R) Xeon(R) …, 2 threads"
  std::string note{};                ///< what the figures count
  std::vector<std::string> columns;  ///< of BenchRow::what; the last one is the size
  std::string bytes_name{"GB/s"};    ///< title of bytes / time
  std::string items_name{};          ///< title of items / time
  std::vector<BenchRow> rows{};
};

}  // namespace hpcboot::machine
