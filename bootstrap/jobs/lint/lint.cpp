#include "lint.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "rules.hpp"

namespace hpcboot::lint {
namespace {

constexpr Severity kError = Severity::error;
constexpr Severity kWarning = Severity::warning;

constexpr std::array<Rule, 34> kRules = {{
    {{"crlf", kError, "Windows line endings"}, check_line_ends},
    {{"byte-order-mark", kError, "a byte order mark before #!"}, check_byte_order_mark},
    {{"shebang", kError, "missing #!, or #! not at the very start of the file"}, check_shebang},
    {{"typography", kError, "typographic quotes and dashes, non-breaking spaces"},
     check_typography},
    {{"placeholder", kError, "<account>, {{key}}, CHANGE_ME: placeholders left unfilled"},
     check_placeholders},
    {{"directive-after-command", kError, "directives after the first command"},
     check_after_command},
    {{"directive-not-read", kWarning,
      "comments that look like a mistyped directive: # SBATCH, #SBACTH"},
     check_not_read},
    {{"directive-form", kError, "#SBATCH -nodes=2, #SBATCH nodes=2, -p=gpu, #PBS --nodes"},
     check_form},
    {{"directive-variable", kError, "$HOME and similar in a directive, where nothing is expanded"},
     check_variables},
    {{"unknown-option", kError, "misspelled sbatch options: --partiton, --tme, --gpu"},
     check_unknown_options},
    {{"directive-empty", kWarning, "directives without an option, options without a value"},
     check_empty},
    {{"mixed-schedulers", kWarning, "directives for two schedulers"}, check_mixed},
    {{"time-format", kError, "times that the scheduler does not accept"}, check_times},
    {{"directive-overridden", kWarning, "two directives that set one option to different values"},
     check_overridden},
    {{"select-mixed", kError, "PBS: -l ncpus, nodes, … together with -l select"}, check_select},
    {{"memory-twice", kError, "--mem together with --mem-per-cpu or --mem-per-gpu"}, check_memory},
    {{"gres-and-gpus", kWarning, "--gres=gpu and --gpus that disagree"}, check_gres_and_gpus},
    {{"array-output", kWarning, "a job array whose tasks all write to the same file"},
     check_array_output},
    {{"array-rerun", kError, "PBS: a job array (-J) with -r n"}, check_array_rerun},
    {{"tasks-nodes", kWarning, "--ntasks differs from --nodes times --ntasks-per-node"},
     check_tasks_and_nodes},
    {{"ranks-gpus", kWarning, "more or fewer ranks than GPUs on a node"}, check_ranks_and_gpus},
    {{"omp-threads", kWarning, "PBS: every rank would start one thread per core"}, check_threads},
    {{"more-ranks", kError, "more ranks started than requested"}, check_slots},
    {{"background-steps", kError, "job steps in the background without a wait"}, check_background},
    {{"srun-elsewhere", kError, "srun in a PBS, Grid Engine or LSF job"}, check_srun_elsewhere},
    {{"torchrun-alone", kWarning,
      "torchrun or accelerate launch only on the first node of a multi-node job"},
     check_torchrun_alone},
    {{"signal-and-trap", kWarning, "--signal without B: in a script that traps the signal"},
     check_signal},
    {{"early-rank", kError, "$SLURM_PROCID and similar expanded in the batch script"},
     check_early_rank},
    {{"env-before-srun", kWarning, "eval \"$(hpcboot env)\" in the batch script, before srun"},
     check_env_before_srun},
    {{"kill-on-bad-exit", kWarning, "srun that keeps running after a rank has died"},
     check_kill_on_bad_exit},
    {{"launcher-in-srun", kError, "mpirun or torchrun started once per task"},
     check_launcher_in_srun},
    {{"master-port", kWarning, "a fixed MASTER_PORT"}, check_master_port},
    {{"master-address", kError, "MASTER_ADDR=localhost in a multi-node job"}, check_master_address},
    {{"cd-unquoted", kWarning, "cd to an unquoted variable of the scheduler"}, check_cd},
}};

// The ids after "hpcboot-lint: disable=" in the script's comments.
std::set<std::string> disabled_by(const Script& script) {
  static constexpr std::string_view kMark = "hpcboot-lint: disable=";
  std::set<std::string> ids;
  for (std::size_t at = script.text.find(kMark); at != std::string_view::npos;
       at = script.text.find(kMark, at + 1)) {
    if (script.kind_at(at) != Kind::comment) continue;
    std::string_view list = script.text.substr(at + kMark.size());
    list = list.substr(0, list.find_first_of(" \t\r\n"));
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      ids.insert(std::string(list.substr(0, comma)));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  return ids;
}

Encoded number(int value) {
  return terminal_text(std::to_string(value));
}

}  // namespace

const char* name_of(Severity severity) noexcept {
  return severity == Severity::error ? "error" : "warning";
}

void Report::add(Severity severity, std::size_t at, std::string found, std::string why,
                 std::string remedy) {
  findings_.push_back({rule_.id, severity, script_.line_of(at), script_.column_of(at),
                       std::move(found), std::move(why), std::move(remedy)});
}

std::vector<RuleSummary> rules() {
  std::vector<RuleSummary> summaries;
  summaries.reserve(kRules.size());
  for (const Rule& rule : kRules) summaries.push_back(rule.summary);
  return summaries;
}

std::vector<Finding> check_script(std::string_view text, const std::set<std::string>& disabled) {
  const Script script = read_script(text);
  const Subject subject{script, job_request_of(script), launch_commands_of(script.shell)};
  const std::set<std::string> disabled_here = disabled_by(script);
  std::vector<Finding> findings;
  for (const Rule& rule : kRules) {
    if (disabled.count(rule.summary.id) != 0 || disabled_here.count(rule.summary.id) != 0) continue;
    Report report(script, rule.summary, findings);
    rule.check(subject, report);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return findings;
}

Encoded format_line(std::string_view file, const Finding& finding) {
  return terminal_text(file) + ":" + number(finding.line) + ":" + number(finding.column) + ": " +
         terminal_text(name_of(finding.severity)) + ": " + terminal_text(finding.found) + " [" +
         terminal_text(finding.rule) + "]";
}

Encoded format_text(std::string_view file, const Finding& finding) {
  return format_line(file, finding) + "\n    why: " + terminal_text(finding.why) +
         "\n    do:  " + terminal_text(finding.remedy) + "\n";
}

}  // namespace hpcboot::lint
