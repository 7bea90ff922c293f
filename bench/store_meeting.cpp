// Measures how long many ranks take to meet at a store, compared with c10d's TCPStore of this
// LibTorch, in one run, in turn:
//   meet    connect, and read rank 0's endpoint
//   gather  set 64 bytes, and get those of every rank: key by key, and by multiGet
// Our store is measured twice: with a connection for each rank, and through relays, as in launches
// of more than 512 ranks, with 64 ranks per host.
// All ranks are threads of processes of this machine, at most 512 per process, on loopback: it
// measures the work of all of them together, not a network.
// Usage: store_meeting [--rounds N] [--keys N] [RANKS…]        default: 3 rounds of 64 256 1024
// --keys: each rank gets the keys of only this many others; saves hours with thousands of ranks
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rendezvous/store/meeting_places.hpp"
#include "world_store.hpp"

namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 512;
constexpr int kRanksOfAHost = 64;
constexpr auto kDeadline = 600s;

enum class Kind { tcp, by_key, at_once, relayed_by_key, relayed_at_once };
constexpr Kind kKinds[] = {Kind::tcp, Kind::by_key, Kind::at_once, Kind::relayed_by_key,
                           Kind::relayed_at_once};
const char* const kNames[] = {"TCPStore, key by key", "ours, key by key", "ours, multiGet",
                              "relays, key by key", "relays, multiGet"};

const hpcboot::rendezvous::Secret kSecret("a secret that is known to this program alone");

hpcboot::rendezvous::World world_of(int ranks) {
  return {"store_meeting", static_cast<std::uint32_t>(ranks), kSecret};
}

c10::intrusive_ptr<c10d::Store> tcp_store(int port, bool serve) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = kDeadline;
  return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
}

c10::intrusive_ptr<c10d::Store> join(Kind kind, int rank, int ranks, int port) {
  if (kind == Kind::tcp) return tcp_store(port, false);
  namespace r = hpcboot::rendezvous;
  const auto id = static_cast<std::uint32_t>(rank);
  const r::World world = world_of(ranks + 1);
  const r::Place place{"127.0.0.1", port};
  const auto end = Clock::now() + kDeadline;
  r::Rendezvous meeting;
  if (kind == Kind::by_key || kind == Kind::at_once) {
    meeting.client = r::Client::connect({place}, {world, id}, end);
  } else {
    const std::string host = std::to_string(port) + "/" + std::to_string(rank / kRanksOfAHost);
    const r::World own{host, world.size, {}, r::SecretKind::kernel};
    if (rank % kRanksOfAHost == 0) {
      meeting.client = r::Client::connect({place}, {world, id}, end);
      meeting.relay =
          r::Server::start_relay(r::local_places(host), own, meeting.client->open_link(end));
    } else {
      meeting.client = r::Client::connect(r::local_places(host), {own, id}, end);
    }
  }
  return c10::make_intrusive<hpcboot::WorldStore>(
      std::make_shared<const r::Rendezvous>(std::move(meeting)), kDeadline);
}

int most_keys = std::numeric_limits<int>::max();

void gather(Kind kind, c10d::Store& store, int rank, int ranks) {
  store.set("r" + std::to_string(rank), std::vector<std::uint8_t>(64, 7));
  std::vector<std::string> keys;
  for (int i = 0; i < std::min(ranks, most_keys); ++i)
    keys.push_back("r" + std::to_string((rank + i) % ranks));
  if (kind == Kind::at_once || kind == Kind::relayed_at_once) {
    dynamic_cast<hpcboot::WorldStore&>(store).multiGet(keys);
    return;
  }
  for (const std::string& key : keys) store.get(key);
}

template <typename Value>
void tell(int pipe, const Value& value) {
  if (write(pipe, &value, sizeof value) != sizeof value) std::abort();
}

template <typename Value>
Value hear(int pipe) {
  Value value{};
  if (read(pipe, &value, sizeof value) != sizeof value) {
    std::fputs("store_meeting: a process of ranks ended early\n", stderr);
    std::exit(1);
  }
  return value;
}

double now() {
  return Seconds(Clock::now().time_since_epoch()).count();
}

// The ranks from `first` to `last`: waits for the port, meets, waits for a message, gathers;
// reports when each was done.
[[noreturn]] void be_ranks(Kind kind, int first, int last, int ranks, int in, int out) {
  const int port = hear<int>(in);
  std::vector<c10::intrusive_ptr<c10d::Store>> stores(static_cast<std::size_t>(last - first));
  const auto all = [&](const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int rank = first; rank < last; ++rank) threads.emplace_back(work, rank);
    for (std::thread& thread : threads) thread.join();
  };
  all([&](int rank) {
    auto& store = stores[static_cast<std::size_t>(rank - first)];
    store = join(kind, rank, ranks, port);
    store->get("endpoint");
  });
  tell(out, now());
  hear<int>(in);
  all([&](int rank) {
    gather(kind, *stores[static_cast<std::size_t>(rank - first)], rank, ranks);
  });
  tell(out, now());
  hear<int>(in);
  _exit(0);
}

struct Times {
  double meet = 0;
  double gather = 0;
};

struct Process {
  pid_t id = 0;
  int in = -1;
  int out = -1;
};

Times run(Kind kind, int ranks) {
  std::vector<Process> processes;
  for (int first = 0; first < ranks; first += kThreads) {
    int in[2];
    int out[2];
    if (pipe(in) != 0 || pipe(out) != 0) std::abort();
    const pid_t id = fork();
    if (id == 0) be_ranks(kind, first, std::min(first + kThreads, ranks), ranks, in[0], out[1]);
    processes.push_back({id, in[1], out[0]});
    close(in[0]);
    close(out[1]);
  }
  c10::intrusive_ptr<c10d::Store> tcp;
  std::unique_ptr<hpcboot::rendezvous::Server> server;
  int port = 0;
  if (kind == Kind::tcp) {
    tcp = tcp_store(0, true);
    port = dynamic_cast<c10d::TCPStore&>(*tcp).getPort();
    tcp->set("endpoint", std::vector<std::uint8_t>{1, 2, 3});
  } else {
    server = hpcboot::rendezvous::Server::start({"127.0.0.1", 0}, world_of(ranks + 1));
    port = server->place().port;
    // This process is an additional rank, after the others.
    hpcboot::rendezvous::Client::connect({server->place()},
                                         {world_of(ranks + 1), static_cast<std::uint32_t>(ranks)},
                                         Clock::now() + kDeadline)
        ->set("endpoint", "123");
  }
  const auto all = [&](int word) {
    const double begin = now();
    for (const Process& process : processes) tell(process.in, word);
    double end = begin;
    for (const Process& process : processes) end = std::max(end, hear<double>(process.out));
    return end - begin;
  };
  Times times;
  times.meet = all(port);
  times.gather = all(0);
  for (const Process& process : processes) {
    tell(process.in, 0);
    close(process.in);
    close(process.out);
    waitpid(process.id, nullptr, 0);
  }
  return times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(int ranks, int rounds) {
  std::map<Kind, std::vector<double>> meet;
  std::map<Kind, std::vector<double>> gathers;
  for (int round = 0; round < rounds; ++round) {
    for (const Kind kind : kKinds) {
      const Times times = run(kind, ranks);
      meet[kind].push_back(times.meet);
      gathers[kind].push_back(times.gather);
    }
  }
  const double tcp_meet = median(meet[Kind::tcp]);
  const double tcp_gather = median(gathers[Kind::tcp]);
  for (const Kind kind : kKinds) {
    const double own_meet = median(meet[kind]);
    const double own_gather = median(gathers[kind]);
    std::printf("%6d  %-21s %8.3f %6.1fx %9.3f %7.1fx\n", ranks, kNames[static_cast<int>(kind)],
                own_meet, tcp_meet / own_meet, own_gather, tcp_gather / own_gather);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  int rounds = 3;
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--rounds") == 0 && i + 1 < count) {
      rounds = std::atoi(words[++i]);
    } else if (std::strcmp(words[i], "--keys") == 0 && i + 1 < count) {
      most_keys = std::atoi(words[++i]);
    } else if (std::atoi(words[i]) > 0) {
      sizes.push_back(std::atoi(words[i]));
    } else {
      std::fputs("usage: store_meeting [--rounds N] [--keys N] [RANKS...]\n", stderr);
      return 2;
    }
  }
  if (sizes.empty()) sizes = {64, 256, 1024};
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  std::printf("seconds, median of %d; TCPStore of LibTorch %s\n", rounds, TORCH_VERSION);
  std::printf("%6s  %-21s %8s %7s %9s %8s\n", "ranks", "store", "meet", "", "gather", "");
  for (const int ranks : sizes) compare(ranks, rounds);
}
