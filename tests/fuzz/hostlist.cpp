#include "hpcboot/hostlist.hpp"

#include "fuzz.hpp"
#include "rendezvous/store/meet_by_openmpi.hpp"

// count(), first() and compress() agree with expand(). Open MPI's lists have a reader of their own.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  constexpr std::size_t kLimit = 256;  // keeps one input fast
  const std::string_view list = fuzz::text_of(data, size);
  fuzz::allow_error([&] { hostlist::expand_counts(list, "COUNTS", kLimit); });
  rendezvous::openmpi_hosts(list);
  fuzz::allow_error([&] { hostlist::count(list); });
  fuzz::allow_error([&] { hostlist::first(list); });
  fuzz::allow_error([&] {
    const std::vector<std::string> hosts = hostlist::expand(list, kLimit);
    fuzz::require(hostlist::count(list) == hosts.size(), "count() is the size of expand()");
    if (hosts.empty()) return;
    fuzz::require(hostlist::first(list) == hosts.front(), "first() is the first of expand()");
    fuzz::require(hostlist::expand(hostlist::compress(hosts), kLimit) == hosts,
                  "expand() inverts compress()");
  });
  return 0;
}
