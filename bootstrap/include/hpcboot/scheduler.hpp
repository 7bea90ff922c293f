#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hpcboot/allocation.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/launch_variable.hpp"

namespace hpcboot {

struct JobDescription;

/// One scheduler, and all that is known of it: a file in bootstrap/core/schedulers and a line in
/// schedulers(), or the table [job] of a description (NAME.toml). It says what was allocated, never
/// who a process is.
struct Scheduler {
  std::string_view name;           ///< as in Allocation::scheduler
  std::string_view start_command;  ///< starts a program on all of an allocation: "srun"
  std::string_view documented;     ///< where its variables are documented
  VariableList variables;          ///< every variable that it sets for a job or reads
  /// Behind read().
  std::optional<Allocation> (*read_from)(const Env&, const AllocationOptions&) = nullptr;
  /// What is read of a scheduler that a file describes, in place of the function; null for those in
  /// C++.
  const JobDescription* description = nullptr;
  std::string_view file = {};          ///< as LaunchSource::file
  std::string_view job_variable = {};  ///< names the job, of those in C++; behind job_variable_of()

  /// The allocation that it shows; nullopt if it shows none.
  /// @throws Error as read_allocation()
  std::optional<Allocation> read(const Env& env, const AllocationOptions& options) const;
};

/// The variable that names a job of this scheduler.
std::string_view job_variable_of(const Scheduler& scheduler) noexcept;

/// All schedulers in the order in which they are asked: of two whose variables are set the first
/// gave the allocation. Those that files describe come last.
const std::vector<const Scheduler*>& schedulers();

/// The one of that name; null for none, and for "".
const Scheduler* find_scheduler(std::string_view name) noexcept;

/// Indices and counts that look like a rank and a world size and are none: job arrays, sweeps,
/// tests split over the workers of a CI system, workers of other frameworks. Each entry says whose.
VariableList variables_of_arrays_and_ci() noexcept;

}  // namespace hpcboot
