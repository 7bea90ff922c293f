#include <algorithm>

#include "core/address.hpp"
#include "description.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"

// LaunchSource::detect() and read() for a launcher described by data.
namespace hpcboot {
namespace {

constexpr const char* kSetByHand =
    "start the program with mpirun, srun or another launcher that sets the number of processes, or "
    "set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and HPCBOOT_LOCAL_RANK";

std::string_view first_set(const NameView& names, const Env& env) {
  const auto* found =
      std::find_if(names.begin(), names.end(), [&](auto name) { return env.has(name); });
  return found == names.end() ? std::string_view() : *found;
}

bool has_value(const Env& env, const VariableValue& entry) {
  return env.text(entry.variable) == entry.value;
}

bool all_hold(const ValueView& values, const Env& env) {
  return std::all_of(values.begin(), values.end(),
                     [&](const VariableValue& entry) { return has_value(env, entry); });
}

class Reader {
 public:
  Reader(const LaunchSource& launcher, const Env& env)
      : launcher_(launcher), description_(*launcher.description), env_(env) {}

  LaunchFacts read() {
    if (description_.world_size.empty()) fail_without_size();
    take("rank", facts_.rank, description_.rank, 0, true);
    take("world_size", facts_.world_size, description_.world_size, 1, true);
    take("local_rank", facts_.local_rank, description_.local_rank, 0, true);
    take("local_size", facts_.local_size, description_.local_size, 1, false);
    take("node_rank", facts_.node_rank, description_.node_rank, 0, false);
    take("num_nodes", facts_.num_nodes, description_.num_nodes, 1, false);
    if (launcher_.traits.one_process_a_host) sources::spread_over_hosts(facts_);
    facts_.any_order = !launcher_.traits.orders_ranks_by_host;
    if (const std::string_view name = first_set(description_.launch_id, env_); !name.empty())
      facts_.identity = env_.text(name).value_or("");
    read_hosts();
    read_master();
    return std::move(facts_);
  }

 private:
  [[noreturn]] void fail_without_size() const {
    std::string_view mark = first_set(description_.rank, env_);
    if (mark.empty()) mark = first_set(description_.all_of, env_);
    if (mark.empty()) mark = first_set(description_.any_of, env_);
    std::string found = std::string(launcher_.set_by) + " started this process";
    if (!mark.empty()) {
      found += " (" + std::string(mark) + "=" + std::string(env_.text(mark)->substr(0, 80)) + ")";
    }
    throw Error(ErrorCode::missing_variable, found + " but does not set the number of processes",
                "the number of processes in the environment", kSetByHand);
  }

  void note(const char* field, std::string_view variable) {
    facts_.variables.emplace(field, variable);
  }

  void take(const char* field, std::optional<int>& slot, const NameView& names, int minimum,
            bool required) {
    if (names.empty()) return;
    const std::string_view name = first_set(names, env_);
    if (!name.empty()) {
      slot = env_.integer(name, minimum);
      note(field, name);
    } else if (required) {
      env_.require_integer(*names.begin(), launcher_.set_by, minimum);
    }
  }

  [[noreturn]] void fail_hosts(std::size_t found, std::string_view what, std::string_view field,
                               int expected) const {
    throw Error(
        ErrorCode::inconsistent_placement,
        std::string(launcher_.name) + ": " + std::string(description_.hosts.variable) + " has " +
            std::to_string(found) + " " + std::string(what),
        std::to_string(expected) + ", according to " + facts_.variables.at(std::string(field)),
        "unset variables that were set by hand, or set HPCBOOT_RANK, HPCBOOT_WORLD_SIZE and "
        "HPCBOOT_LOCAL_RANK");
  }

  void read_hosts() {
    const HostsDescription& hosts = description_.hosts;
    const auto text = hosts.variable.empty() ? std::nullopt : env_.text(hosts.variable);
    if (!text) return;
    const std::vector<std::string> list = parse_hosts(*text, hosts);
    facts_.hosts = unique_hosts(list);
    note("hosts", hosts.variable);
    if (hosts.form == HostForm::endpoints) place_by_endpoints(list);
    if (facts_.num_nodes && static_cast<int>(facts_.hosts.size()) != *facts_.num_nodes)
      fail_hosts(facts_.hosts.size(), "hosts", "num_nodes", *facts_.num_nodes);
  }

  // The endpoints are those of the ranks, in rank order.
  void place_by_endpoints(const std::vector<std::string>& list) {
    if (static_cast<int>(list.size()) != *facts_.world_size)
      fail_hosts(list.size(), "endpoints", "world_size", *facts_.world_size);
    facts_.rank0_host = list.front();
    note("master_addr", description_.hosts.variable);
    if (*facts_.rank >= *facts_.world_size) return;  // validate() reports it
    const auto own = list.begin() + *facts_.rank;
    const auto on_host = [&](auto begin, auto end) {
      return static_cast<int>(std::count(begin, end, *own));
    };
    const auto node = std::find(facts_.hosts.begin(), facts_.hosts.end(), *own);
    sources::derive(facts_, "local_rank", facts_.local_rank, on_host(list.begin(), own), "hosts");
    sources::derive(facts_, "local_size", facts_.local_size, on_host(list.begin(), list.end()),
                    "hosts");
    sources::derive(facts_, "node_rank", facts_.node_rank,
                    static_cast<int>(node - facts_.hosts.begin()), "hosts");
    sources::derive(facts_, "num_nodes", facts_.num_nodes, static_cast<int>(facts_.hosts.size()),
                    "hosts");
  }

  void set_master(std::string_view address, std::string_view variable) {
    // Some launchers set a loopback address on rank 0; only the other ranks must find its host.
    if (is_loopback(address) && *facts_.world_size > 1) {
      facts_.rank0_knows_itself = facts_.rank == 0;
      return;
    }
    facts_.rank0_host = address;
    facts_.variables["master_addr"] = variable;
  }

  void read_master() {
    if (!all_hold(description_.master_only_if, env_)) return;
    const std::string_view endpoint = description_.master_endpoint;
    if (const auto text = endpoint.empty() ? std::nullopt : env_.text(endpoint)) {
      const NamedEndpoint named = checked_endpoint(endpoint, *text);
      set_master(named.host, endpoint);
      if (!named.port) return;
      facts_.master_port = named.port;
      note("master_port", endpoint);
    }
    const std::string_view address = description_.master_address;
    if (const auto text = address.empty() ? std::nullopt : env_.text(address)) {
      set_master(checked_address(address, *text), address);
    } else if (!address.empty()) {
      facts_.rank0_knows_itself = facts_.rank == 0;
    }
    const std::string_view port = description_.master_port;
    if (!port.empty() && (facts_.master_port = env_.port(port))) note("master_port", port);
  }

  const LaunchSource& launcher_;
  const LauncherDescription& description_;
  const Env& env_;
  LaunchFacts facts_;
};

}  // namespace

Detection detect_described(const LauncherDescription& launcher, const Env& env) {
  const auto is_set = [&](std::string_view name) { return env.has(name); };
  if (!std::all_of(launcher.all_of.begin(), launcher.all_of.end(), is_set)) return {};
  std::string_view mark = first_set(launcher.any_of, env);
  if (mark.empty() && !launcher.any_of.empty()) return {};
  if (!all_hold(launcher.equals, env)) return {};
  for (const VariableValue& entry : launcher.differs) {
    if (has_value(env, entry)) {
      return {Match::refused, std::string(entry.variable) + " is " + std::string(entry.value) +
                                  ": not a process of this launcher"};
    }
  }
  if (const std::string_view other = first_set(launcher.none_of, env); !other.empty())
    return {Match::refused,
            std::string(other) + " is set: another launcher or script numbered this process"};
  if (mark.empty()) mark = first_set(launcher.all_of, env);
  if (mark.empty()) mark = launcher.equals.begin()->variable;
  return {Match::present, std::string(mark) + " is set"};
}

LaunchFacts read_described(const LaunchSource& launcher, const Env& env) {
  return Reader(launcher, env).read();
}

}  // namespace hpcboot
