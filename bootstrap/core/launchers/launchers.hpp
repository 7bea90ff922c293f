#pragma once

#include <initializer_list>

#include "core/variable_kinds.hpp"
#include "hpcboot/launch_source.hpp"

// Every launcher that this library knows: one file each in this folder. Their order is a table in
// launch_source.cpp.
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

// Reads `field` from an integer variable and notes where it came from; false where it is not set.
bool take(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, int minimum = 0);

// As take(), but the variable must be set. `launcher` is the command that sets it.
void need(LaunchFacts& facts, const char* field, std::optional<int>& slot, const Env& env,
          const char* variable, const char* launcher, int minimum = 0);

// Does PMIX_NAMESPACE have the form of PRRTE's, Open MPI 5's run time: "prterun-host-pid@1"? srun's
// is "slurm.pmix.<job>.<step>", Open MPI 4's a number.
bool is_served_by_prrte(const Env& env);

// "present" with the first of these variables that is set, "absent" where none is.
Detection detect_any(const Env& env, std::initializer_list<const char*> variables);

// For an MPI launcher whose variables a step's own process has (Facts::is_slurm_task): a rank that
// mpirun or Hydra started called srun, and srun hands its environment on.
Detection inherited_by_srun();

}  // namespace hpcboot::sources
