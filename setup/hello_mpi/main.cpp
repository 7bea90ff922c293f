// hello_mpi: the first program to try on new machines.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/counted.hpp"
#include "hpcboot/bootstrap.hpp"
#include "hpcboot/mpi_session.hpp"
#include "measure.hpp"
#include "options/command.hpp"
#include "text/format.hpp"
#include "text/table.hpp"
#include "text/terminal.hpp"
#include "time_limit.hpp"

namespace {

namespace options = hpcboot::options;
using hpcboot::Align;
using hpcboot::Encoded;
using hpcboot::terminal_text;
using hpcboot::TextTable;

struct Wanted {
  int timeout_s = 60;
  int size_mib = 4;
};

/// @param wanted is set by options::finish(), and must outlive the command
options::Command command(Wanted& wanted) {
  options::Command command{
      "hello_mpi",
      "",
      "print where each rank runs, and how fast the hosts communicate",
      {"mpirun [MPIRUN OPTIONS] hello_mpi [OPTIONS]"},
      {{"mpirun --hostfile setup/hosts.txt build/bin/hello_mpi", "on the machines of a hosts file"},
       {"srun -N 2 -n 2 build/bin/hello_mpi --size 64", "in a Slurm allocation, large messages"}}};
  command.details = {
      "Rank 0 prints the host, local rank and device of each rank, then the speed between hosts: "
      "latency (half a round trip of 8 bytes) and bandwidth (one way) of each pair of hosts while "
      "all others are idle, and bandwidth of the ring in which every rank sends to the next at the "
      "same time, the pattern of DistributedDataParallel. Beyond 32 hosts: each host with the "
      "next. On a single host: its first two ranks."};
  command.groups = {{"Options",
                     {{"timeout", options::into(wanted.timeout_s, "SECONDS"),
                       "give up after this time, with exit code 32"},
                      {"size", options::into(wanted.size_mib, "MIB"),
                       "size of the messages for bandwidth, 1 to 1024"}}}};
  command.exit_codes = {{"0", "the measurements are complete"},
                        {"2", "the command line is wrong"},
                        {"22",
                         "the launcher and MPI disagree, for example if each rank is a world "
                         "of one"},
                        {"32", "not done within --timeout"},
                        {"20 to 35", "any other error of hpcboot"}};
  command.more = "setup/README.md of the project";
  return command;
}

/// @return nullopt if help or the version was printed
/// @throws options::UsageError
std::optional<Wanted> parse_arguments(int argc, char** argv) {
  Wanted wanted;
  const options::Command known = command(wanted);
  auto parsed = options::parse(known, std::string(hpcboot::version()), {argv + 1, argv + argc});
  if (!parsed) return std::nullopt;
  options::finish(known, parsed->values);
  if (wanted.timeout_s < 1)
    throw options::UsageError(
        "--timeout must be at least 1 second; hello_mpi --help lists the options");
  if (wanted.size_mib < 1 || wanted.size_mib > 1024)
    throw options::UsageError("--size must be 1 to 1024 MiB; hello_mpi --help lists the options");
  return wanted;
}

// Where a rank runs, in the form in which it is sent.
struct Where {
  std::array<char, 256> host{};
  int local_rank = 0;
  int device = -1;  // none
};

Where where(const hpcboot::Facts& facts, const hpcboot::Resolution& me) {
  Where own;
  const std::string host = facts.hostname.value_or("-");
  host.copy(own.host.data(), own.host.size() - 1);
  own.local_rank = me.placement.local_rank;
  own.device = me.device.value_or(-1);
  return own;
}

// Collective: every rank gets the values of all ranks, by rank.
std::vector<Where> gather(const Where& own, int world_size) {
  std::vector<Where> all(static_cast<std::size_t>(world_size));
  constexpr int kBytes = sizeof(Where);
  MPI_Allgather(&own, kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

// For each rank a number, equal for ranks of the same host.
std::vector<int> host_numbers(const std::vector<Where>& ranks) {
  std::vector<int> numbers;
  for (const Where& rank : ranks) {
    const auto first = std::find_if(ranks.begin(), ranks.end(),
                                    [&](const Where& other) { return other.host == rank.host; });
    numbers.push_back(static_cast<int>(first - ranks.begin()));
  }
  return numbers;
}

void print_report(const std::vector<Where>& ranks, const std::vector<hello::Link>& links,
                  double ring, const std::string& headline) {
  TextTable placement({Align::left, Align::right, Align::right, Align::right});
  placement.add({"host", "rank", "local_rank", "device"});
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    placement.add({ranks[i].host.data(), std::to_string(i), std::to_string(ranks[i].local_rank),
                   ranks[i].device < 0 ? "-" : std::to_string(ranks[i].device)});
  }
  Encoded report = terminal_text(headline) + "\n\n" + placement.text();
  if (!links.empty()) {
    TextTable speeds({Align::left, Align::left, Align::right, Align::right});
    speeds.add({"from", "to", "latency_us", "MiB/s"});
    const auto host_of = [&](int rank) {
      return ranks[static_cast<std::size_t>(rank)].host.data();
    };
    for (const hello::Link& link : links) {
      speeds.add({host_of(link.from), host_of(link.to), fmt::format("{:.1f}", link.latency_us),
                  fmt::format("{:.0f}", link.mib_per_s)});
    }
    report += "\n" + speeds.text();
    report += hpcboot::encoded_format("\nring of {} ranks, all at once: {:.0f} MiB/s each\n",
                                      ranks.size(), ring);
  }
  hpcboot::out() << report;
  hpcboot::out().flush();
}

// Collective, so that no rank waits for one that has exited: all get the same exit code.
int agree_on(int exit_code) {
  int worst = 0;
  MPI_Allreduce(&exit_code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int run(const Wanted& wanted) {
  hello::TimeLimit limit{std::chrono::seconds(wanted.timeout_s)};
  // Before MPI starts: without a launcher, Open MPI sets the variables of a launcher itself.
  const hpcboot::Env env = hpcboot::Env::from_process();
  const hpcboot::Facts facts = hpcboot::Facts::of_this_process(env);
  limit.now("starting MPI");
  const hpcboot::MpiSession session;
  hpcboot::Resolution me;
  int failure = 0;
  try {
    me = hpcboot::resolve(env, facts);
    session.check_agrees(me);
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("hello_mpi", error);
    failure = error.exit_code();
  }
  limit.now("waiting for all ranks");
  failure = agree_on(failure);
  if (failure != 0) return failure;
  const std::vector<Where> ranks = gather(where(facts, me), session.world_size());
  const auto bytes = static_cast<std::size_t>(wanted.size_mib) * 1024 * 1024;
  limit.now("measuring the links between hosts");
  const auto links = hello::measure_links(hello::pairs_to_measure(host_numbers(ranks)), bytes);
  limit.now("measuring the ring");
  const double ring = hello::measure_ring(bytes);
  if (session.rank() == 0) {
    print_report(ranks, links, ring,
                 fmt::format("{}, launcher {}; {}", hpcboot::counted(session.world_size(), "rank"),
                             me.launcher, session.description()));
  }
  limit.now("finalizing MPI");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto wanted = parse_arguments(argc, argv);
    return wanted ? run(*wanted) : 0;
  } catch (const options::UsageError& error) {
    hpcboot::err() << "hello_mpi: " << error.what() << "\n";
    return 2;
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("hello_mpi", error);
    return error.exit_code();
  }
}
