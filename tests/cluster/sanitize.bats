#!/usr/bin/env bats
# A launcher started by hand within another launcher's task: with `$(hpcboot sanitize)` it starts its own ranks.

load helper

setup_file() {
  start_for_show
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

# Each process writes to a separate file: lines on a shared output would be interleaved.
setup_record() {
  printf '#!/bin/sh\nexec %s show --json >show.$(hostname).$$\n' "$HPCBOOT_BIN" >record.sh
  printf '#!/bin/sh\nexec $(%s sanitize) "$@"\n' "$HPCBOOT_BIN" >sanitized.sh
  chmod +x record.sh sanitized.sh
}

# "rank world_size launcher job_id" of each process that ran record.sh.
ranks() {
  python3 -c '
import glob, json
for name in glob.glob("show.*"):
    show = json.load(open(name))
    print(show["rank"], show["world_size"], show["launcher"], show["job_id"])' | sort
}

@test "mpirun within a task of srun starts ranks of its own, in the same job" {
  setup_record
  as_tester timeout 40 srun --mpi=pmix -N1 -n1 ./sanitized.sh mpirun -np 2 --oversubscribe ./record.sh
  [ "$(ranks)" = $'0 2 openmpi 1\n1 2 openmpi 1' ]
}

@test "srun within a rank of mpirun starts a step of its own, in the same job" {
  setup_record
  as_tester timeout 40 salloc --quiet -N1 -n2 mpirun -np 1 ./sanitized.sh srun --overlap --mpi=none -N1 -n2 ./record.sh
  [ "$(ranks)" = $'0 2 slurm 2\n1 2 slurm 2' ]
}

@test "a process within a task is alone, in the same job" {
  setup_record
  as_tester timeout 40 srun --mpi=pmi2 -N2 -n2 ./sanitized.sh ./record.sh
  [ "$(ranks)" = $'0 1 single 3\n0 1 single 3' ]
}
