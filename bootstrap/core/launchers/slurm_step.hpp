#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot::sources {

// The Slurm step whose id stands in the environment. The batch script's SLURM_STEP_ID is absent (up
// to 25.x) or -5, an interactive step's 4294967290: ids from 0xfffffff0 on are no steps (slurm.h).
struct SlurmStep {
  std::string variable = "SLURM_STEP_ID";
  std::optional<std::string_view> text;
  std::optional<std::uint32_t> id;  // empty where the text is no 32-bit number
  std::string contradiction;        // another variable that cannot be true beside this id

  bool is_special() const { return id && *id >= 0xfffffff0U; }
};

SlurmStep slurm_step_of(const Env& env);

// Is there a step of tasks, as opposed to a batch, interactive or extern step or none?
bool in_slurm_step(const Env& env);

}  // namespace hpcboot::sources
