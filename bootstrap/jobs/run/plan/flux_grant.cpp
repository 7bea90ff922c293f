#include "flux_grant.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>

#include "hpcboot/error.hpp"
#include "hpcboot/hostlist.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot::run {
namespace {

// Most cores, devices or slots in total: a larger number is corrupt.
constexpr int kMostSlots = 1 << 30;

void take_hosts(Granted& granted, const Surroundings& s) {
  std::istringstream list(s.output_of({"flux", "getattr", "hostlist"}));
  std::string hosts;
  list >> hosts;
  granted.hosts.clear();
  granted.origin = "flux getattr hostlist";
  std::set<std::string> known;  // a host with several brokers is listed once per broker
  for (const std::string& host : hostlist::expand(hosts)) {
    if (known.insert(host).second) granted.hosts.push_back({host});
  }
  if (granted.hosts.empty()) {  // also of ","
    throw Error(ErrorCode::backend_unavailable, "`flux getattr hostlist` names no host",
                "the hosts of this Flux instance", "add flux to PATH, or give --hostfile");
  }
}

// "2 Nodes, 8 Cores, 4 GPUs": flux-resource(1).
void take_resources(Granted& granted, const Surroundings& s) {
  std::istringstream info(s.output_of({"flux", "resource", "info"}));
  const int nodes = static_cast<int>(granted.hosts.size());
  std::string unit;
  for (int count = 0; info >> count >> unit;) {
    if (count < 0 || count > kMostSlots) continue;
    if (unit.rfind("Core", 0) == 0) {
      for (GrantedHost& host : granted.hosts) {
        host.cpus = std::max(count / nodes, 1);
        host.limit = std::max((count + nodes - 1) / nodes, 1);  // hosts may differ
      }
    } else if (unit.rfind("GPU", 0) == 0) {
      granted.gpus = count / nodes;
    }
  }
}

// The count of the first of `resources` if it is of `type`; 0: it is of another type.
int count_of(const Json& resources, const char* type) {
  const Json& first = resources.at(0);
  if (first.at("type") != type || !first.at("count").is_number_integer()) return 0;
  const auto count = first.at("count").get<std::int64_t>();
  return count > 0 && count <= kMostSlots ? static_cast<int>(count) : 0;
}

// The total of slots that `flux batch -n` or `flux alloc -n` requested. With -N they are nested in
// the nodes: Flux RFC 25.
std::int64_t slots_of(const Json& jobspec) {
  const Json& resources = jobspec.at("resources");
  const int nodes = count_of(resources, "node");
  return nodes > 0 ? std::int64_t{nodes} * count_of(resources.at(0).at("with"), "slot")
                   : count_of(resources, "slot");
}

// Only the parent instance, whose job this instance is, knows what was requested.
void take_slots(Granted& granted, const Surroundings& s, const std::string& job) {
  const std::string text = s.output_of({"flux", "--parent", "job", "info", job, "jobspec"});
  const int nodes = static_cast<int>(granted.hosts.size());
  std::int64_t slots = 0;
  try {
    slots = slots_of(parse_json(text));
  } catch (const JsonError&) {
    return;  // as without a request
  } catch (const Json::exception&) {
    return;
  }
  // One slot per node is the default without -n.
  if (slots <= nodes || slots > kMostSlots) return;
  granted.has_asked_for_ranks = true;
  for (int i = 0; i < nodes; ++i) {
    GrantedHost& host = granted.hosts[static_cast<std::size_t>(i)];
    const auto share = static_cast<int>(slots / nodes + (i < slots % nodes ? 1 : 0));
    host.slots = std::min(share, host.limit);
  }
}

}  // namespace

void take_flux(Granted& granted, const Surroundings& s) {
  const auto job = s.env.text("FLUX_ENCLOSING_ID");
  if (!job) return;  // a task, not a script
  take_hosts(granted, s);
  take_resources(granted, s);
  take_slots(granted, s, std::string(*job));
}

}  // namespace hpcboot::run
