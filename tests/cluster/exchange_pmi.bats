#!/usr/bin/env bats
# PMI-2 under srun --mpi=pmi2 and PMI-1 under Hydra, on two hosts; and `hpcboot check` and `exec` with them and with PMIx.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output and stderr in the test's own shell

load helper

setup_file() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/hpcboot")}
  export EXCHANGE_TEST=${EXCHANGE_TEST:-$(dirname "$HPCBOOT_BIN")/../tests/bin/exchange_test}
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")" --bind "$(dirname "$EXCHANGE_TEST")"
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

# launched FORM CMD…: what the four ranks print, sorted.
launched() {
  rm -f n*.*
  as_tester timeout 60 "$BATS_TEST_DIRNAME/lib/launch.sh" "$1" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" "${@:2}"
  sort n*.*
}

# exchanges FORM KIND
exchanges() {
  [[ -x $EXCHANGE_TEST ]] || skip "$EXCHANGE_TEST is not built"
  run -0 launched "$1" "$EXCHANGE_TEST" "$2"
  [[ $output == *" 4 ranks, 0 failures" ]] || fail "$output"
  echo "# $1: $output" >&3
}

@test "exchange by PMI-2 under srun --mpi=pmi2" { exchanges srun_pmi2_2x2 pmi2; }
@test "exchange by PMI-1 under Hydra over ssh" { exchanges ssh_hydra_2x2 pmi1; }
@test "exchange by PMI-1 under Hydra in Slurm" { exchanges sbatch_hydra_2x2 pmi1; }

# told_by LAUNCHER FORM WORDS…: ranks that know only a server, or a folder, learn the rest from it.
told_by() {
  run -0 launched "$2" "${@:3}" "$HPCBOOT_BIN" check
  [[ $(grep -Eo '^ +[0-9] +n[0-9] +[0-9] +[0-9] ' <<< "$output" | xargs) == "0 n1 0 2 1 n1 1 2 2 n2 0 2 3 n2 1 2" ]] || fail "$output"
  [[ $output == *"ok: 4 ranks, launcher $1, master 10.77.0.11:"* ]] || fail "$output"
}

@test "sizes, local ranks and hosts out of PMIx alone" {
  told_by pmix ssh_mpirun_2x2 env -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_LOCAL_RANK \
    -u OMPI_COMM_WORLD_LOCAL_SIZE
}
@test "local ranks and hosts out of PMI-1 alone" { told_by pmi2 ssh_hydra_2x2 env -u MPI_LOCALRANKID -u MPI_LOCALNRANKS; }
@test "local ranks and hosts out of PMI-2 alone" {
  told_by pmi2 srun_pmi2_2x2 bash -c 'exec env -i PATH="$PATH" PMI_FD=$PMI_FD PMI_RANK=$PMI_RANK PMI_SIZE=$PMI_SIZE PMI_JOBID=$PMI_JOBID \
    SLURM_MPI_TYPE=pmi2 "$@"' -
}
@test "hosts and local sizes out of a shared folder" {
  told_by explicit srun_none_2x2 bash -c 'exec env -i PATH="$PATH" HPCBOOT_RANK=$SLURM_PROCID HPCBOOT_WORLD_SIZE=4 \
    HPCBOOT_LOCAL_RANK=$SLURM_LOCALID HPCBOOT_EXCHANGE_DIR="$PWD" "$@"' -
}

@test "PMIx several times in one launch: each check and each exec gives all ranks one answer" {
  cat > uses.sh <<'SH'
for use in 1 2; do timeout 40 "$1" check --timeout 30 >&2 || exit; done
for use in 3 4; do timeout 40 "$1" exec -- sh -c 'echo "$0: $MASTER_ADDR $MASTER_PORT"' $use || exit; done
SH
  for form in srun_pmix_2x2 sbatch_mpirun_2x2 ssh_mpirun_2x2; do
    run -0 --separate-stderr launched $form sh "$PWD/uses.sh" "$HPCBOOT_BIN"
    [[ $(uniq -c <<< "$output" | awk '{ print $1, $2 }' | xargs) == "4 3: 4 4:" ]] || fail "$form: $output" "$stderr"
  done
}

# srun -m arbitrary does not show the tasks where rank 0 is: they must ask each other.
@test "check over PMI-2 and PMIx where the environment does not say where rank 0 is" {
  printf '%s\n' n2 n1 n2 > arbitrary
  for mpi in pmi2 pmix; do
    run -0 as_tester env SLURM_HOSTFILE=arbitrary timeout 60 srun --mpi=$mpi -n3 --distribution=arbitrary "$HPCBOOT_BIN" check
    [[ $(grep -Eo '^ +[0-9] +n[0-9] +[0-9] ' <<< "$output" | xargs) == "0 n2 0 1 n1 0 2 n2 1" ]] || fail "$output"
    [[ $output == *"ok: 3 ranks, launcher slurm"* ]] || fail "$output"
  done
}

@test "exec refuses where only PMI-2 could tell, and says what would help" {
  printf '%s\n' n2 n1 n2 > arbitrary
  run as_tester env SLURM_HOSTFILE=arbitrary timeout 60 srun --mpi=pmi2 -n3 --distribution=arbitrary "$HPCBOOT_BIN" exec -- true
  [[ $status == 29 && $output == *--mpi=pmix* ]] || fail "$status $output"
}

# ends_with TEXT MPI FAULT: of three ranks that ask each other, the last never arrives; if FAULT is "killed", the second
# is killed while it waits for it. The others report it in time: with PMI-2 in the exchange, with PMIx in the check itself.
ends_with() {
  printf '%s\n' n2 n1 n2 > arbitrary
  cat > rank.sh <<'SH'
[ "$SLURM_PROCID" != 2 ] || exec sleep 6
if [ "$2" = killed ] && [ "$SLURM_PROCID" = 1 ]; then
  pid=$$
  (sleep 1; kill -KILL $pid) > /dev/null 2>&1 &
  exec "$1" check --timeout 50
fi
exec "$1" check --timeout 3
SH
  SECONDS=0
  run as_tester env SLURM_HOSTFILE=arbitrary timeout 60 srun --mpi="$2" -n3 --distribution=arbitrary sh rank.sh "$HPCBOOT_BIN" "$3"
  [[ $status != 0 ]] || fail "$output"
  ((SECONDS < 30)) || fail "$SECONDS s"
  grep -Eq "$1" <<< "$output" || fail "$output"
  [[ $3 != killed || $output == *'n1: task 1: Killed'* ]] || fail "$output"
}

@test "a rank that never comes, over PMI-2" { ends_with 'found: +PMI2_KVS_Fence took more than (29[0-9][0-9]|3000) ms' pmi2 absent; }
@test "a rank that never comes, over PMIx" { ends_with '^wrong: rank 2 of 3 is missing' pmix absent; }
@test "a rank killed during the exchange, over PMI-2" { ends_with 'found: +PMI2_KVS_Fence took more than (29[0-9][0-9]|3000) ms' pmi2 killed; }
@test "a rank killed during the exchange, over PMIx" { ends_with '^wrong: rank 2 of 3 is missing' pmix killed; }
