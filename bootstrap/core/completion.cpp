#include "completion.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

// The launcher's facts, with all gaps filled that can be, and the source of each.
class Completion {
 public:
  Completion(Resolution& resolution, const Selection& selection,
             const std::optional<Allocation>& allocation, const Env& env, const Facts& facts)
      : resolution_(resolution),
        said_(selection.facts),
        allocation_(allocation),
        env_(env),
        facts_(facts) {
    for (const auto& [field, variable] : said_.variables) {
      resolution_.provenance[field] = {std::string(selection.source->name), variable};
    }
  }

  void run(std::string_view source) {
    apply_rules();
    if (!said_.num_nodes || !said_.node_rank) apply_allocation();
    require_identity(source);
    Placement& placement = resolution_.placement;
    placement.rank = *said_.rank;
    placement.world_size = *said_.world_size;
    placement.local_rank = *said_.local_rank;
    placement.local_size = said_.local_size;
    placement.node_rank = said_.node_rank;
    placement.num_nodes = said_.num_nodes;
    validate(placement, source, origins());
    fill_hosts();
    for (const char* field : {"local_size", "node_rank", "num_nodes", "hosts"}) {
      resolution_.provenance.emplace(field, Provenance{"exchange", ""});
    }
  }

 private:
  // The variables' values for errors; derived numbers are marked as such.
  std::map<std::string, std::string> origins() const {
    std::map<std::string, std::string> origins;
    for (const auto& [field, value] :
         {std::make_pair("rank", said_.rank), std::make_pair("world_size", said_.world_size),
          std::make_pair("local_rank", said_.local_rank),
          std::make_pair("local_size", said_.local_size),
          std::make_pair("node_rank", said_.node_rank),
          std::make_pair("num_nodes", said_.num_nodes)}) {
      const auto found = resolution_.provenance.find(field);
      if (!value || found == resolution_.provenance.end()) continue;
      const auto& [origin, variable] = found->second;
      if (variable.empty() || origin == "rule") continue;
      const std::string number = std::to_string(*value);
      origins[field] = env_.text(variable) == number
                           ? variable + "=" + number + " (" + field + ")"
                           : std::string(field) + "=" + number + " (from " + variable + ")";
    }
    return origins;
  }

  void set(const char* field, std::optional<int>& slot, int value, const std::string& rule) {
    if (slot) return;
    slot = value;
    resolution_.provenance[field] = {"rule", rule};
  }

  void apply_rules() {
    LaunchFacts& f = said_;
    if (f.world_size == 1) {
      set("local_rank", f.local_rank, 0, "world_size=1");
      set("local_size", f.local_size, 1, "world_size=1");
    }
    if (f.world_size && f.local_size == f.world_size) {
      set("num_nodes", f.num_nodes, 1, "local_size=world_size");
    }
    if (f.num_nodes && f.num_nodes == f.world_size) {
      // Every host of a launch has at least one process.
      set("local_rank", f.local_rank, 0, "num_nodes=world_size");
      set("local_size", f.local_size, 1, "num_nodes=world_size");
    }
    if (f.num_nodes == 1) {
      set("node_rank", f.node_rank, 0, "num_nodes=1");
      if (f.world_size) set("local_size", f.local_size, *f.world_size, "num_nodes=1");
      if (f.rank) set("local_rank", f.local_rank, *f.rank, "num_nodes=1");
    }
  }

  // This host's index in the allocation, whose host names may be short, long, or Slurm's own.
  std::optional<std::size_t> own_place() const {
    const auto& hosts = allocation_->hosts;
    for (const std::string& self :
         {facts_.hostname.value_or(""), std::string(env_.text("SLURMD_NODENAME").value_or(""))}) {
      if (self.empty()) continue;
      const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const std::string& host) {
        return same_host(host, self);
      });
      if (found != hosts.end()) return static_cast<std::size_t>(found - hosts.begin());
    }
    return std::nullopt;
  }

  // The hosts of the allocation belong to this launch only if the launch fills them: `mpirun -np 1`
  // in a job of two nodes does not. Sizes must match, and this rank must be where a block or cyclic
  // distribution would put it.
  void apply_allocation() {
    if (!allocation_ || allocation_->hosts.empty() || said_.any_order) return;
    if (!said_.rank || !said_.world_size || !said_.local_rank || !said_.local_size) return;
    const auto place = own_place();
    if (!place) return;
    const int hosts = static_cast<int>(allocation_->hosts.size());
    const int node = static_cast<int>(*place);
    // A launcher that numbers its hosts in a different order means different hosts.
    if (said_.node_rank && *said_.node_rank != node) return;
    const int rank = *said_.rank;
    const int local_rank = *said_.local_rank;
    const int local_size = *said_.local_size;
    const auto& slots = allocation_->slots;
    const bool knows_slots = slots.size() == allocation_->hosts.size();
    constexpr std::int64_t kNone = 0;
    const std::int64_t before =
        knows_slots ? std::accumulate(slots.begin(), slots.begin() + node, kNone) : 0;
    const bool fills_slots =
        knows_slots && std::accumulate(slots.begin(), slots.end(), kNone) == *said_.world_size;
    bool fits = false;
    if (static_cast<long>(local_size) * hosts == *said_.world_size) {
      const bool host_by_host = rank == node * local_size + local_rank;
      const bool in_turn = rank % hosts == node && rank / hosts == local_rank;
      // Of slots 2, 4, 2, six ranks fill the first two hosts, unless they are two on each.
      const bool may_fill_others =
          knows_slots && !fills_slots && rank == before + local_rank &&
          local_size == std::min<std::int64_t>(slots[*place], *said_.world_size - before) &&
          std::adjacent_find(slots.begin(), slots.end(), std::not_equal_to<>()) != slots.end();
      fits = (host_by_host || in_turn) && !may_fill_others;
    } else if (fills_slots && slots[*place] == local_size) {
      fits = rank == before + local_rank;
    }
    if (!fits) return;
    const Provenance provenance{"allocation", allocation_->hosts_variable};
    if (!said_.num_nodes) {
      said_.num_nodes = hosts;
      resolution_.provenance["num_nodes"] = provenance;
    }
    if (!said_.node_rank && *said_.num_nodes == hosts) {
      said_.node_rank = node;
      resolution_.provenance["node_rank"] = provenance;
    }
  }

  void require_identity(std::string_view source) const {
    for (const auto& [field, value] :
         {std::make_pair("rank", said_.rank), std::make_pair("world_size", said_.world_size),
          std::make_pair("local_rank", said_.local_rank)}) {
      if (value) continue;
      throw Error(ErrorCode::needs_exchange,
                  std::string(source) + " does not provide " + field + " in the environment",
                  "rank, world_size and local_rank in the environment",
                  "start the program with mpirun, srun or another launcher that sets them, or set "
                  "HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and HPCBOOT_LOCAL_RANK");
    }
  }

  void fill_hosts() {
    auto& hosts = resolution_.hosts;
    if (!said_.hosts.empty()) {
      hosts = said_.hosts;
      return;
    }
    if (allocation_ && !said_.any_order &&
        said_.num_nodes == static_cast<int>(allocation_->hosts.size())) {
      hosts = allocation_->hosts;
      resolution_.provenance["hosts"] = {"allocation", allocation_->hosts_variable};
    } else if (said_.num_nodes == 1) {
      const auto place = allocation_ ? own_place() : std::nullopt;
      if (place) {
        hosts = {allocation_->hosts[*place]};
        resolution_.provenance["hosts"] = {"allocation", allocation_->hosts_variable};
      } else if (facts_.hostname) {
        hosts = {*facts_.hostname};
        resolution_.provenance["hosts"] = {"hostname", ""};
      }
    }
  }

  Resolution& resolution_;
  LaunchFacts said_;
  const std::optional<Allocation>& allocation_;
  const Env& env_;
  const Facts& facts_;
};

}  // namespace

void complete_placement(Resolution& resolution, const Selection& selection,
                        const std::optional<Allocation>& allocation, const Env& env,
                        const Facts& facts) {
  Completion(resolution, selection, allocation, env, facts).run(selection.source->name);
}

}  // namespace hpcboot
