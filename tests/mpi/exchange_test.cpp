#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "hpcboot/bootstrap.hpp"

// Run under mpirun, mpiexec.hydra or srun; the first argument is the exchange that the launcher
// must offer ("pmix"), the second counts the runs in the same launch, which have different values.
// Not a GoogleTest program: every rank must take part in each exchange, whatever fails.
namespace {

int failures = 0;

void expect(bool holds, const char* what, int rank) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: FAILED: %s\n", rank, what);
  ++failures;
}

// Every rank's value arrives at every rank, and not that of an earlier exchange.
void greet(hpcboot::KeyValueStore& kvs, const std::string& word) {
  using namespace std::chrono_literals;
  const auto greeting = [&](int rank) { return word + " from " + std::to_string(rank); };
  kvs.put("greeting", greeting(kvs.rank()));
  kvs.commit(20s);
  for (int other = 0; other < kvs.world_size(); ++other) {
    const std::string value = kvs.get(other, "greeting", 20s);
    expect(value == greeting(other), ("every rank's value arrives, not " + value).c_str(),
           kvs.rank());
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  try {
    const hpcboot::Env env = hpcboot::Env::from_process();
    const hpcboot::Resolution me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
    const int rank = me.placement.rank;
    const int world_size = me.placement.world_size;
    const std::string kind(hpcboot::offered_kvs(env));
    expect(argc >= 2 && kind == argv[1], ("the launcher offers '" + kind + "'").c_str(), rank);
    const std::string run = argc > 2 ? argv[2] : "1";
    auto kvs = hpcboot::open_kvs(env);
    if (!kvs) return 1;
    expect(kvs->rank() == rank, "the exchange and the environment agree on the rank", rank);
    expect(kvs->world_size() == world_size, "and on the size", rank);
    expect(kvs->description().rfind(kind + ": ", 0) == 0, "it names itself", rank);

    const auto begin_exchange = std::chrono::steady_clock::now();
    greet(*kvs, "run " + run);
    const auto exchanged = std::chrono::steady_clock::now() - begin_exchange;
    // Longer than the limit of any launcher, with all characters that its protocol could mishandle.
    kvs->put("long;key=", std::string(3000, 'x') + " ;=%\"'_ " + std::to_string(rank));
    kvs->put("empty", "");
    kvs->commit(20s);
    const int next = (rank + 1) % world_size;
    expect(kvs->get(next, "long;key=", 20s) ==
               std::string(3000, 'x') + " ;=%\"'_ " + std::to_string(next),
           "a long value arrives as it was", rank);
    expect(kvs->get(next, "empty", 20s).empty(), "an empty value arrives", rank);
    kvs->fence(20s);

    // Every byte, also in a key, and the longest deadline.
    std::string bytes;
    for (int i = 0; i < 512; ++i) bytes += static_cast<char>(i);
    constexpr auto kLongest = std::chrono::milliseconds::max();
    const std::string key("k\0;", 3);
    kvs->put(key, bytes + std::to_string(rank));
    kvs->commit(kLongest);
    expect(kvs->get(next, key, kLongest) == bytes + std::to_string(next), "every byte arrives",
           rank);
    kvs->fence(kLongest);
    for (const auto& [refused, value] : {std::pair{std::string(), 0},
                                         {std::string(33, 'k'), 0},
                                         {std::string("long"), (1 << 20) + 1}}) {
      try {
        kvs->put(refused, std::string(static_cast<std::size_t>(value), 'x'));
        expect(false, "what another back end would not take is an error", rank);
      } catch (const hpcboot::Error& error) {
        expect(error.found().find("for the exchange has") != std::string::npos,
               "the message says what was too long", rank);
      }
    }

    // Ranks of one node have the same host name; every server here provides a map. OpenPMIx 4's
    // forgets host names when the first process of a rank has ended.
    const std::vector<int> nodes = kvs->node_map(20s);
    const bool is_forgotten = nodes.empty() && run != "1";
    expect(is_forgotten || static_cast<int>(nodes.size()) == world_size,
           "the node map has every rank", rank);
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    kvs->put("host", host);
    kvs->commit(20s);
    for (std::size_t other = 0; other < nodes.size(); ++other) {
      const bool same_host = kvs->get(static_cast<int>(other), "host", 20s) == host;
      const bool same_node = nodes[other] == nodes[static_cast<std::size_t>(rank)];
      expect(same_host == same_node, "the node map agrees with the host names", rank);
    }
    kvs->fence(20s);

    // A key that no rank puts: the deadline holds, and the message names the rank.
    const auto begin = std::chrono::steady_clock::now();
    try {
      kvs->get((rank + 1) % world_size, "nobody.puts.this", 500ms);
      expect(false, "a key that no rank puts is an error", rank);
    } catch (const hpcboot::Error& error) {
      const auto seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      expect(seconds < 10, "the deadline holds", rank);
      const std::string missing = "from rank " + std::to_string((rank + 1) % world_size);
      expect(error.found().find(missing) != std::string::npos, "the message names the rank", rank);
    }
    kvs->fence(20s);
    const std::string description = kvs->description();
    if (kind == "pmix") {  // with PMI a process can open it only once
      kvs.reset();
      kvs = hpcboot::open_kvs(env);
      greet(*kvs, "run " + run + " again");
      kvs->fence(20s);
    }
    if (rank == 0) {
      const auto ms = std::chrono::duration<double, std::milli>(exchanged).count();
      std::printf("%s: %.2f ms, %d ranks, %d failures\n", description.c_str(), ms, world_size,
                  failures);
    }
  } catch (const hpcboot::Error& error) {
    std::fprintf(stderr, "%s", hpcboot::format_error("exchange_test", error).c_str());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
