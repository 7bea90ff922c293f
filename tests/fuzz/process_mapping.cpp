#include "core/launchers/process_mapping.hpp"

#include <algorithm>
#include <set>

#include "fuzz.hpp"

// SLURM_PMIX_MAPPING_SERV and PMI_process_mapping: every rank has its own place.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  fuzz::allow_error([&] {
    const ProcessMapping mapping = ProcessMapping::parse(fuzz::text_of(data, size), "MAPPING");
    fuzz::require(mapping.size() > 0, "a mapping has ranks");
    const int world_size = std::min(mapping.size(), 64);
    std::set<std::pair<int, int>> places;
    for (int rank = 0; rank < world_size; ++rank) {
      const int node = mapping.node_of(rank);
      const int local_rank = mapping.local_rank_of(rank);
      fuzz::require(node >= 0 && local_rank >= 0, "places count from 0");
      fuzz::require(local_rank < mapping.local_size(node, world_size), "local_rank < local_size");
      fuzz::require(places.emplace(node, local_rank).second, "no two ranks at one place");
    }
  });
  return 0;
}
