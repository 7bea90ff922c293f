#!/usr/bin/env bats
# setup/check-hosts and hello_mpi as an ordinary user on three hosts.

load helper

setup_file() {
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "${HPCBOOT_BIN:-$BATS_TEST_DIRNAME/../../build/bin/hello_mpi}")"
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/check-hosts
  hello=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/hello_mpi")}
  enter_shared_folder
  printf '%s slots=2\n' n1 n2 >hosts
}

line() { grep "^$1 " <<<"$output"; }

@test "equal hosts" {
  run -0 as_tester "$script" --hosts hosts --folder .
  [[ $(line n1) == *" 4."*" yes "*eth0* && $output != *!* ]] || fail "$output"
  echo "# ${output//$'\n'/$'\n'# }" >&3
}

@test "one host has no orted, one is unreachable, and the folder is not shared" {
  "$CLUSTER" on n1 mount --bind /dev/null "$(readlink -f "$(command -v orted)")"
  "$CLUSTER" on n1 mount -t tmpfs tmpfs "$PWD"
  echo 10.77.0.99 >>hosts
  run as_tester "$script" --hosts hosts --folder "$PWD" --timeout 5 --json
  "$CLUSTER" on n1 umount --lazy "$(readlink -f "$(command -v orted)")" "$PWD"
  [[ $status == 1 ]] || fail "$output"
  python3 - "$output" <<'PY' || fail "$output"
import json, sys
answer = json.loads(sys.argv[1])
found = [(m["host"], m["what"]) for m in answer["mismatches"]]
assert found == [("10.77.0.99", "host"), ("n1", "mpi"), ("n1", "shared")], found
assert answer["mismatches"][1]["found"].endswith("without orted")
assert [h["reached"] for h in answer["hosts"]] == [True, True, False]
PY
}

@test "hello_mpi on two hosts: where the ranks are, and the link between the hosts" {
  run -0 as_tester timeout 60 mpirun --hostfile hosts "$hello" --size 1
  [[ $(grep -Eo '^n[12] +[0-9] +[0-9] ' <<<"$output" | xargs) == "n1 0 0 n1 1 1 n2 2 0 n2 3 1" ]] || fail "$output"
  [[ $output =~ $'\n'"n1 "+"n2 "+[0-9.]+" "+[0-9]+$'\n' && $output == *"ring of 4 ranks"* ]] || fail "$output"
  echo "# ${output//$'\n'/$'\n'# }" >&3
}

@test "hello_mpi under srun, and under the mpiexec of another MPI, where every rank is alone" {
  run -0 as_tester timeout 60 srun --mpi=pmix -N2 --ntasks-per-node=1 "$hello" --size 1
  [[ $output == *"2 ranks, launcher slurm"*"ring of 2 ranks"* ]] || fail "$output"
  run as_tester timeout 60 mpiexec.hydra -hosts n1:1,n2:1 "$hello" --size 1
  [[ $status == 22 && $output == *"hydra started 2 processes, but each is rank 0 of 1"* ]] || fail "$status $output"
}

@test "hello_mpi with an interface that is not routable: it ends in time, and says what to do" {
  for host in n1 n2; do
    "$CLUSTER" on $host ip link add docker0 type bridge
    "$CLUSTER" on $host ip addr add 172.17.0.1/16 dev docker0
    "$CLUSTER" on $host ip link set docker0 up
  done
  run as_tester timeout 60 mpirun --hostfile hosts --mca oob_tcp_if_include eth0 "$hello" --size 1 --timeout 5
  [[ $status == 32 && $output == *"not done after 5 s"*btl_tcp_if_include* ]] || fail "$status $output"
  run -0 as_tester timeout 60 mpirun --hostfile hosts --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 "$hello" --size 1 --timeout 30
  [[ $output == *"ring of 4 ranks"* ]] || fail "$output"
}
