#!/usr/bin/env bats
# Where ranks on several hosts meet without PMIx or PMI, and what proves that they belong to one launch.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, in the test's own shell

load helper

setup_file() {
  start_for_show
  key=$HPCBOOT_CLUSTER_DIR/home/tester/.config/hpcboot/rendezvous.key
  export key
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

teardown() {
  end_jobs
  rm -f "$key"
}

# Rank 0 on n1 and rank 1 on n2, over ssh, without a scheduler. NAME=VALUE… for both.
over_ssh() {
  local rank pids=()
  for rank in 0 1; do
    "$CLUSTER" as tester "n$((rank + 1))" env HPCBOOT_RANK=$rank HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 HPCBOOT_LOCAL_SIZE=1 \
      HPCBOOT_NUM_NODES=2 HPCBOOT_NODE_RANK=$rank HPCBOOT_MASTER_ADDR=n1 "$@" \
      timeout 60 "$HPCBOOT_BIN" check --timeout 8 > "rank$rank" 2>&1 &
    pids+=($!)
  done
  wait "${pids[@]}" || true
  output=$(cat rank0 rank1)
}

# MUNGE's socket does not exist on these hosts, until with_munge.
without_munge() {
  for host in n1 n2; do "$CLUSTER" on "$host" mv /run/munge/munge.socket.2 /run/munge/away; done
}

with_munge() {
  for host in n1 n2; do "$CLUSTER" on "$host" mv /run/munge/away /run/munge/munge.socket.2; done
}

@test "MUNGE, under srun without PMI and over ssh: nothing to set" {
  run -0 as_tester timeout 60 srun --mpi=none -N2 --ntasks-per-node=2 "$HPCBOOT_BIN" check
  [[ $output == *"met in the store at n1:"*", authenticated by MUNGE"*"ok: 4 ranks"* ]] || fail "$output"
  over_ssh
  [[ $output == *"met in the store at n1:"*", authenticated by MUNGE"*"ok: 2 ranks"* ]] || fail "$output"
}

@test "rank 0 listens at the address of its name, and at no other" {
  as_tester timeout 60 srun --mpi=none -N2 -n2 bash -c \
    "[ \$SLURM_PROCID = 0 ] || { sleep 1; ssh n1 ss -Hltn > listening; }; exec $HPCBOOT_BIN check" > out
  grep -q '^ok: 2 ranks' out || fail "$(cat out)"
  port=$(sed -n 's/^met in the store at n1:\([0-9]*\),.*/\1/p' out)
  [[ $(awk -v port=":$port" 'index($4, port) { print $4 }' listening) == "10.77.0.11:$port" ]] || fail "$(cat listening out)"
}

@test "a file that all ranks are given; one without it says what it lacks" {
  (umask 077; openssl rand -hex 32 > secret)
  chown "$(stat -c %u "$HPCBOOT_CLUSTER_DIR/home/tester")" secret
  over_ssh HPCBOOT_RENDEZVOUS_SECRET_FILE="$PWD/secret"
  [[ $output == *"authenticated by HPCBOOT_RENDEZVOUS_SECRET_FILE"*"ok: 2 ranks"* &&
    $output != *"$(cat secret)"* ]] || fail "$output"
  chmod 644 secret
  over_ssh HPCBOOT_RENDEZVOUS_SECRET_FILE="$PWD/secret"
  [[ $output == *"error 27 "*"open to others"*"chmod 600"* ]] || fail "$output"
}

# Outside a scheduler's jobs the key comes first: each lab machine may have its own MUNGE.
@test "a key in the user's home: in a job if MUNGE does not answer, elsewhere before it" {
  printf '%s\n' n1 n2 > nodes
  pbs_job=(PBS_ENVIRONMENT=PBS_BATCH PBS_JOBID=7.n0 PBS_NODEFILE="$PWD/nodes")
  as_tester bash -c 'umask 077; mkdir -p ~/.config/hpcboot; openssl rand -hex 32 > ~/.config/hpcboot/rendezvous.key'
  over_ssh
  [[ $output == *"authenticated by the key file of this user"*"ok: 2 ranks"* &&
    $output != *"$(cat "$key")"* ]] || fail "$output"
  over_ssh "${pbs_job[@]}"
  [[ $output == *"authenticated by MUNGE"*"ok: 2 ranks"* ]] || fail "$output"
  without_munge
  over_ssh "${pbs_job[@]}"
  with_munge
  [[ $output == *"authenticated by the key file of this user"*"ok: 2 ranks"* ]] || fail "$output"
}

@test "without any secret the ranks meet, with a warning; a rank that has one follows nobody without" {
  without_munge
  over_ssh
  plain=$output
  for rank in 0 1; do # only rank 1 has a key: in a home of its own
    mkdir -p "home$rank/.config/hpcboot"
  done
  (umask 077; openssl rand -hex 32 > home1/.config/hpcboot/rendezvous.key)
  chown -R "$(stat -c %u "$HPCBOOT_CLUSTER_DIR/home/tester")" home0 home1
  for rank in 0 1; do
    "$CLUSTER" as tester "n$((rank + 1))" env HOME="$PWD/home$rank" HPCBOOT_RANK=$rank HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 \
      HPCBOOT_LOCAL_SIZE=1 HPCBOOT_NUM_NODES=2 HPCBOOT_NODE_RANK=$rank HPCBOOT_MASTER_ADDR=n1 \
      timeout 60 "$HPCBOOT_BIN" check --timeout 3 > "rank$rank" 2>&1 &
  done
  wait
  with_munge
  [[ $plain == *"note: the ranks share no secret"*"authenticated by no secret"*"ok: 2 ranks"* ]] || fail "$plain"
  [[ $(cat rank1) == *"error 32 "*"has no secret to prove that it is rank 0, but this host has"* ]] || fail "$(cat rank1)"
  [[ $(cat rank0) == *"wrong: rank 1 of 2 is missing"* ]] || fail "$(cat rank0)"
}

# Another user of n1 holds the port that rank 0 tries first, and answers every connection.
@test "a stranger at the first port, and one who claims to be rank 1, delay and mislead nobody" {
  over_ssh
  port=$(sed -n 's/^met in the store at n1:\([0-9]*\),.*/\1/p' rank0)
  "$CLUSTER" on n1 setpriv --reuid 65534 --regid 65534 --clear-groups python3 - "$port" << 'PY' &
import socket, sys
listener = socket.create_server(("10.77.0.11", int(sys.argv[1])))
listener.settimeout(40)
kept = []
while True:
    try:
        peer, _ = listener.accept()
    except TimeoutError:
        break
    peer.sendall(b"hpcboot\x01" + bytes(35))
    kept.append(peer)
PY
  stranger=$!
  sleep 1
  over_ssh
  kill "$stranger"
  [[ $output == *"ok: 2 ranks"* && $output != *"n1:$port,"* ]] || fail "$output"
}

# As in a launch of thousands: rank 0 would lack descriptors for all, so each host has a relay. Rank 2 is n2's relay.
@test "few descriptors: each host has one connection, and without the rank that has it the others go on to rank 0" {
  trainer=${HPCBOOT_BIN%/*}/trainer
  [[ -x $trainer ]] || skip "the trainer was built without LibTorch"
  for mpi in none pmix; do
    run -0 as_tester timeout 60 srun --mpi=$mpi -N2 --ntasks-per-node=2 bash -c "ulimit -n 70; exec $HPCBOOT_BIN check"
    [[ $output == *"ok: 4 ranks"* ]] || fail "$mpi: $output"
  done
  as_tester timeout 100 srun --mpi=none -N2 --ntasks-per-node=2 bash -c "ulimit -n 70; exec $trainer --mode ddp \
    --model mnistnet --data synthetic:6400x1x28x28 --batch-size 32 --epochs 100000 --device cpu --threads 1 --runs-dir $PWD/runs" > out 2>&1 &
  job=$!
  await grep -q "^first step done" out
  grep -h "store at" runs/*/rank_*.log > places
  [[ $(grep -c "store at n1:[0-9]*, authenticated by MUNGE" places) == 2 &&
    $(grep -c "through this host's relay" places) == 2 ]] ||
    fail "$(cat places)"
  pid=$(sed -n 's/^rank 2 of 4: host n2, pid \([0-9]*\),.*/\1/p' out)
  "$CLUSTER" on n2 kill -9 "$pid"
  wait "$job" && fail "the job ended as if nothing had happened"
  grep -q "trainer: rank 3 of 4 on n2" out && grep -q "rank 2 of 4 on n2 (pid $pid) has left" out || fail "$(cat out)"
}

# Open MPI 4.1.8 has its own PMIx, which does not support a second client in one process: MPI_Init hung.
@test "exec of an MPI program under Open MPI 4.1.8 on two hosts, five times" {
  launcher=$(realpath "$BATS_TEST_DIRNAME/../..")/.deps/launchers/openmpi-4.1.8
  [[ -x $launcher/bin/mpirun ]] || "$BATS_TEST_DIRNAME/get-launchers" openmpi-4.1.8 > download 2>&1 || skip "$(tail -n 1 download)"
  cat > program.c << 'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
  int rank, size, sum;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %d\n", rank, size, sum);
  MPI_Finalize();
  return 0;
}
C
  OPAL_PREFIX=$launcher "$launcher/bin/mpicc" program.c -o program
  for i in 1 2 3 4 5; do
    # On a busy machine, mpirun may warn that a child was faster than its setpgid().
    run -0 --separate-stderr "$CLUSTER" as tester n1 env OPAL_PREFIX="$launcher" LD_LIBRARY_PATH="$launcher/lib" \
      timeout 30 "$launcher/bin/mpirun" --prefix "$launcher" -x LD_LIBRARY_PATH -x OPAL_PREFIX --host n1:1,n2:1 -n 2 \
      "$HPCBOOT_BIN" exec -- ./program
    [[ $(sort <<< "$output") == $'0 of 2: 1\n1 of 2: 1' ]] || fail "$i: $output $stderr"
  done
}
