#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/launch_variable.hpp"

namespace hpcboot {

struct JobDescription;

/// One scheduler and everything known about it: a file in bootstrap/core/schedulers and an entry in
/// schedulers(), or the table [job] of a description (NAME.toml). It tells what was allocated,
/// never the rank of a process.
struct Scheduler {
  std::string_view name;           ///< as in Allocation::scheduler
  std::string_view start_command;  ///< starts a program on the whole allocation: "srun"
  std::string_view documented;     ///< where its variables are documented
  VariableList variables;          ///< all variables that it sets for a job or reads
  /// Implements read().
  std::optional<Allocation> (*read_from)(const Env&, const AllocationOptions&) = nullptr;
  /// For a scheduler described by a file, used instead of the function; null for those in C++.
  const JobDescription* description = nullptr;
  std::string_view file = {};          ///< as LaunchSource::file
  std::string_view job_variable = {};  ///< names the job, for those in C++; see job_variable_of()
  std::string_view title = {};         ///< in texts, if it differs from the name: "Grid Engine"

  /// The allocation in the environment; nullopt if there is none.
  /// @throws Error as read_allocation()
  std::optional<Allocation> read(const Env& env, const AllocationOptions& options) const;
};

/// The variable that holds the job id of this scheduler.
std::string_view job_variable_of(const Scheduler& scheduler) noexcept;

/// All schedulers, in order of precedence: if the variables of two are set, the first one gave the
/// allocation. Those described by files come last.
const std::vector<const Scheduler*>& schedulers();

/// The scheduler with this name; null if there is none, and for "".
const Scheduler* find_scheduler(std::string_view name) noexcept;

/// Indices and counts that look like a rank and a world size but are not: of job arrays, sweeps,
/// tests split across the workers of a CI system, workers of other frameworks. Comments in the
/// table name their origin.
VariableList variables_of_arrays_and_ci() noexcept;

}  // namespace hpcboot
