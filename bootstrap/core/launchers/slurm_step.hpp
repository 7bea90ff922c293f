#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot::sources {

// The Slurm step whose id the environment has. The batch script's SLURM_STEP_ID is absent (up to
// 25.x) or -5, an interactive step's 4294967290: ids from 0xfffffff0 up are not steps of tasks
// (slurm.h).
struct SlurmStep {
  std::string variable = "SLURM_STEP_ID";
  std::optional<std::string_view> text;
  std::optional<std::uint32_t> id;  // empty if the text is not a 32-bit number
  std::string contradiction;        // another variable that contradicts this id

  bool is_special() const { return id && *id >= 0xfffffff0U; }
};

SlurmStep slurm_step_of(const Env& env);

// Is there a step of tasks, as opposed to a batch, interactive or extern step or none?
bool in_slurm_step(const Env& env);

}  // namespace hpcboot::sources
