#!/usr/bin/env bats
# `hpcboot check`: the table, the verdict and the exit code under real launchers, and with ranks that do not arrive.
# shellcheck disable=SC2154 # run sets stderr

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  export HPCBOOT
  use_open_mpi
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
}

teardown() { end_jobs; }

open_mpi() {
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here"
  timeout 60 mpirun --oversubscribe "$@"
}

hydra() {
  command -v mpiexec.hydra > /dev/null || skip "mpiexec.hydra is not here"
  timeout 60 mpiexec.hydra "$@"
}

# at_port RANK SIZE [NAME=VALUE…] CMD…: started by hand, at a known endpoint.
at_port() {
  local rank=$1 size=$2
  shift 2
  timeout 60 env -i PATH="$PATH" HPCBOOT_RANK="$rank" HPCBOOT_WORLD_SIZE="$size" HPCBOOT_LOCAL_RANK="$rank" \
    HPCBOOT_MASTER_ADDR=127.0.0.1 HPCBOOT_MASTER_PORT="$port" "$@"
}

# Each passes on the variables of the outer launch.
@test "Hydra inside a rank of mpirun, and mpirun inside one of Hydra: the inner one's two ranks" {
  run -0 --separate-stderr open_mpi -n 1 mpiexec.hydra -n 2 "$HPCBOOT" check
  [[ $output == *"ok: 2 ranks, launcher hydra"* ]]
  run -0 --separate-stderr hydra -n 1 mpirun --oversubscribe -n 2 "$HPCBOOT" check
  [[ $output == *"ok: 2 ranks, launcher openmpi"* ]]
}

@test "mpirun and Hydra: a table in order of ranks, times, the verdict" {
  for launcher in open_mpi hydra; do
    run --separate-stderr $launcher -n 3 "$HPCBOOT" check
    [ "$status" -eq 0 ]
    [[ ${lines[0]} =~ ^rank\ +host\ +local_rank\ +local_size\ +device\ +interface\ +address\ +round_trip_ms$ ]]
    for rank in 0 1 2; do
      [[ ${lines[rank + 1]} =~ ^\ *$rank\ +$(hostname)\ +$rank\ +3\ .*([0-9]\.[0-9]{3}|-)$ ]]
    done
    [[ $output == *"ok: 3 ranks, launcher "*", master "*:* ]]
  done
}

@test "--json is one object, printed by rank 0 only" {
  run --separate-stderr open_mpi -n 2 "$HPCBOOT" check --json
  [ "$status" -eq 0 ]
  python3 - <<PY
import json
check = json.loads('''$output''')
assert list(check) == ["ok", "world_size", "launcher", "master", "ranks", "problems", "notes"], check
assert check["ok"] is True and check["problems"] == [] and check["world_size"] == 2, check
assert [rank["rank"] for rank in check["ranks"]] == [0, 1], check
assert check["ranks"][0]["round_trip_ms"] is None and 0 < check["ranks"][1]["round_trip_ms"] < 1000, check
assert {rank["host"] for rank in check["ranks"]} == {"$(hostname)"}, check
PY
}

@test "alone" {
  run --separate-stderr env -i PATH="$PATH" "$HPCBOOT" check
  [ "$status" -eq 0 ]
  [[ $output == *"ok: 1 rank, launcher single"* ]]
}

@test "a rank that does not arrive is named within the deadline, and all others fail the same way" {
  port=$(free_port)
  at_port 0 3 "$HPCBOOT" check --timeout 8 > "$BATS_TEST_TMPDIR/out" &
  rank0=$!
  run -1 at_port 2 3 "$HPCBOOT" check --timeout 20
  code=0
  wait "$rank0" || code=$? # not by `run`, which would wait in a subshell, whose child it is not
  [ "$code" -eq 1 ]
  grep -qx "wrong: rank 1 of 3 is missing; check that rank's output and host, or raise --timeout" \
    "$BATS_TEST_TMPDIR/out"
  grep -Eq '^ *2 ' "$BATS_TEST_TMPDIR/out"
}

@test "without rank 0 the place is named" {
  port=$(free_port)
  SECONDS=0
  run --separate-stderr at_port 1 2 "$HPCBOOT" check --timeout 1
  [ "$status" -eq 32 ]
  [[ $stderr == *"rank 1 on "*" did not find rank 0 within "*": 127.0.0.1:$port: Connection refused"* ]]
  [ "$SECONDS" -lt 20 ]
}

@test "one rank number held twice is detected" {
  port=$(free_port)
  at_port 0 3 "$HPCBOOT" check --timeout 20 > "$BATS_TEST_TMPDIR/out" &
  rank0=$!
  at_port 1 3 "$HPCBOOT" check --timeout 20 &
  run -1 at_port 1 3 "$HPCBOOT" check --timeout 20
  wait "$rank0" || true
  grep -q '^wrong: rank 1 is held by 2 processes' "$BATS_TEST_TMPDIR/out"
  grep -q '^wrong: rank 2 of 3 is missing' "$BATS_TEST_TMPDIR/out"
}

# devices MASK_OF_RANK_0 MASK_OF_RANK_1: the exit code of rank 0.
devices() {
  at_port 0 2 CUDA_VISIBLE_DEVICES="$1" HPCBOOT_LOCAL_SIZE=2 "$HPCBOOT" check > "$BATS_TEST_TMPDIR/out" &
  local rank0=$!
  at_port 1 2 CUDA_VISIBLE_DEVICES="$2" HPCBOOT_LOCAL_SIZE=2 "$HPCBOOT" check || true
  wait "$rank0"
}

@test "one device for two ranks is wrong if there are two, and noted if it may be two" {
  port=$(free_port)
  run -0 devices 0,1 0,1
  run -1 devices 4,5 5,4
  grep -q '^wrong: device 4 of host .* is used by rank0, rank1' "$BATS_TEST_TMPDIR/out"
  run -0 devices 0 0
  grep -q '^note: .*sees one device' "$BATS_TEST_TMPDIR/out"
}

@test "other connections do not disturb" {
  port=$(free_port)
  at_port 0 2 "$HPCBOOT" check --timeout 20 > "$BATS_TEST_TMPDIR/out" &
  rank0=$!
  timeout 60 python3 - "$port" <<'PY'
import socket, sys, time
while True:  # until rank 0 listens, which has a deadline of its own
    try:
        sockets = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(3)]
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
sockets[0].sendall(b"GET / HTTP/1.1\r\n\r\n")
sockets[1].sendall(b'{"magic": "hpcboot check 1", "rank": "x"}\n')
PY
  run -0 at_port 1 2 "$HPCBOOT" check --timeout 20
  wait "$rank0"
  grep -q '^ok: 2 ranks' "$BATS_TEST_TMPDIR/out"
}

@test "a port that is taken is reported" {
  port=$(free_port)
  hold_port "$port"
  run --separate-stderr at_port 0 2 "$HPCBOOT" check --timeout 5
  [ "$status" -eq 31 ]
  [[ $stderr == *"port $port of this host is taken"* ]]
}

@test "--bandwidth: every link, the slowest one, and what it means for a model" {
  run --separate-stderr -0 open_mpi -n 3 "$HPCBOOT" check --bandwidth
  echo "$output"
  [[ $output == *"ok: 3 ranks"*"rank  rank  host"* ]]
  for pair in "0     1" "0     2" "1     2"; do
    [[ $output =~ "   $pair  "$(hostname)\ +$(hostname)\ +"same host, TCP "\ +[0-9.]+" "[MG]B/s ]]
  done
  [[ $output == *"slowest: rank "*"a model of 1.1 billion parameters"* ]]
  run --separate-stderr -0 open_mpi -n 2 "$HPCBOOT" check --bandwidth --parameters 25.6e6 --json
  python3 - "$output" <<'PY'
import json, math, sys
answer = json.loads(sys.argv[1])
assert answer["ok"], answer
links = answer["bandwidth"]
(link,) = links["links"]
assert link["ranks"] == [0, 1] and link["bytes_per_second"] > 1e6 and link["problem"] is None, links
assert links["parameters"] == 25.6e6 and links["slowest"] == [0, 1], links
assert math.isclose(links["seconds_a_step"], 4 * 25.6e6 / link["bytes_per_second"]), links
PY
}

@test "--bandwidth: rank 0 decides, whatever the others' command lines say" {
  run --separate-stderr -0 open_mpi -n 1 "$HPCBOOT" check --bandwidth --json : -n 1 "$HPCBOOT" check
  [[ $output == *'"bytes_per_second": '[1-9]* ]]
  run --separate-stderr -0 open_mpi -n 1 "$HPCBOOT" check : -n 1 "$HPCBOOT" check --bandwidth
  [[ $output == *"ok: 2 ranks"* && $output != *slowest* ]]
}

# with_driver FOLDER RANKS: with a driver of the tests.
with_driver() {
  local driver=$HPCBOOT_BIN_DIR/../tests/$1
  [ -e "$driver/libcuda.so.1" ] || skip "$driver is not built"
  LD_LIBRARY_PATH="$driver" CUDA_VISIBLE_DEVICES=0,1,2 \
    timeout 60 mpirun --oversubscribe -x LD_LIBRARY_PATH -n "$2" "$HPCBOOT" check --bandwidth
}

@test "--bandwidth: GPUs of one host, and how they are joined" {
  run --separate-stderr -0 with_driver fake_driver 3
  echo "$output"
  joined=$(awk -F '  +' 'NF == 8 && /same host/ { print $8 }' <<<"$output")
  [ "$joined" = "$(printf '%s\n' 'NVLink x3' 'PCIe switch' -)" ]
  [[ $output == *"Slowest: those of rank 0 on"*"and rank 2, PCIe"*"switch"* ]]
}

@test "--bandwidth: a driver that hangs costs seconds, not the answer" {
  run --separate-stderr -0 with_driver hanging_driver 2
  echo "$output"
  [[ $output == *"slowest: rank 0 on"* && $output != *GPUs* ]]
}

@test "--bandwidth: one rank has no link, a launch that is wrong is not measured, and a wrong model is named" {
  run --separate-stderr -0 "$HPCBOOT" check --bandwidth
  [[ $output != *slowest* ]]
  run --separate-stderr -0 "$HPCBOOT" check --bandwidth --json
  [[ $output == *'"ok": true'* && $output != *bandwidth* ]]
  for model in 0 -1 x nan 1e99; do
    run -2 "$HPCBOOT" check --bandwidth --parameters "$model"
    [[ $output == *"--parameters is '$model'"* ]]
  done
}
