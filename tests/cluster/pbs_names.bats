#!/usr/bin/env bats
# `hpcboot show --json` in a Slurm that also sets PBS_JOBID: the scheduler is still Slurm.

load helper

setup_file() {
  start_for_show --spank-pbs
}

teardown_file() {
  "$BATS_TEST_DIRNAME/cluster" down
}

setup() {
  enter_shared_folder
}

@test "Slurm sets PBS_JOBID here" {
  run -0 as_tester srun bash -c '[[ -n $PBS_JOBID && $PBS_JOBID == "$SLURM_JOB_ID" && -z $PBS_ENVIRONMENT ]] && echo yes'
  [[ $output == yes ]]
}

@test "show under sbatch_srun_pbs_names" { shows_the_truth sbatch_srun_pbs_names; }
@test "show under sbatch_batch_step_pbs_names" { shows_the_truth sbatch_batch_step_pbs_names; }
@test "show under qsub_srun" { [[ -x /usr/bin/qsub ]] || skip "slurm-wlm-torque is not installed"; shows_the_truth qsub_srun; }
