#include "hpcboot/hostfile.hpp"

#include "fuzz.hpp"

// Hostfiles of Open MPI and MPICH: each host once, with its slots.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::allow_error([&] {
    const Nodefile hosts = parse_hostfile(text, "input");
    fuzz::require(hosts.hosts.size() == hosts.slots.size(), "slots stand beside hosts");
    for (const std::string& host : hosts.hosts)
      fuzz::require(!host.empty() && text.find(host) != std::string_view::npos, "hosts are read");
    for (const int slots : hosts.slots) fuzz::require(slots >= 0, "slots are counted");
  });
  return 0;
}
