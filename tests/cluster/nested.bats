#!/usr/bin/env bats
# Where one launcher runs inside another the innermost is the one that counts.

load helper

setup_file() {
  start_for_show
}

teardown_file() {
  "$BATS_TEST_DIRNAME/cluster" down
}

setup() {
  enter_shared_folder
}

# Debian's python3-torch; without it torchrun's forms are skipped.
need_torchrun() {
  [[ -e /usr/lib/python3/dist-packages/torch/distributed/run.py ]] || skip "python3-torch is not installed"
}

@test "show under torchrun_alone" { need_torchrun; shows_the_truth torchrun_alone; }
@test "show under srun_torchrun" { need_torchrun; shows_the_truth srun_torchrun; }
@test "show under srun_in_mpirun" { shows_the_truth srun_in_mpirun; }
@test "show under srun_pmix_in_mpirun" { shows_the_truth srun_pmix_in_mpirun; }
@test "show under srun_in_hydra" { shows_the_truth srun_in_hydra; }
@test "show under srun_pmi2_in_hydra" { shows_the_truth srun_pmi2_in_hydra; }
@test "show under mpirun_in_srun_pty" { shows_the_truth mpirun_in_srun_pty; }
