#!/usr/bin/env bats
# DDP on two hosts under each launcher: four ranks meet without a variable set by hand, train, and write one record
# with the right hosts and launcher.

load helper

setup_file() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/trainer")}
  [[ -x $HPCBOOT_BIN ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")"
  as_tester "$HPCBOOT_BIN" digits "$HPCBOOT_CLUSTER_DIR/shared/data" --train 128 --test 32
}

teardown_file() {
  "$CLUSTER" down
}

# trains FORM LAUNCHER: 4 ranks on n1 and n2.
trains() {
  enter_shared_folder
  as_tester timeout 60 "$BATS_TEST_DIRNAME/lib/launch.sh" "$1" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
    env OMP_NUM_THREADS=1 "$HPCBOOT_BIN" --mode ddp --model mnistnet --image-size 28 --batch-size 32 \
    --data ../data --runs-dir "$PWD/runs" --start-up-timeout 30 || fail "$(cat n*.*)"
  python3 - "$2" "$PWD"/runs/*/run.json <<'PY'
import json, sys
launcher, *records = sys.argv[1:]
assert len(records) == 1, records
run = json.load(open(records[0]))
assert run["exit_reason"] == "finished", run["exit_reason"]
assert run["launcher"] == launcher, run["launcher"]
assert [run["nodes"], run["devices_per_node"]] == [2, 2], run
assert [(r["rank"], r["host"]) for r in run["ranks"]] == [(0, "n1"), (1, "n1"), (2, "n2"), (3, "n2")], run["ranks"]
assert run["epochs"][0]["steps"] == 4, run["epochs"]
PY
}

@test "srun --mpi=pmix" { trains srun_pmix_2x2 slurm; }
@test "srun --mpi=pmi2" { trains srun_pmi2_2x2 slurm; }
@test "srun --mpi=none" { trains srun_none_2x2 slurm; }
@test "sbatch and mpirun" { trains sbatch_mpirun_2x2 openmpi; }
@test "sbatch and Hydra" { trains sbatch_hydra_2x2 hydra; }
@test "mpirun over ssh" { trains ssh_mpirun_2x2 openmpi; }
@test "Hydra over ssh" { trains ssh_hydra_2x2 hydra; }
