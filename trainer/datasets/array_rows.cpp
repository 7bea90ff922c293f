#include "datasets/array_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace hpcboot::data {
namespace {

void read_runs(const ArrayFile& file, const ArrayInfo& array, const char* row,
               const std::vector<RowRun>& runs, std::uint8_t* out) {
  try {
    file.read(array, runs, out);
  } catch (const Error&) {
    // Read the rows one by one to find the one that fails.
    for (const RowRun& run : runs) {
      for (std::int64_t index = run.first; index < run.first + run.count; ++index) {
        try {
          file.read(array, {{index, 1}}, out);
        } catch (const Error& failure) {
          throw Error(failure.code(),
                      std::string(row) + " " + std::to_string(index) + ": " + failure.found(),
                      failure.expected(), failure.remedy());
        }
      }
    }
    throw;
  }
}

}  // namespace

std::size_t row_bytes(const ArrayInfo& array) {
  std::size_t bytes = record::size_of(array.type);
  for (std::size_t i = 1; i < array.shape.size(); ++i)
    bytes *= static_cast<std::size_t>(array.shape[i]);
  return bytes;
}

void read_rows(const ArrayFile& file, const ArrayInfo& array, const char* row,
               const std::int64_t* indices, std::int64_t number, std::uint8_t* out) {
  if (number == 0) return;
  const auto total = static_cast<std::size_t>(number);
  // A shuffled batch is read in file order, each row once, and distributed afterwards.
  std::vector<std::size_t> order(total);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return indices[a] < indices[b]; });
  std::vector<RowRun> runs;
  std::vector<std::size_t> place(total);  // of row indices[i] among those that are read
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < total; ++i) {
    const std::int64_t index = indices[order[i]];
    const bool repeated = i > 0 && indices[order[i - 1]] == index;
    if (!repeated) {
      if (!runs.empty() && runs.back().first + runs.back().count == index) {
        ++runs.back().count;
      } else {
        runs.push_back({index, 1});
      }
      ++distinct;
    }
    place[order[i]] = distinct - 1;
  }
  if (distinct == total && std::is_sorted(indices, indices + number)) {
    read_runs(file, array, row, runs, out);
    return;
  }
  const std::size_t bytes = row_bytes(array);
  std::vector<std::uint8_t> sorted(distinct * bytes);
  read_runs(file, array, row, runs, sorted.data());
  for (std::size_t i = 0; i < total; ++i) {
    std::copy_n(sorted.data() + place[i] * bytes, bytes, out + i * bytes);
  }
}

}  // namespace hpcboot::data
