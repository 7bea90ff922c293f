#include "sites.hpp"

#include <algorithm>
#include <array>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

struct Machine {
  std::string_view name;
  std::string_view variable;  // set in every job there
  std::string_view value;     // the exact value; with a leading dot, its suffix
  std::string_view host_suffix;
  std::string_view device_order;
};

// ALCF: job ids end in the name of the PBS server. Compute nodes have separate names on Slingshot
// (user guides "Running jobs", "PyTorch on Aurora": MASTER_ADDR is the host name with
// .hsn.cm.aurora.alcf.anl.gov). On Polaris the last GPU is nearest to the first cores ("Using
// GPUs": set_affinity_gpu_polaris.sh counts down from 3).
// Jülich: the machines' profile sets SYSTEMNAME. Names without the suffix i use Ethernet, which
// does not connect all cells (JSC's PyTorch examples; pytorch/pytorch#73656).
constexpr std::array<Machine, 6> kMachines = {{
    {"polaris", "PBS_JOBID", ".polaris.alcf.anl.gov", ".hsn.cm.polaris.alcf.anl.gov", "reverse"},
    {"aurora", "PBS_JOBID", ".aurora.alcf.anl.gov", ".hsn.cm.aurora.alcf.anl.gov", ""},
    {"juwels", "SYSTEMNAME", "juwels", "i", ""},
    {"juwelsbooster", "SYSTEMNAME", "juwelsbooster", "i", ""},
    {"jurecadc", "SYSTEMNAME", "jurecadc", "i", ""},
    {"jusuf", "SYSTEMNAME", "jusuf", "i", ""},
}};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

const Machine* machine_of(const Env& env) {
  for (const Machine& machine : kMachines) {
    const auto value = env.text(machine.variable);
    if (!value) continue;
    if (machine.value.front() == '.' ? ends_with(*value, machine.value) : *value == machine.value)
      return &machine;
  }
  return nullptr;
}

std::optional<SiteRule> rule_of(const Env& env, const char* variable,
                                std::string_view Machine::*rule) {
  if (const auto value = env.text(variable)) return SiteRule{std::string(*value), variable};
  const Machine* machine = machine_of(env);
  if (machine == nullptr || (machine->*rule).empty()) return std::nullopt;
  return SiteRule{std::string(machine->*rule),
                  std::string(machine->name) + ", by " + std::string(machine->variable)};
}

}  // namespace

std::optional<SiteRule> host_suffix(const Env& env) {
  constexpr const char* kVariable = "HPCBOOT_HOST_SUFFIX";
  auto rule = rule_of(env, kVariable, &Machine::host_suffix);
  if (!rule || rule->value == "none") return std::nullopt;
  const bool fits = std::all_of(rule->value.begin(), rule->value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
  if (!fits) {
    throw Error(ErrorCode::malformed_value, std::string(kVariable) + "='" + rule->value + "'",
                "a host name suffix such as i, -ib0 or .hsn.cluster, or none",
                std::string("correct ") + kVariable + " or unset it");
  }
  return rule;
}

std::optional<SiteRule> device_order(const Env& env) {
  return rule_of(env, "HPCBOOT_DEVICE_ORDER", &Machine::device_order);
}

std::string with_suffix(std::string_view host, std::string_view suffix) {
  if (is_numeric_address(host) || is_loopback(host)) return std::string(host);
  const std::string_view label = host.substr(0, host.find('.'));
  const std::string_view domain = host.substr(label.size());
  if (suffix.front() == '.') return std::string(label).append(suffix);
  return std::string(label).append(suffix).append(domain);
}

}  // namespace hpcboot
