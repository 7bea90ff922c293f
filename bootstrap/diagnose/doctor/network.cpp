#include <algorithm>

#include "checks.hpp"
#include "core/contains.hpp"
#include "core/interface.hpp"
#include "core/socket_ifname.hpp"
#include "hpcboot/endpoint.hpp"

namespace hpcboot::doctor {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool is_unanswered(const Situation& s, const std::string& name) {
  const auto& names = s.system.unanswered_names;
  return contains(names, name);
}

// Virtual links within this host that libraries may pick by mistake, each with its kind if the
// kernel reports one: "docker0 (bridge)".
std::vector<std::string> decoys_of(const Situation& s) {
  std::vector<std::string> decoys;
  for (const Interface& interface : *s.facts.interfaces) {
    if (!interface.up || interface.name == s.resolution->interface ||
        !is_local_link(interface, s.facts))
      continue;
    std::string decoy = interface.name;
    if (interface.kind && !interface.kind->empty()) decoy += " (" + *interface.kind + ")";
    if (std::find(decoys.begin(), decoys.end(), decoy) == decoys.end()) decoys.push_back(decoy);
  }
  return decoys;
}

}  // namespace

void check_interface(const Situation& s, Findings& findings) {
  // An HPCBOOT_INTERFACE that does not exist is an error of the launcher check.
  if (!s.facts.interfaces || !s.resolution) return;
  if (!s.resolution->interface) {
    const std::string message = "only loopback, link-local and container interfaces are up";
    if (spans_hosts(s)) {
      findings.problem("interface", message + ": other hosts cannot be reached",
                       "ask your administrator about the network of this host; in a container, "
                       "share the host's network");
    } else {
      findings.note("interface", message + ", which is enough on one host");
    }
    return;
  }
  std::string message =
      *s.resolution->interface + ", " + s.resolution->interface_address.value_or("no address");
  const std::vector<std::string> decoys = decoys_of(s);
  if (decoys.empty() || s.env.has("NCCL_SOCKET_IFNAME")) {
    findings.ok("interface", message);
  } else {
    findings.note(
        "interface",
        message + "; not routable to other hosts, but libraries may pick one by mistake: " +
            joined(decoys),
        "run eval \"$(hpcboot env)\", which sets NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME");
  }
}

void check_interface_variables(const Situation& s, Findings& findings) {
  if (!s.facts.interfaces) return;
  for (const char* variable : kInterfaceVariables) {
    const auto value = s.env.text(variable);
    if (!value) continue;
    const auto& all = *s.facts.interfaces;
    if (std::any_of(all.begin(), all.end(), [&](const Interface& interface) {
          return names_interface(variable, *value, interface.name);
        }))
      continue;
    std::vector<std::string> names;
    for (const Interface& interface : *s.facts.interfaces) {
      if (std::find(names.begin(), names.end(), interface.name) == names.end())
        names.push_back(interface.name);
    }
    findings.problem(variable,
                     std::string(variable) + "=" + std::string(*value) +
                         " matches no interface of this host; it has " + joined(names),
                     "correct it, or unset it and run eval \"$(hpcboot env)\", which sets it");
  }
}

void check_own_name(const Situation& s, Findings& findings) {
  if (!s.facts.hostname) return;
  const std::string& name = *s.facts.hostname;
  const bool told = s.env.has("GLOO_SOCKET_IFNAME") || !spans_hosts(s);
  const std::string remedy =
      "run eval \"$(hpcboot env)\", which sets GLOO_SOCKET_IFNAME: it takes precedence over the "
      "host name";
  if (is_unanswered(s, name)) {
    const std::string message = "the name server does not answer for this host's name " + name;
    if (told) {
      findings.note("own name", message,
                    "add it to /etc/hosts, or correct the servers in /etc/resolv.conf");
    } else {
      findings.warning("own name", message + ": Gloo waits for it, then fails to bind", remedy);
    }
    return;
  }
  if (!s.system.own_addresses) return;
  const std::vector<std::string>& addresses = *s.system.own_addresses;
  if (addresses.empty()) {
    const std::string message = "this host's name " + name + " does not resolve";
    if (told) {
      findings.note("own name", message, "add it to /etc/hosts or DNS");
    } else {
      findings.warning("own name", message + ": Gloo fails to bind", remedy);
    }
    return;
  }
  const auto loopback = std::find_if(addresses.begin(), addresses.end(), is_loopback);
  if (loopback == addresses.end()) {
    findings.ok("own name", name + " resolves to " + joined(addresses));
    return;
  }
  const std::string message =
      name + " resolves to " + *loopback + " (see /etc/hosts), which other hosts cannot reach";
  if (told) {
    findings.note("own name", message,
                  "no action needed while all ranks are on one host or GLOO_SOCKET_IFNAME is set");
  } else {
    findings.warning("own name", message + ": Gloo would publish it to the other ranks", remedy);
  }
}

void check_master(const Situation& s, Findings& findings) {
  if (!s.resolution) return;
  const auto& address = s.resolution->master_addr;
  if (!address) {
    findings.note(
        "master", "the environment does not say where rank 0 is: the ranks must exchange it",
        "no action needed under hpcboot exec or the library; otherwise set HPCBOOT_MASTER_ADDR");
    return;
  }
  const auto from = s.resolution->provenance.find("master_addr");
  const std::string source =
      from == s.resolution->provenance.end() ? "" : " (" + from->second.source + ")";
  if (is_unanswered(s, *address)) {
    findings.problem("master", "the name server does not answer for " + *address + source,
                     "set HPCBOOT_MASTER_ADDR to an address of rank 0's host, add the name to "
                     "/etc/hosts, or correct the servers in /etc/resolv.conf");
  } else if (s.system.master_resolves == false) {
    findings.problem("master", *address + source + " does not resolve on this host",
                     "set HPCBOOT_MASTER_ADDR to a name or an address of rank 0's host that every "
                     "rank can resolve");
  } else if (is_loopback(*address) && spans_hosts(s) && s.resolution->launcher != "single") {
    findings.problem(
        "master",
        *address + source + " is a loopback address: on every node it means that node itself",
        "set HPCBOOT_MASTER_ADDR to the name of rank 0's host, or unset it");
  } else {
    findings.ok("master", *address + source);
  }
}

void check_master_port(const Situation& s, Findings& findings) {
  if (!s.resolution || !s.resolution->master_port) return;
  const int port = *s.resolution->master_port;
  const std::string number = std::to_string(port);
  const std::string remedy =
      "set HPCBOOT_MASTER_PORT to another port, or unset MASTER_PORT if it is set";
  if (s.system.master_port_taken == true) {
    findings.problem("master port",
                     number + " is already taken on this host, where rank 0 would listen", remedy);
  } else if (s.system.first_ephemeral_port && port >= *s.system.first_ephemeral_port &&
             port <= s.system.last_ephemeral_port.value_or(65535)) {
    findings.warning("master port",
                     number + " is an ephemeral port (" +
                         std::to_string(*s.system.first_ephemeral_port) + " to " +
                         std::to_string(s.system.last_ephemeral_port.value_or(65535)) +
                         "): any client socket may be given it",
                     remedy);
  } else if (port < 1024 && s.facts.user_id.value_or(0) != 0) {
    findings.problem("master port", number + " is reserved for root", remedy);
  } else {
    findings.ok("master port", number);
  }
}

}  // namespace hpcboot::doctor
