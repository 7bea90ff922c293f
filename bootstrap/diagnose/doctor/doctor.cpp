#include "hpcboot/doctor.hpp"

#include "checks.hpp"
#include "hpcboot/redact.hpp"

namespace hpcboot {

std::string_view name_of(FindingStatus status) noexcept {
  switch (status) {
    case FindingStatus::ok:
      return "ok";
    case FindingStatus::note:
      return "note";
    case FindingStatus::warning:
      return "warning";
    case FindingStatus::problem:
      return "problem";
  }
  return "unknown";
}

Situation situation_of(const Env& env, const Facts& facts, const ResolveOptions& options) {
  Situation s;
  s.env = env;
  s.facts = facts;
  try {
    s.resolution = resolve(env, facts, options);
  } catch (const Error& error) {
    s.error = error;
  }
  return s;
}

bool doctor::spans_hosts(const Situation& s) {
  if (!s.resolution) return false;
  return s.resolution->placement.num_nodes.value_or(1) > 1 || s.resolution->hosts.size() > 1;
}

std::vector<Finding> diagnose(const Situation& situation) {
  using namespace doctor;
  constexpr void (*kChecks[])(const Situation&, Findings&) = {
      check_launcher,    check_other_sources,
      check_tasks,       check_mpi,
      check_root,        check_torchrun,
      check_pmix,        check_kvs,
      check_interface,   check_interface_variables,
      check_own_name,    check_master,
      check_master_port, check_threads,
      check_devices,     check_limits,
      check_libtorch,    check_work_folder,
      check_runs_folder, check_clock};
  Findings findings;
  for (const auto check : kChecks) check(situation, findings);
  std::vector<Finding> all = findings.take();
  for (Finding& finding : all) {
    finding.message = redact_value(finding.message);
    finding.remedy = redact_value(finding.remedy);
  }
  return all;
}

}  // namespace hpcboot
