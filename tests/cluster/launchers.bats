#!/usr/bin/env bats
# The launchers themselves: before hpcboot is tested under them, they must behave as documented.

load helper

setup_file() {
  "$BATS_TEST_DIRNAME/cluster" down
  "$BATS_TEST_DIRNAME/cluster" up -n 2
}

teardown_file() {
  "$BATS_TEST_DIRNAME/cluster" down
}

setup() {
  enter_shared_folder
}

# started VARIABLES FORM: prints "VARIABLES… host" of every process that FORM starts, sorted.
started() {
  as_tester "$BATS_TEST_DIRNAME/lib/launch.sh" "$2" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
    bash -c "echo $1 \$(hostname)"
  sort n*.*
}

@test "srun --mpi=none, pmi2, pmix: SLURM_PROCID and SLURM_LOCALID" {
  for mpi in none pmi2 pmix; do
    rm -f n*.*
    run -0 --separate-stderr started '$SLURM_PROCID $SLURM_LOCALID' "srun_${mpi}_2x2"
    [[ $output == $'0 0 n1\n1 1 n1\n2 0 n2\n3 1 n2' ]]
  done
}

@test "srun gives each task a GPU of its own" {
  run -0 --separate-stderr started '$SLURM_PROCID $CUDA_VISIBLE_DEVICES' srun_gpus_per_task
  [[ $output == $'0 0 n1\n1 1 n1\n2 0 n2\n3 1 n2' ]]
}

@test "mpirun over ssh by hostfile" {
  run -0 --separate-stderr started '$OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK slurm=$SLURM_JOB_ID' ssh_mpirun_2x2
  [[ $output == $'0 0 slurm= n1\n1 1 slurm= n1\n2 0 slurm= n2\n3 1 slurm= n2' ]]
}

@test "Hydra over ssh by hostfile" {
  run -0 --separate-stderr started '$PMI_RANK $MPI_LOCALRANKID slurm=$SLURM_JOB_ID' ssh_hydra_2x2
  [[ $output == $'0 0 slurm= n1\n1 1 slurm= n1\n2 0 slurm= n2\n3 1 slurm= n2' ]]
}

# Then MPI_LOCALRANKID does not distinguish a rank from its neighbours, and no other variable does.
@test "Hydra counts local ranks anew for every entry of the hostfile, also of the same host" {
  run -0 "$CLUSTER" as tester n0 mpiexec.hydra -hosts n1,n2,n1 -ppn 1 -n 3 \
    bash -c 'echo $PMI_RANK $MPI_LOCALRANKID $MPI_LOCALNRANKS $(hostname)'
  [[ $(sort <<< "$output") == $'0 0 1 n1\n1 0 1 n2\n2 0 1 n1' ]]
}

@test "sbatch and mpirun" {
  run -0 --separate-stderr started '$OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK' sbatch_mpirun_2x2
  [[ $output == $'0 0 n1\n1 1 n1\n2 0 n2\n3 1 n2' ]]
}

@test "sbatch and Hydra" {
  run -0 --separate-stderr started '$PMI_RANK $MPI_LOCALRANKID' sbatch_hydra_2x2
  [[ $output == $'0 0 n1\n1 1 n1\n2 0 n2\n3 1 n2' ]]
}

@test "ssh without a password from every host to every host, as root and as tester" {
  for user in root tester; do
    run -0 "$CLUSTER" as $user n0 ssh n1 ssh n2 ssh n0 ssh n0 id -un
    [[ $output == "$user" ]]
  done
}

@test "hosts see the checkout, the shared folder and /tmp of their own" {
  "$CLUSTER" as tester n1 test -x "$BATS_TEST_DIRNAME/cluster"
  "$CLUSTER" as tester n1 touch "$PWD/from_n1" /tmp/from_n1
  "$CLUSTER" as tester n2 bash -c "test -e '$PWD/from_n1' && ! test -e /tmp/from_n1"
  [[ -e from_n1 && ! -e /tmp/from_n1 ]]
}
