#include <fmt/format.h>

#include "machine/benches.hpp"

namespace hpcboot::machine {

BenchResult all_reduce_bench(const Bench& bench) {
  BenchResult result;
  result.columns = {"dtype", "size"};
  const int ranks = bench.ranks.size();
  result.bytes_name = "Bus GB/s";
  result.note = fmt::format(
      "{} ranks. Bus GB/s, as nccl-tests have it: size / time x 2 (n - 1) / n, what each link "
      "carries "
      "at best; compare it with the speed of the network. Times are those of rank 0.",
      ranks);
  for (const std::int64_t kib : {4, 64, 1024, 4096, 16384, 65536}) {
    const std::int64_t bytes = kib << 10;
    torch::Tensor tensor =
        torch::zeros({bytes / 4}, torch::dtype(torch::kFloat32).device(bench.device));
    BenchRow row;
    row.what = {"fp32", size_text(bytes)};
    row.size = static_cast<double>(bytes);
    row.bytes = row.size * 2 * (ranks - 1) / ranks;
    row.timing = bench.watch.measure_together([&] { bench.ranks.sum(tensor); }, bench.ranks);
    result.rows.push_back(row);
  }
  return result;
}

}  // namespace hpcboot::machine
