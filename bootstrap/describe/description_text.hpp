#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/launchers/description.hpp"

namespace hpcboot {

/// The validated content of one description file; owns its strings. The keys are documented in
/// bootstrap/README.md; members are named after them.
struct DescriptionText {
  using Names = std::vector<std::string>;
  using Values = std::vector<std::pair<std::string, std::string>>;
  struct Variable {
    std::string name;
    VariableKind kind;
    VariableUse use;
  };

  std::string name, why_here, set_by, documented, cannot_know;
  bool is_launcher = false;  ///< has a level
  Level level = Level::generic;
  LauncherTraits traits;
  Names all_of, any_of, none_of;
  Values equals, differs;
  std::map<std::string, Names> read;  ///< by field: "rank", "world_size", …
  std::string hosts;
  HostForm hosts_form = HostForm::commas;
  std::string master_address, master_port, master_endpoint;
  Values master_only_if;
  std::vector<Variable> variables;  ///< exceptions before their family

  bool is_job = false;  ///< has [job]
  std::string job_id, job_start_command, job_nodefile, job_num_tasks, job_hosts;
  HostForm job_hosts_form = HostForm::commas;
  Names job_distinct;
};

}  // namespace hpcboot
