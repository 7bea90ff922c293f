// hello_mpi: the first program to try on new machines.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "hpcboot/bootstrap.hpp"
#include "hpcboot/mpi_session.hpp"
#include "measure.hpp"
#include "text/format.hpp"
#include "text/table.hpp"
#include "text/terminal.hpp"
#include "time_limit.hpp"

namespace {

namespace po = boost::program_options;
using hpcboot::Align;
using hpcboot::Encoded;
using hpcboot::terminal_text;
using hpcboot::TextTable;

constexpr const char* kSynopsis =
    "Usage: mpirun --hostfile setup/hosts.txt build/bin/hello_mpi [OPTIONS]\n\n"
    "Rank 0 prints the host, local rank and device of each rank, then the speed between hosts:\n"
    "latency (half a round trip of 8 bytes) and bandwidth (one way) of each pair of hosts while\n"
    "all others are idle, and bandwidth of the ring in which every rank sends to the next at the\n"
    "same time, the pattern of DistributedDataParallel. Beyond 32 hosts: each host with the next.\n"
    "\n"
    "Exit code: 0 all ranks were measured, 2 usage, 22 the launcher and MPI disagree, for example\n"
    "if each rank is a world of one, 32 timeout, else as for hpcboot's programs.\n";

struct Options {
  int timeout_s = 60;
  int size_mib = 4;
};

/// @return nullopt if there is nothing left to do (--help, --version)
std::optional<Options> parse(int argc, char** argv) {
  Options options;
  po::options_description description("Options");
  description.add_options()("timeout",
                            po::value(&options.timeout_s)->default_value(60)->value_name("SECONDS"),
                            "give up after this time, with exit code 32")(
      "size", po::value(&options.size_mib)->default_value(4)->value_name("MIB"),
      "size of the messages for bandwidth, 1 to 1024")("help,h", "print this and exit")(
      "version", "print the version and exit");
  po::variables_map values;
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::store(
      po::command_line_parser(argc, argv).options(description).style(style).positional({}).run(),
      values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << kSynopsis << "\n" << description;
    hpcboot::out() << Encoded::as_is(help.str());
    return std::nullopt;
  }
  if (values.count("version") != 0) {
    hpcboot::out() << "hello_mpi " << hpcboot::version() << "\n";
    return std::nullopt;
  }
  if (options.timeout_s < 1) throw po::error("--timeout must be at least 1 second");
  if (options.size_mib < 1 || options.size_mib > 1024)
    throw po::error("--size must be 1 to 1024 MiB");
  return options;
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

int run(const Options& options) {
  hello::TimeLimit limit{std::chrono::seconds(options.timeout_s)};
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
  const auto bytes = static_cast<std::size_t>(options.size_mib) * 1024 * 1024;
  limit.now("measuring the links between hosts");
  const auto links = hello::measure_links(hello::pairs_to_measure(host_numbers(ranks)), bytes);
  limit.now("measuring the ring");
  const double ring = hello::measure_ring(bytes);
  if (session.rank() == 0) {
    print_report(ranks, links, ring,
                 fmt::format("{} {}, launcher {}; {}", session.world_size(),
                             session.world_size() == 1 ? "rank" : "ranks", me.launcher,
                             session.description()));
  }
  limit.now("finalizing MPI");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = parse(argc, argv);
    return options ? run(*options) : 0;
  } catch (const po::error& error) {
    hpcboot::err() << "hello_mpi: " << error.what() << "; --help lists the options\n";
    return 2;
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("hello_mpi", error);
    return error.exit_code();
  }
}
