#pragma once

#include <initializer_list>

#include "core/variable_kinds.hpp"
#include "hpcboot/launch_source.hpp"

// Every launcher that this library knows, one file each in this folder. A table in
// launch_source.cpp sets their order.
namespace hpcboot::sources {

extern const LaunchSource kExplicit;
extern const LaunchSource kTorchrun;
extern const LaunchSource kOpenmpi;
extern const LaunchSource kMvapich;
extern const LaunchSource kHydra;
extern const LaunchSource kPals;
extern const LaunchSource kFlux;
extern const LaunchSource kSlurm;
extern const LaunchSource kLsf;
extern const LaunchSource kKubernetes;
extern const LaunchSource kSagemaker;
extern const LaunchSource kTfConfig;
extern const LaunchSource kVolcano;
extern const LaunchSource kGeneric;
extern const LaunchSource kPmix;
extern const LaunchSource kPmi2;
extern const LaunchSource kPbsdsh;

// Reads `field` from an integer variable and records its origin; false if it is not set.
bool take(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, int minimum = 0);

// As take(), but the variable must be set. `launcher` is the command that sets it.
void need(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, const char* launcher, int minimum = 0);

// Sets a field that is still empty, with the variable of the field that it follows from.
void derive(LaunchFacts& facts, const char* field, std::optional<int>& slot,
            std::optional<int> value, const char* said_by);

// For a launcher that starts one process per host (LauncherTraits::one_process_a_host): fills the
// fields that follow from rank and world_size and are not set, each with the same variable.
void spread_over_hosts(LaunchFacts& facts);

// Does PMIX_NAMESPACE have the form of PRRTE, Open MPI 5's runtime: "prterun-host-pid@1"? srun's is
// "slurm.pmix.<job>.<step>", Open MPI 4's a number.
bool is_served_by_prrte(const Env& env);

// "present" with the first of these variables that is set, else "absent".
Detection detect_any(const Env& env, std::initializer_list<const char*> variables);

// For a process of a step (Facts::is_slurm_task) that has an MPI launcher's variables: a rank of
// mpirun or Hydra called srun, which passes its environment on.
Detection inherited_by_srun();

}  // namespace hpcboot::sources
