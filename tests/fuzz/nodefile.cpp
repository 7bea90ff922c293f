#include "fuzz.hpp"
#include "hpcboot/allocation.hpp"

// The files of PBS and of Grid Engine that list hosts: each host once, with its slots.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string_view text = fuzz::text_of(data, size);
  for (Nodefile (*parse)(std::string_view, std::string_view) :
       {parse_nodefile, parse_pe_hostfile}) {
    fuzz::allow_error([&] {
      const Nodefile nodefile = parse(text, "input");
      fuzz::require(nodefile.hosts.size() == nodefile.slots.size(), "slots stand beside hosts");
      for (const std::string& host : nodefile.hosts)
        fuzz::require(!host.empty() && text.find(host) != std::string_view::npos, "hosts are read");
      for (const int slots : nodefile.slots) fuzz::require(slots >= 0, "slots are counted");
    });
  }
  return 0;
}
