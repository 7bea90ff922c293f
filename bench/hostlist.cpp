#include "hpcboot/hostlist.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

// Host lists of 100,000 hosts, as one range and as single names. Target: first() below 5 µs,
// expand() above 20 million hosts per second.
namespace {

namespace hostlist = hpcboot::hostlist;

constexpr std::int64_t kHosts = 100'000;
const std::string kOneRange = "n[000001-100000]";

const std::vector<std::string>& names() {
  static const std::vector<std::string> expanded = hostlist::expand(kOneRange);
  return expanded;
}

const std::string& comma_separated() {
  static const std::string list = [] {
    std::string joined;
    for (const std::string& name : names()) joined.append(joined.empty() ? "" : ",").append(name);
    return joined;
  }();
  return list;
}

void count_hosts(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kHosts);
}

void first(benchmark::State& state, const std::string& list) {
  for (auto _ : state) benchmark::DoNotOptimize(hostlist::first(list));
}

void count(benchmark::State& state, const std::string& list) {
  for (auto _ : state) benchmark::DoNotOptimize(hostlist::count(list));
  count_hosts(state);
}

void expand(benchmark::State& state, const std::string& list) {
  for (auto _ : state) benchmark::DoNotOptimize(hostlist::expand(list));
  count_hosts(state);
}

void compress(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(hostlist::compress(names()));
  count_hosts(state);
}

BENCHMARK_CAPTURE(first, one_range, kOneRange);
BENCHMARK_CAPTURE(first, comma_separated, comma_separated());
BENCHMARK_CAPTURE(count, one_range, kOneRange);
BENCHMARK_CAPTURE(count, comma_separated, comma_separated())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(expand, one_range, kOneRange)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(expand, comma_separated, comma_separated())->Unit(benchmark::kMillisecond);
BENCHMARK(compress)->Unit(benchmark::kMillisecond);

}  // namespace
