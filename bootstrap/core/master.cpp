#include "master.hpp"

#include <algorithm>
#include <cctype>

#include "address.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launch_source.hpp"
#include "sites.hpp"

namespace hpcboot {
namespace {

// "n1", "n1.cluster" and a site's names on other networks ("n1i", "n1-ib0") name n1; "n12" does
// not.
bool names_host(std::string_view address, std::string_view host) {
  if (same_host(address, host)) return true;
  if (is_numeric_address(address) || is_numeric_address(host)) return false;
  const std::string_view label = host.substr(0, host.find('.'));
  const std::string_view name = address.substr(0, address.find('.'));
  const auto is_in_a_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  };
  return name.size() > label.size() && same_host(name.substr(0, label.size()), label) &&
         std::isdigit(static_cast<unsigned char>(name[label.size()])) == 0 &&
         std::all_of(name.begin(), name.end(), is_in_a_name);
}

class Master {
 public:
  Master(Resolution& resolution, const Selection& selection,
         const std::optional<Allocation>& allocation, const Env& env, const Facts& facts)
      : r_(resolution), selection_(selection), allocation_(allocation), env_(env), facts_(facts) {}

  void choose() {
    if (allocation_) r_.job_instance = allocation_->identity;
    r_.launch_id = selection_.facts.identity;
    const bool address_is_explicit = take_explicit_address();
    if (!address_is_explicit) derive_address();
    const bool port_is_explicit = take_explicit_port();
    if (!port_is_explicit) choose_port();
    r_.endpoint_is_explicit = (address_is_explicit || is_named_for_others_) && port_is_explicit;
    r_.agent_store = traits_of(r_.launcher).serves_a_store &&
                     env_.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    r_.provenance.emplace("master_addr", Provenance{"exchange", ""});
    r_.provenance.emplace("master_port", Provenance{"exchange", ""});
  }

 private:
  void set_address(std::string address, std::string source, std::string variable) {
    r_.master_addr = std::move(address);
    r_.provenance["master_addr"] = {std::move(source), std::move(variable)};
  }

  void set_port(int port, std::string source, std::string variable) {
    r_.master_port = port;
    r_.provenance["master_port"] = {std::move(source), std::move(variable)};
  }

  std::optional<std::string> rank0_host() const {
    if (!selection_.facts.rank0_host.empty()) return selection_.facts.rank0_host;
    if (!r_.hosts.empty() && knows_rank0_host()) return r_.hosts.front();
    if (r_.placement.rank == 0 && facts_.hostname) return facts_.hostname;
    return std::nullopt;
  }

  bool knows_rank0_host() const { return !selection_.facts.any_order || r_.hosts.size() == 1; }

  bool take_explicit_address() {
    if (const auto text = env_.text("HPCBOOT_MASTER_ADDR")) {
      set_explicit("explicit", "HPCBOOT_MASTER_ADDR",
                   checked_address("HPCBOOT_MASTER_ADDR", *text, "HPCBOOT_MASTER_PORT"));
      return true;
    }
    const bool by_agent = traits_of(r_.launcher).serves_a_store;
    if (by_agent) env_.require_text("MASTER_ADDR", r_.launcher);
    const auto text = env_.text("MASTER_ADDR");
    if (!text || selection_.endpoint_is_foreign) return false;
    const std::string address = checked_address("MASTER_ADDR", *text, "MASTER_PORT");
    if (by_agent) {
      set_explicit(r_.launcher, "MASTER_ADDR", address);
      return true;
    }
    // Kubeflow sets a loopback address in the first pod, and that pod's name in the others.
    if (r_.launcher == "kubernetes" && r_.placement.rank == 0 && is_loopback(address) &&
        r_.placement.world_size > 1) {
      is_named_for_others_ = true;
      return false;
    }
    check_not_stale(address);
    set_explicit("environment", "MASTER_ADDR", address);
    return true;
  }

  void set_explicit(const std::string& source, const char* variable, const std::string& address) {
    set_address(address, source, variable);
    const auto host = rank0_host();
    const auto caller = host_that_called_srun();
    const auto launch_address = env_.text("SLURM_LAUNCH_NODE_IPADDR");
    if (!host || !caller || same_host(*caller, *host) || !launch_address ||
        !same_host(*launch_address, address))
      return;
    r_.hints.push_back(std::string(variable) + "=" + address + " is an address of " + *caller +
                       ", where srun was called, but rank 0 is on " + *host +
                       ": set it in the tasks, or unset it");
  }

  // The host that owns the address SLURM_LAUNCH_NODE_IPADDR, if the environment shows it.
  std::optional<std::string> host_that_called_srun() const {
    // In a shell of srun --pty, such as salloc starts, it may be any host of the job.
    if (env_.has("SLURM_PTY_PORT")) return std::nullopt;
    // Batch scripts run on the first host of the allocation.
    if (env_.text("ENVIRONMENT") == "BATCH") {
      if (!allocation_ || allocation_->hosts.empty()) return std::nullopt;
      return allocation_->hosts.front();
    }
    const auto submit_host = env_.text("SLURM_SUBMIT_HOST");
    return submit_host ? std::make_optional<std::string>(*submit_host) : std::nullopt;
  }

  // A MASTER_ADDR set in a shell or profile outlives its job. The next launch then hangs for half
  // an hour, the most common hang of all.
  void check_not_stale(std::string_view address) const {
    const auto host = rank0_host();
    const std::string shown_host = host.value_or("the host of rank 0");
    if (is_loopback(address)) {
      const Placement& p = r_.placement;
      const bool one_host =
          p.num_nodes ? *p.num_nodes == 1 : p.local_size.value_or(p.world_size) == p.world_size;
      if (!one_host)
        fail_stale(address, shown_host,
                   "a loopback address: on every node it means that node itself");
      return;
    }
    if (is_numeric_address(address)) {
      if (r_.placement.rank != 0 || r_.launcher == "single" || !facts_.interfaces) return;
      const auto& all = *facts_.interfaces;
      const bool own = std::any_of(all.begin(), all.end(), [&](const Interface& i) {
        return same_host(i.address, address);
      });
      if (!own) fail_stale(address, shown_host, "which is not an address of rank 0's host");
      return;
    }
    if (host && !names_host(address, *host))
      fail_stale(address, shown_host, "which is not the host of rank 0");
  }

  [[noreturn]] static void fail_stale(std::string_view address, const std::string& host,
                                      const char* why) {
    const std::string shown(address);
    // Loopback is never right for ranks on several hosts.
    const std::string keep =
        is_loopback(address) ? ", or set it to " + host
                             : ", or, if " + shown + " is right, set HPCBOOT_MASTER_ADDR=" + shown;
    throw Error(ErrorCode::stale_master_addr, "MASTER_ADDR=" + shown + ", " + why,
                "a name or an address of " + host, "unset MASTER_ADDR (and MASTER_PORT)" + keep);
  }

  // Schedulers may know a host by its name on the management network.
  void set_host(const std::string& host, const std::string& source, const std::string& variable) {
    const auto rule = host_suffix(env_);
    if (!rule) {
      set_address(host, source, variable);
      return;
    }
    const std::string with = "suffix " + rule->value + " (" + rule->origin + ")";
    set_address(with_suffix(host, rule->value), source, variable + " with " + with);
    r_.site_rules.push_back("host " + with);
  }

  void derive_address() {
    const auto found = r_.provenance.find("hosts");
    const Provenance hosts = found == r_.provenance.end() ? Provenance{} : found->second;
    if (!selection_.facts.rank0_host.empty()) {
      const std::string& variable = selection_.facts.variables.at("master_addr");
      set_host(checked_address(variable, selection_.facts.rank0_host), r_.launcher, variable);
    } else if (!r_.hosts.empty() && knows_rank0_host() && hosts.source != "hostname") {
      set_host(r_.hosts.front(), hosts.source, hosts.variable);
    } else if (r_.placement.num_nodes == 1) {
      // The name of a single host may not resolve, or resolve to 127.0.1.1; an address needs no
      // resolution.
      if (r_.interface_address && r_.launcher != "single") {
        set_address(*r_.interface_address, "interface", *r_.interface);
      } else {
        set_address("127.0.0.1", "rule", "num_nodes=1");
      }
    } else if (selection_.facts.rank0_knows_itself && r_.interface_address) {
      set_address(*r_.interface_address, "interface", *r_.interface);
    }
  }

  bool take_explicit_port() {
    for (const char* variable : {"HPCBOOT_MASTER_PORT", "MASTER_PORT"}) {
      if (variable[0] == 'M' && selection_.endpoint_is_foreign) continue;
      if (const auto port = env_.port(variable)) {
        set_port(*port, variable[0] == 'H' ? "explicit" : "environment", variable);
        return true;
      }
    }
    if (traits_of(r_.launcher).serves_a_store) env_.require_text("MASTER_PORT", r_.launcher);
    return false;
  }

  void choose_port() {
    if (const auto port = selection_.facts.master_port) {
      set_port(*port, r_.launcher, selection_.facts.variables.at("master_port"));
      return;
    }
    // Over ssh only the first host has the job's variables, but every rank has the launch id.
    const bool all_know_job = traits_of(r_.launcher).hands_on_job_variables || r_.launch_id.empty();
    std::string identity = all_know_job ? r_.job_instance : "";
    std::string variables = allocation_ && all_know_job ? allocation_->job_variable : "";
    if (!r_.launch_id.empty()) {
      identity += "/" + r_.launch_id;
      variables += std::string(variables.empty() ? "" : " and ") + "the launch id";
    }
    if (identity.empty() && r_.launcher == "single") {
      identity = facts_.hostname.value_or("") + "/" + std::to_string(facts_.user_id.value_or(0));
      variables = "host and user";
    }
    if (!identity.empty()) set_port(derive_port(identity), "rule", "derived from " + variables);
  }

  Resolution& r_;
  const Selection& selection_;
  const std::optional<Allocation>& allocation_;
  const Env& env_;
  const Facts& facts_;
  bool is_named_for_others_ = false;  // other ranks have this host in MASTER_ADDR
};

}  // namespace

void choose_master(Resolution& resolution, const Selection& selection,
                   const std::optional<Allocation>& allocation, const Env& env,
                   const Facts& facts) {
  Master(resolution, selection, allocation, env, facts).choose();
}

}  // namespace hpcboot
