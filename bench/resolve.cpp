#include "hpcboot/resolve.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "json/capture_folder.hpp"

// resolve() with the captured environments of tests/golden/env, one line per launch (rank 0's).
// Target: below 50 µs each. Env::from_process() and Facts::of_this_process() are what a program
// pays before it.
namespace {

namespace fs = std::filesystem;
using hpcboot::CapturedRank;
using hpcboot::Env;
using hpcboot::Facts;

void resolve(benchmark::State& state, const CapturedRank& rank) {
  for (auto _ : state)
    benchmark::DoNotOptimize(hpcboot::resolve(rank.env, rank.facts, rank.options));
  state.SetItemsProcessed(state.iterations());
}

void env_from_process(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Env::from_process());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(env_from_process);

void facts_of_this_process(benchmark::State& state) {
  const Env env = Env::from_process();
  for (auto _ : state) benchmark::DoNotOptimize(Facts::of_this_process(env));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(facts_of_this_process);

// Two launchers are present, so the environments of the ancestor processes are read, too.
void facts_of_a_nested_process(benchmark::State& state) {
  const Env env = Env::parse(
      "TORCHELASTIC_RUN_ID=r\nRANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nGROUP_WORLD_SIZE=1\n"
      "MASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\nOMPI_COMM_WORLD_RANK=0\n"
      "OMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n");
  for (auto _ : state) benchmark::DoNotOptimize(Facts::of_this_process(env));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(facts_of_a_nested_process);

// One benchmark per folder: a new capture needs no registration.
const bool kRegistered = [] {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(HPCBOOT_GOLDEN_DIR)) folders.push_back(entry);
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const CapturedRank rank = hpcboot::read_captured_rank(
        folder.string(), hpcboot::list_capture(folder.string()).front());
    benchmark::RegisterBenchmark(("resolve/" + folder.filename().string()).c_str(),
                                 [rank](benchmark::State& state) { resolve(state, rank); });
  }
  return true;
}();

}  // namespace
