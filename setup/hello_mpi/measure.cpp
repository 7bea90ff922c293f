#include "measure.hpp"

// Leaves out MPI's C++ bindings, which mpi.h would otherwise include; MPI 3 removed them.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace hello {
namespace {

constexpr std::size_t kMaxHostsForAllPairs = 32;
constexpr int kSmall = 8;
constexpr int kRoundTrips = 100;
constexpr int kTransfers = 5;
constexpr double kMiB = 1024.0 * 1024.0;

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Seconds of the fastest of `count` round trips, after a first one, which connects.
double fastest_round_trip(const std::pair<int, int>& pair, std::vector<char>& buffer, int bytes,
                          int count) {
  double least = std::numeric_limits<double>::max();
  const bool begins = own_rank() == pair.first;
  const int peer = begins ? pair.second : pair.first;
  for (int i = 0; i <= count; ++i) {
    const double begin = MPI_Wtime();
    if (begins) MPI_Send(buffer.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!begins) MPI_Send(buffer.data(), bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    if (i > 0) least = std::min(least, MPI_Wtime() - begin);
  }
  return least;
}

// A barrier that sleeps; MPI_Barrier would poll, and take cores from the two measured ranks.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace

std::vector<std::pair<int, int>> pairs_to_measure(const std::vector<int>& hosts) {
  std::vector<int> firsts;  // ranks
  for (auto host = hosts.begin(); host != hosts.end(); ++host) {
    if (std::find(hosts.begin(), host, *host) == host)
      firsts.push_back(static_cast<int>(host - hosts.begin()));
  }
  std::vector<std::pair<int, int>> pairs;
  if (firsts.size() == 1 && hosts.size() > 1) pairs.emplace_back(0, 1);
  for (std::size_t a = 0; a < firsts.size(); ++a) {
    if (firsts.size() > kMaxHostsForAllPairs) {
      pairs.emplace_back(firsts[a], firsts[(a + 1) % firsts.size()]);
      continue;
    }
    for (std::size_t b = a + 1; b < firsts.size(); ++b) pairs.emplace_back(firsts[a], firsts[b]);
  }
  return pairs;
}

std::vector<Link> measure_links(const std::vector<std::pair<int, int>>& pairs, std::size_t bytes) {
  std::vector<char> buffer(std::max<std::size_t>(bytes, kSmall));
  std::vector<double> seconds(pairs.size() * 2);  // on the first rank of each pair; 0 elsewhere
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (own_rank() == pairs[i].first || own_rank() == pairs[i].second) {
      const double small = fastest_round_trip(pairs[i], buffer, kSmall, kRoundTrips);
      const double large =
          fastest_round_trip(pairs[i], buffer, static_cast<int>(bytes), kTransfers);
      if (own_rank() == pairs[i].first) {
        seconds[2 * i] = small;
        seconds[2 * i + 1] = large;
      }
    }
    wait_for_all();
  }
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  std::vector<Link> links;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    links.push_back({pairs[i].first, pairs[i].second, seconds[2 * i] / 2 * 1e6,
                     static_cast<double>(bytes) / kMiB / (seconds[2 * i + 1] / 2)});
  }
  return links;
}

double measure_ring(std::size_t bytes) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return 0;
  const int rank = own_rank();
  std::vector<char> out(bytes);
  std::vector<char> in(bytes);
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i <= kTransfers; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Sendrecv(out.data(), static_cast<int>(bytes), MPI_CHAR, (rank + 1) % size, 0, in.data(),
                 static_cast<int>(bytes), MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (i > 0) least = std::min(least, MPI_Wtime() - begin);
  }
  double slowest = 0;
  MPI_Allreduce(&least, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return static_cast<double>(bytes) / kMiB / slowest;
}

}  // namespace hello
