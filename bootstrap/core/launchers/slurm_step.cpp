#include "slurm_step.hpp"

namespace hpcboot::sources {
namespace {

// 32 bits, which some versions print as signed: -5 is 4294967291.
std::optional<std::uint32_t> step_id_of(std::string_view text) {
  const auto number = parse_whole_number(text);
  if (!number || *number < INT32_MIN || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

SlurmStep slurm_step_of(const Env& env) {
  SlurmStep step;
  step.text = env.text("SLURM_STEP_ID");
  const auto alias = env.text("SLURM_STEPID");
  if (!step.text && alias) {
    step.variable = "SLURM_STEPID";
    step.text = alias;
  }
  if (!step.text) return step;
  step.id = step_id_of(*step.text);
  // Slurm sets both names to one value; a batch or interactive step has one task, of rank 0.
  const auto contradicts = [&](const char* variable, std::string_view only) {
    const auto value = env.text(variable);
    if (step.contradiction.empty() && value && *value != only) {
      step.contradiction = std::string(variable) + "=" + std::string(*value);
    }
  };
  if (!alias || step_id_of(*alias) != step.id) contradicts("SLURM_STEPID", *step.text);
  if (step.is_special()) {
    contradicts("SLURM_PROCID", "0");
    contradicts("SLURM_STEP_NUM_TASKS", "1");
  }
  return step;
}

bool in_slurm_step(const Env& env) {
  const SlurmStep step = slurm_step_of(env);
  return step.text && !step.is_special();
}

}  // namespace hpcboot::sources
