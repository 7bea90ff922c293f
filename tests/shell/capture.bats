#!/usr/bin/env bats
# `hpcboot capture` under a real mpirun, and `hpcboot replay` of what it wrote.

bats_require_minimum_version 1.5.0
load ../support/open_mpi

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  export HPCBOOT
  use_open_mpi
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here"
  job=$BATS_TEST_TMPDIR/job
}

capture_two() { mpirun -np 2 --oversubscribe "$@" "$HPCBOOT" capture "$job"; }

@test "two ranks are captured and replayed" {
  run --separate-stderr capture_two
  [ "$status" -eq 0 ]
  [ "$(sort <<<"$output")" = "$job/rank0.env"$'\n'"$job/rank1.env" ]
  run --separate-stderr "$HPCBOOT" replay "$job"
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  grep -Eq '^name +rank +world_size +local_rank +node_rank +host +launcher +master +verdict$' <<<"$output"
  grep -Eq '^rank1 +1 +2 +1 +0 .* openmpi .* ok$' <<<"$output"
  grep -qx 'ok: 2 ranks, consistent' <<<"$output"
}

@test "each rank is what mpirun made it, from the files alone" {
  capture_two
  run --separate-stderr env -i OMPI_COMM_WORLD_RANK=7 "$HPCBOOT" replay --json "$job"
  [ "$status" -eq 0 ]
  python3 - <<PY
import json
replay = json.loads('''$output''')
assert replay["ok"] is True and replay["problems"] == [] and replay["unresolved"] == {}
ranks = replay["ranks"]
assert sorted(ranks) == ["0", "1"]
for name, rank in ranks.items():
    assert (rank["rank"], rank["world_size"], rank["local_rank"]) == (int(name), 2, int(name)), rank
    assert rank["launcher"] == "openmpi" and rank["hosts"] == ["$(hostname)"], rank
PY
}

@test "show --env-file reads a captured environment" {
  capture_two
  run --separate-stderr "$HPCBOOT" show --json --env-file "$job/rank1.env"
  [ "$status" -eq 0 ]
  grep -q '"rank": 1,' <<<"$output"
  grep -q '"world_size": 2,' <<<"$output"
}

@test "the folder is 0700 and its files 0600, whatever the umask" {
  umask 0000
  capture_two
  [ "$(stat -c %a "$job")" = 700 ]
  [ "$(stat -c %a "$job"/* | sort -u)" = 600 ]
  [ -z "$(find "$job" -name '*.partial')" ]
}

@test "no secret is written, by name or by value" {
  capture_two -x PMI_SHARED_SECRET=zebra1 -x PBS_JOBCOOKIE=zebra2 -x HF_TOKEN=zebra3 -x AWS_SECRET_ACCESS_KEY=zebra4 \
    -x DB_PASSWORD=zebra5 -x NCCL_PLUGIN=https://me:zebra6@host/x -x HPCBOOT_NOTE="Bearer zebra7" -x HOME=/home/zebra8
  [ -e "$job/rank1.env" ]
  run grep -r zebra "$job"
  [ "$status" -eq 1 ]
  grep -qx 'PMI_SHARED_SECRET=REDACTED' "$job/rank0.env"
  grep -qx 'NCCL_PLUGIN=https://REDACTED@host/x' "$job/rank0.env"
  run grep -rE '^(PATH|HOME|USER)=' "$job"
  [ "$status" -eq 1 ]
}

@test "--all omits secrets in command lines and URLs" {
  key=$(printf 'gh%s_%s' p 0a1B2c3D4e5F6g7H8i9J0kL1m2N3o4P5q6R7)
  PET="mysql -uroot -pzebra db; sshpass -p zebra ssh h; curl -u me:zebra h; wandb login zebra" FORM="run $key" KEY1=zebra OTP=zebra \
    HOOK=https://hooks.slack.com/services/zebra SAS='https://h/f?sv=1&sig=zebra' LM_LICENSE_FILE=27000@a:27000@b MONKEY=see \
    RANK=0 WORLD_SIZE=1 "$HPCBOOT" capture --all "$job"
  run grep -rE "zebra|0a1B2c3D" "$job"
  [ "$status" -eq 1 ]
  grep -qx 'PET=mysql -uroot -pREDACTED db; sshpass -p REDACTED ssh h; curl -u REDACTED h; wandb login REDACTED' "$job/rank0.env"
  grep -qx 'LM_LICENSE_FILE=27000@a:27000@b' "$job/rank0.env"
  grep -qx 'MONKEY=see' "$job/rank0.env"
}

@test "--all keeps every variable, without its secrets" {
  SOME_THING=kept HF_TOKEN=zebra URL=http://u:zebra@h RANK=0 WORLD_SIZE=1 "$HPCBOOT" capture --all "$job"
  grep -qx 'SOME_THING=kept' "$job/rank0.env"
  grep -qx 'URL=http://REDACTED@h' "$job/rank0.env"
  grep -q '^PATH=' "$job/rank0.env"
  run grep -r zebra "$job"
  [ "$status" -eq 1 ]
}

@test "the names of the processes above are kept, their command lines are not" {
  bash -c '"$1" capture "$2"; :' bash-with-zebra "$HPCBOOT" "$job"
  grep -q '"bash"' "$job"/*.facts.json
  run grep -r zebra "$job"
  [ "$status" -eq 1 ]
}

@test "a nodefile is copied, and replay reads the copy" {
  printf 'n1\nn2\n' >"$BATS_TEST_TMPDIR/nodes"
  PBS_JOBID=7.s PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE=$BATS_TEST_TMPDIR/nodes "$HPCBOOT" capture "$job"
  rm "$BATS_TEST_TMPDIR/nodes"
  run --separate-stderr "$HPCBOOT" replay --json "$job"
  [ "$status" -eq 0 ]
  grep -q '"n2"' <<<"$output"
}

@test "an apinfo is copied, even a malformed one, which replay then reports" {
  printf 'no table' >"$BATS_TEST_TMPDIR/table"
  PALS_APINFO=$BATS_TEST_TMPDIR/table "$HPCBOOT" capture "$job"
  [ "$(cat "$job"/*.apinfo)" = "no table" ]
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *PALS_APINFO* ]]
}

@test "a second capture into the same folder changes no existing file, and replay reports it" {
  capture_two
  before=$(cd "$job" && sha256sum rank*)
  run --separate-stderr capture_two
  [ "$status" -eq 0 ]
  [[ $stderr == *"already contains rank 0"* ]]
  [ "$(cd "$job" && sha256sum rank*)" = "$before" ]
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"rank 0 is held by 2 processes: rank0, "* ]]
}

@test "a folder that others may enter is refused" {
  mkdir -m 0755 "$job"
  run "$HPCBOOT" capture "$job"
  [ "$status" -eq 42 ]
  [[ $output == *"chmod 700 $job"* ]]
  [ -z "$(ls "$job")" ]
  chmod 700 "$job"
  "$HPCBOOT" capture "$job"
}

@test "a folder of another user is refused, also by root" {
  [ "$(id -u)" -eq 0 ] || skip "only root gives folders away"
  mkdir -m 0700 "$job"
  chown 12345 "$job"
  run "$HPCBOOT" capture "$job"
  [ "$status" -eq 42 ]
  [[ $output == *"$job belongs to the user 12345"* ]]
  [ -z "$(ls "$job")" ]
}

@test "no link is followed, for the folder or for a file" {
  mkdir -m 0700 "$BATS_TEST_TMPDIR/elsewhere"
  ln -s elsewhere "$job"
  for path in "$job" "$job/"; do
    run "$HPCBOOT" capture "$path"
    [ "$status" -eq 42 ]
  done
  rm "$job"
  mkdir -m 0700 "$job"
  ln -s ../elsewhere/x "$job/rank0.hostname"
  HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=1 "$HPCBOOT" capture "$job"
  [ -z "$(ls "$BATS_TEST_TMPDIR/elsewhere")" ]
  [ ! -e "$job/rank0.env" ]
}

@test "a missing rank is named" {
  capture_two
  rm "$job"/rank1.*
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"rank 1 of 2 is missing"* ]]
}

@test "a rank whose capture was cut off is named" {
  capture_two
  rm "$job/rank1.env"
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"rank1: unreadable_file: $job/rank1.env cannot be read"* ]]
}

@test "a garbled rank is named, with its variable" {
  capture_two
  sed -i 's/^OMPI_COMM_WORLD_RANK=.*/OMPI_COMM_WORLD_RANK=1x/' "$job/rank1.env"
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"rank1: malformed_value: OMPI_COMM_WORLD_RANK='1x'"* ]]
  run --separate-stderr "$HPCBOOT" replay --json "$job"
  [ "$status" -eq 1 ]
  python3 -c 'import json, sys; u = json.load(sys.stdin)["unresolved"]; assert u["rank1"]["error"] == "malformed_value", u' <<<"$output"
}

@test "a rank that disagrees on the size is named" {
  capture_two
  sed -i 's/^OMPI_COMM_WORLD_SIZE=.*/OMPI_COMM_WORLD_SIZE=5/' "$job/rank1.env"
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"world_size differs"* ]]
}

@test "a process whose rank cannot be determined is still captured" {
  run --separate-stderr env OMPI_COMM_WORLD_RANK=1x OMPI_COMM_WORLD_SIZE=2 "$HPCBOOT" capture "$job"
  [ "$status" -eq 0 ]
  [[ $stderr == *"OMPI_COMM_WORLD_RANK='1x'"* ]]
  [[ $output =~ /[A-Za-z0-9_-]+-[0-9]+\.env$ ]]
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"OMPI_COMM_WORLD_RANK='1x'"* ]]
}

@test "processes that each run alone do not overwrite each other, and are not taken for a job" {
  for _ in 1 2 3; do "$HPCBOOT" capture "$job" 2>/dev/null; done
  [ "$(find "$job" -name '*.env' | wc -l)" -eq 3 ]
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 1 ]
  [[ $output == *"3 processes each run alone"* ]]
}

@test "replay of no folder, or an empty one, is an error" {
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 27 ]
  mkdir "$job"
  run "$HPCBOOT" replay "$job"
  [ "$status" -eq 27 ]
  [[ $output == *"no captured rank in $job"* ]]
}

@test "every golden case is a job to replay" {
  for case in "$BATS_TEST_DIRNAME"/../golden/env/*/; do
    run "$HPCBOOT" replay "$case"
    echo "$case: $output"
    [ "$status" -eq 0 ]
  done
}
