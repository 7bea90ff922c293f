#include "core/launchers/apinfo.hpp"

#include "fuzz.hpp"

// The table of PALS_APINFO, from bytes: complete and consistent, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  fuzz::allow_error([&] {
    const Apinfo table = parse_apinfo(fuzz::text_of(data, size), "input");
    fuzz::require(table.version == 1 || table.version == 5, "a known version");
    fuzz::require(table.hosts.size() == table.local_sizes.size(), "one size for each host");
    std::size_t total = 0;
    for (const int local_size : table.local_sizes) total += static_cast<std::size_t>(local_size);
    fuzz::require(total == table.processes.size(), "local sizes add up to the world size");
    for (const Apinfo::Process& process : table.processes) {
      const auto node = static_cast<std::size_t>(process.node);
      fuzz::require(node < table.hosts.size(), "every process is on a node");
      fuzz::require(process.local_rank >= 0 && process.local_rank < table.local_sizes[node],
                    "local_rank < local_size");
    }
  });
  return 0;
}
