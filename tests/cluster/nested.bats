#!/usr/bin/env bats
# If one launcher runs inside another, the innermost counts: `hpcboot show --json`, and `check` and `exec`, which report
# the other one.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, status and stderr in the test's own shell

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

allocation=(salloc --quiet -N2 --ntasks-per-node=2)
# The variables of the only worker of a torchrun.
worker=(env TORCHELASTIC_RUN_ID=none TORCHELASTIC_USE_AGENT_STORE=True RANK=0 WORLD_SIZE=1 LOCAL_RANK=0
  LOCAL_WORLD_SIZE=1 GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29400)
# hpcboot as a child of the process that the launcher started.
# shellcheck disable=SC2016 # for the shell inside
child=(sh -c '"$@"; exit $?' sh)

# four_ranks_by LAUNCHER OUTER COMMAND…: `check` finds four, and reports that OUTER's variables come from an outer launch.
four_ranks_by() {
  run -0 as_tester "${allocation[@]}" "${@:3}" "$HPCBOOT_BIN" check
  [[ $output == *"ok: 4 ranks, launcher $1, "* ]]
  [[ $output == *"note: rank0: $2 disagrees: "*"ignored: $1 is the inner launcher: "* ]]
}

@test "srun from a worker of torchrun: four ranks" {
  four_ranks_by slurm torchrun "${worker[@]}" srun --overlap
  [[ $output == *"SLURM_TASK_PID is this process"* ]]
  four_ranks_by slurm torchrun "${worker[@]}" srun --overlap --mpi=pmix "${child[@]}"
  [[ $output == *"SLURM_TASK_PID is the parent process "*" (sh), which started with the variables of torchrun"* ]]
}

@test "srun from the only rank of mpirun and Hydra: four ranks, also in a child of the task" {
  for outer in mpirun.openmpi:openmpi mpiexec.hydra:hydra; do
    run -0 as_tester "${allocation[@]}" "${outer%:*}" -n 1 srun --overlap -N2 -n4 "$HPCBOOT_BIN" check
    [[ $output == *"ok: 4 ranks, launcher slurm, "* ]]
    four_ranks_by slurm "${outer#*:}" "${outer%:*}" -n 1 srun --overlap -N2 -n4 "${child[@]}"
  done
}

@test "mpirun and Hydra from a worker of torchrun: four ranks on two hosts" {
  four_ranks_by openmpi torchrun "${worker[@]}" mpirun.openmpi
  four_ranks_by hydra torchrun "${worker[@]}" mpiexec.hydra
}

@test "mpirun's daemons are a step of their own, which is known to be the outer launch" {
  run -0 as_tester "${allocation[@]}" mpirun.openmpi "$HPCBOOT_BIN" check
  [[ $output == *"ok: 4 ranks, launcher openmpi, "* ]]
  [[ $output == *": slurm disagrees: reports rank="*"openmpi is the inner launcher: its variables are absent from"* ]]
}

@test "exec from a worker of torchrun: the program has the ranks of the step" {
  # shellcheck disable=SC2016 # for the shell inside
  run -0 --separate-stderr as_tester "${allocation[@]}" "${worker[@]}" srun --overlap "$HPCBOOT_BIN" exec -- \
    sh -c 'echo $RANK $WORLD_SIZE $MASTER_ADDR ${TORCHELASTIC_RUN_ID-unset}'
  [ "$(sort <<<"$output")" = $'0 4 n1 unset\n1 4 n1 unset\n2 4 n1 unset\n3 4 n1 unset' ]
}

@test "what env exported on the login node is nothing to a step" {
  # shellcheck disable=SC2016 # for the shell inside
  run -0 --separate-stderr as_tester sh -c 'eval "$(HPCBOOT_MASTER_ADDR=n0 "$0" env)" && echo "at $MASTER_ADDR" &&
    srun -N2 --ntasks-per-node=2 "$0" exec -- sh -c "echo \$RANK \$MASTER_ADDR"' "$HPCBOOT_BIN"
  [ "$(sort <<<"$output")" = $'0 n1\n1 n1\n2 n1\n3 n1\nat n0' ]
}
