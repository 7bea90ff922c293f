#include "loop/host_load.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <utility>

#include "json/json_reader.hpp"
#include "monitor/host_counters.hpp"

namespace hpcboot::train {
namespace {

using record::HostRecord;

constexpr double kEnough = 0.75;    // of the processors that the run could use
constexpr double kShortest = 10.0;  // seconds
constexpr std::size_t kMostLines = 4;

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// Whether other programs that use this many processors leave too few for the run.
bool leaves_too_little(const HostRecord& host, double used, int threads) {
  const double wanted = std::min(*host.processors, threads);
  return *host.processors - used < kEnough * wanted;
}

/// The ranks of a host: the first one, which provides the host's numbers, and sums over all.
struct Ranks {
  std::size_t first = 0;
  int count = 0;
  int threads = 0;
  double own_seconds = 0;
};

std::map<std::string, Ranks> ranks_by_host(const std::vector<HostLook>& looks) {
  std::map<std::string, Ranks> hosts;
  for (std::size_t rank = 0; rank < looks.size(); ++rank) {
    Ranks& ranks = hosts[looks[rank].host];
    if (ranks.count++ == 0) ranks.first = rank;
    ranks.threads += looks[rank].threads;
    ranks.own_seconds += looks[rank].own_seconds;
  }
  return hosts;
}

std::vector<std::string> shortened(std::vector<std::string> lines) {
  if (lines.size() <= kMostLines) return lines;
  const std::size_t more = lines.size() - kMostLines;
  lines.resize(kMostLines);
  lines.push_back(fmt::format("and {} more hosts, see `hosts` in run.json", more));
  return lines;
}

}  // namespace

HostLook look_at_host(const std::string& host, int threads) {
  HostLook look;
  look.host = host;
  look.threads = threads;
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (processors > 0) look.processors = static_cast<int>(processors);
  double one = 0;
  double five = 0;
  double fifteen = 0;
  int running = 0;
  if (std::ifstream("/proc/loadavg") >> one >> five >> fifteen >> running) {
    look.load = one;
    look.running = running;
  }
  // Without interrupts, which the run's own traffic causes as well.
  std::string name;
  double user = 0;
  double nice = 0;
  double system = 0;
  if (std::ifstream("/proc/stat") >> name >> user >> nice >> system && name == "cpu") {
    look.busy_seconds = (user + nice + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  look.own_seconds = monitor::own_processor_seconds();
  look.time =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return look;
}

Json to_json(const HostLook& look) {
  return Json{{"host", look.host},
              {"processors", json_of(look.processors)},
              {"load", json_of(look.load)},
              {"running", json_of(look.running)},
              {"busy_seconds", json_of(look.busy_seconds)},
              {"own_seconds", look.own_seconds},
              {"time", look.time},
              {"threads", look.threads}};
}

HostLook host_look_from_json(const Json& json, const std::string& from) {
  const JsonReader reader(from, json);
  HostLook look;
  look.host = reader.text("host").value_or("");
  look.processors = reader.small_integer("processors");
  look.load = reader.number("load");
  look.running = reader.small_integer("running");
  look.busy_seconds = reader.number("busy_seconds");
  look.own_seconds = reader.number("own_seconds").value_or(0);
  look.time = reader.number("time").value_or(0);
  look.threads = reader.small_integer("threads").value_or(1);
  return look;
}

std::vector<HostRecord> hosts_at_start(const std::vector<HostLook>& looks) {
  const auto ranks_of = ranks_by_host(looks);
  std::vector<HostRecord> hosts;
  for (std::size_t rank = 0; rank < looks.size(); ++rank) {
    const HostLook& look = looks[rank];
    const Ranks& ranks = ranks_of.at(look.host);
    if (ranks.first != rank) continue;
    HostRecord host;
    host.host = look.host;
    host.processors = look.processors;
    host.load_at_start = look.load;
    if (look.running) host.others_at_start = std::max(0, *look.running - ranks.count);
    if (host.processors && host.load_at_start && host.others_at_start) {
      const double used = std::min(*host.load_at_start, *host.others_at_start);
      host.busy = leaves_too_little(host, used, ranks.threads);
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

void add_end(std::vector<HostRecord>& hosts, const std::vector<HostLook>& first,
             const std::vector<HostLook>& last) {
  const auto before = ranks_by_host(first);
  const auto after = ranks_by_host(last);
  for (HostRecord& host : hosts) {
    const Ranks& ranks = after.at(host.host);
    const HostLook& begin = first.at(ranks.first);
    const HostLook& end = last.at(ranks.first);
    host.load_at_end = end.load;
    const double seconds = end.time - begin.time;
    if (!begin.busy_seconds || !end.busy_seconds || seconds < kShortest) continue;
    const double own = ranks.own_seconds - before.at(host.host).own_seconds;
    host.others = std::max(0.0, (*end.busy_seconds - *begin.busy_seconds - own) / seconds);
    if (host.processors && leaves_too_little(host, *host.others, ranks.threads)) host.busy = true;
  }
}

std::vector<std::string> busy_at_start(const std::vector<HostRecord>& hosts) {
  std::vector<std::string> lines;
  for (const HostRecord& host : hosts) {
    if (!host.busy) continue;
    lines.push_back(fmt::format("host {} was busy at the start: load {:.1f} on {} processors",
                                host.host, *host.load_at_start, *host.processors));
  }
  return shortened(std::move(lines));
}

std::vector<std::string> busy_since(const std::vector<HostRecord>& hosts,
                                    const std::vector<HostRecord>& before) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].busy || before.at(i).busy) continue;
    lines.push_back(fmt::format("host {} was busy: other programs took {:.1f} of its {} processors",
                                hosts[i].host, *hosts[i].others, *hosts[i].processors));
  }
  return shortened(std::move(lines));
}

}  // namespace hpcboot::train
