#!/usr/bin/env bats
# `hpcboot doctor`: what scripts and people see of it.

bats_require_minimum_version 1.5.0
load ../support/open_mpi

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  use_open_mpi
  mkdir "$BATS_TEST_TMPDIR/here"
  cd "$BATS_TEST_TMPDIR/here" || return
}

# statuses: "name status" of each finding in the JSON on standard input.
statuses() { python3 -c 'import json, sys
for f in json.load(sys.stdin):
    assert list(f) == ["name", "status", "message", "remedy"], f
    assert f["message"] and f["remedy"] != "", f
    print(f["name"], f["status"])'; }

@test "on this machine: every finding in text and in JSON, and nothing left behind" {
  run --separate-stderr env -i PATH="$PATH" "$HPCBOOT" doctor --json
  findings=$(statuses <<<"$output")
  grep -qx 'launcher ok' <<<"$findings"
  for name in mpi interface 'own name' 'master port' threads gpu 'open files' libtorch 'working folder' runs clock; do
    grep -Eqx "$name (ok|note|warning|problem)" <<<"$findings"
  done
  run --separate-stderr env -i PATH="$PATH" "$HPCBOOT" doctor
  grep -Eqx 'ok +launcher +no launcher placed this process: it runs alone, as rank 0 of 1' <<<"$output"
  grep -Eqx 'problems: [0-9]+, warnings: [0-9]+, notes: [0-9]+, ok: [0-9]+' <<<"$output"
  [ -z "$(ls -A)" ]
}

@test "a problem is exit code 1 and says what to do" {
  run env -i PATH="$PATH" OMPI_COMM_WORLD_RANK=1 "$HPCBOOT" doctor
  [ "$status" -eq 1 ]
  grep -Eq '^problem +launcher +error 21 \(missing_variable\): found OMPI_COMM_WORLD_SIZE is not set' <<<"$output"
  grep -Eq '^ +do: start the program through mpirun' <<<"$output"
}

@test "--env-file examines that environment and nothing of this machine" {
  printf 'SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\n' >job.env
  run --separate-stderr env RANK=x OMP_NUM_THREADS=nonsense "$HPCBOOT" doctor --json --env-file job.env
  [ "$status" -eq 0 ]
  [ "$(statuses <<<"$output")" = $'launcher ok\ntasks note\nmaster ok\nmaster port ok' ]
}

@test "a libpmix that cannot be used is a problem if the ranks need an exchange" {
  mkdir fake
  echo 'not a library' > fake/libpmix.so.2
  run -1 env -i PATH="$PATH" LD_LIBRARY_PATH=fake PMIX_NAMESPACE=job PMIX_RANK=0 "$HPCBOOT" doctor
  grep -Eq '^problem +exchange +the launcher offers PMIx, but its library cannot be used: ' <<<"$output"
  run env -i PATH="$PATH" PMIX_NAMESPACE=job PMIX_RANK=0 "$HPCBOOT" doctor
  grep -Eq '^ok +exchange +pmix: ' <<<"$output"
}

@test "under mpirun every rank examines itself" {
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here"
  # To a file for each: mpirun may join lines of two ranks.
  # shellcheck disable=SC2016 # the ranks expand it
  mpirun -np 2 --oversubscribe bash -c '"$0" doctor >"rank_$OMPI_COMM_WORLD_RANK" 2>&1' "$HPCBOOT" || true
  for rank in 0 1; do
    grep -Eq "^ok +launcher +rank $rank of 2, launcher openmpi$" "rank_$rank" || { cat rank_*; false; }
  done
}

@test "a folder that cannot be written is a problem" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  mkdir -m 555 runs
  run "$HPCBOOT" doctor
  [ "$status" -eq 1 ]
  grep -Eq '^problem +runs +.*/runs cannot be written' <<<"$output"
}
