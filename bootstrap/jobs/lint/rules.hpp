#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "job_request.hpp"
#include "launch_command.hpp"
#include "lint.hpp"
#include "script.hpp"

// The rules, one file per family. Doubtful cases are not reported: a false positive costs more
// trust than a false negative.
namespace hpcboot::lint {

// The input of every rule.
struct Subject {
  const Script& script;
  JobRequest job;
  std::vector<LaunchCommand> launches;
};

// Collects the findings of one rule.
class Report {
 public:
  Report(const Script& script, const RuleSummary& rule, std::vector<Finding>& findings)
      : script_(script), rule_(rule), findings_(findings) {}

  void add(std::size_t at, std::string found, std::string why, std::string remedy) {
    add(rule_.severity, at, std::move(found), std::move(why), std::move(remedy));
  }
  void add(Severity severity, std::size_t at, std::string found, std::string why,
           std::string remedy);

 private:
  const Script& script_;
  const RuleSummary& rule_;
  std::vector<Finding>& findings_;
};

struct Rule {
  RuleSummary summary;
  void (*check)(const Subject& subject, Report& report);
};

// rules_text.cpp
void check_line_ends(const Subject& subject, Report& report);
void check_byte_order_mark(const Subject& subject, Report& report);
void check_shebang(const Subject& subject, Report& report);
void check_typography(const Subject& subject, Report& report);
// rules_placeholders.cpp
void check_placeholders(const Subject& subject, Report& report);
// rules_directives.cpp
void check_after_command(const Subject& subject, Report& report);
void check_not_read(const Subject& subject, Report& report);
void check_form(const Subject& subject, Report& report);
void check_variables(const Subject& subject, Report& report);
void check_mixed(const Subject& subject, Report& report);
// rules_options.cpp
void check_unknown_options(const Subject& subject, Report& report);
void check_empty(const Subject& subject, Report& report);
void check_memory(const Subject& subject, Report& report);
void check_gres_and_gpus(const Subject& subject, Report& report);
void check_signal(const Subject& subject, Report& report);
void check_array_output(const Subject& subject, Report& report);
void check_array_rerun(const Subject& subject, Report& report);
// rules_values.cpp
void check_times(const Subject& subject, Report& report);
void check_overridden(const Subject& subject, Report& report);
void check_select(const Subject& subject, Report& report);
// rules_resources.cpp
void check_tasks_and_nodes(const Subject& subject, Report& report);
void check_ranks_and_gpus(const Subject& subject, Report& report);
void check_threads(const Subject& subject, Report& report);
// rules_steps.cpp
void check_slots(const Subject& subject, Report& report);
void check_background(const Subject& subject, Report& report);
void check_srun_elsewhere(const Subject& subject, Report& report);
void check_torchrun_alone(const Subject& subject, Report& report);
// rules_launch.cpp
void check_early_rank(const Subject& subject, Report& report);
void check_env_before_srun(const Subject& subject, Report& report);
void check_kill_on_bad_exit(const Subject& subject, Report& report);
void check_launcher_in_srun(const Subject& subject, Report& report);
// rules_commands.cpp
void check_master_port(const Subject& subject, Report& report);
void check_master_address(const Subject& subject, Report& report);
void check_cd(const Subject& subject, Report& report);

}  // namespace hpcboot::lint
