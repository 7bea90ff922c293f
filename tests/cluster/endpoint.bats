#!/usr/bin/env bats
# Where rank 0 is: ranks on two hosts really meet with `hpcboot exec` and `check` on networks with pitfalls, with a stale
# MASTER_ADDR, in parallel steps and in a requeued job.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output and stderr in the test's own shell

load helper

setup_file() {
  start_for_show --decoy-docker0 --loopback-name --second-network
  export MEET=$BATS_TEST_DIRNAME/lib/meet.py ALL_REDUCE=$BATS_TEST_DIRNAME/lib/all_reduce.py
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

teardown() {
  end_jobs
}

# launched FORM CMD…: the output of the four ranks, sorted.
launched() {
  rm -f n*.*
  as_tester timeout 60 "$BATS_TEST_DIRNAME/lib/launch.sh" "$1" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" "${@:2}"
  sort n*.*
}

# meets FORM HOSTS: a program under exec meets its peers; then `check` does. HOSTS is a pattern for the address of rank 0.
meets() {
  run -0 --separate-stderr launched "$1" "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $(cut -d' ' -f1,3 <<< "$output") == $'0 4\n1 4\n2 4\n3 4' ]] || fail "$output $stderr"
  run -0 --separate-stderr launched "$1" "$HPCBOOT_BIN" check
  [[ $output =~ 'ok: 4 ranks, launcher '[a-z]+', master '$2:[0-9]+ ]] || fail "$output $stderr"
  [[ $(grep -Eo 'hsn0 +10\.78\.0\.[0-9]+' <<< "$output" | tr -s ' ' | xargs) == \
    "hsn0 10.78.0.11 hsn0 10.78.0.11 hsn0 10.78.0.12 hsn0 10.78.0.12" ]] || fail "$output $stderr"
}

# stepped VARIABLE=VALUE… -- CMD…: runs CMD as two tasks on two hosts, in an environment with these variables.
stepped() {
  local variables=()
  while [[ $1 != -- ]]; do
    variables+=("$1")
    shift
  done
  run as_tester env "${variables[@]}" timeout 60 srun -N2 -n2 "${@:2}"
}

@test "the network is as bad as it should be" {
  run -0 "$CLUSTER" as tester n1 bash -c 'getent ahostsv4 n1; ip -o -4 addr'
  [[ $output == *127.0.1.1* && $output == *docker0*172.17.0.1/16* && $output == *eth0*10.77.0.11/24* &&
    $output == *hsn0*10.78.0.11/24* ]]
}

@test "srun: ranks meet by the host's name, though it means 127.0.1.1 on the host itself" { meets srun_none_2x2 n1; }
@test "srun --mpi=pmix: the same" { meets srun_pmix_2x2 n1; }
@test "mpirun over ssh: ranks meet at rank 0's address on the faster network" { meets ssh_mpirun_2x2 10.78.0.11; }
@test "sbatch and mpirun: the same" { meets sbatch_mpirun_2x2 10.78.0.11; }
@test "Hydra over ssh: the same" { meets ssh_hydra_2x2 10.78.0.11; }

# PBS as OpenPBS sets it: its variables and its nodefile are on the first host only, unless the launcher passes them on.
@test "mpirun and Hydra over ssh in a PBS job, of which only the first host's ranks know" {
  printf '%s\n' n1 n1 n2 n2 > nodes
  for launcher in 'mpirun.openmpi --host n1:2,n2:2' 'mpiexec.hydra -hosts n1:2,n2:2 -n 4'; do
    # shellcheck disable=SC2086 # a list of words
    set -- "$CLUSTER" as tester n1 env PBS_JOBID=7.pbs PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE=/tmp/nodes timeout 60 $launcher
    "$CLUSTER" as tester n1 cp "$PWD/nodes" /tmp/nodes
    run -0 --separate-stderr "$@" "$HPCBOOT_BIN" exec -- "$MEET"
    [[ $(sort <<< "$output") == $'0 10.78.0.11 4\n1 10.78.0.11 4\n2 10.78.0.11 4\n3 10.78.0.11 4' ]] || fail "$output $stderr"
    run -0 --separate-stderr "$@" "$HPCBOOT_BIN" check
    [[ $output == *"ok: 4 ranks, launcher "*"master 10.78.0.11:"* ]] || fail "$output $stderr"
  done
}

@test "mpirun over ssh with a MASTER_ADDR that only the first host's ranks inherit" {
  set -- "$CLUSTER" as tester n1 env MASTER_ADDR=n1 MASTER_PORT=25996 timeout 60 mpirun.openmpi --host n1:1,n2:1
  run -0 --separate-stderr "$@" bash -c 'echo "$(hostname) $MASTER_ADDR"'
  [[ $(sort <<< "$output") == $'n1 n1\nn2 ' ]] || fail "$output $stderr"
  run -0 --separate-stderr "$@" "$HPCBOOT_BIN" exec -- bash -c '"$0" && echo "$MASTER_ADDR $MASTER_PORT"' "$MEET"
  [[ $(grep -c '^n1 25996$' <<< "$output") == 2 && $(grep -c ' 2$' <<< "$output") == 2 ]] || fail "$output $stderr"
  run -0 --separate-stderr "$@" "$HPCBOOT_BIN" check
  [[ $output == *"ok: 2 ranks, launcher openmpi, master n1:25996"* ]] || fail "$output $stderr"
}

@test "two networks: a suffix of host names chooses the one, HPCBOOT_INTERFACE the other" {
  stepped HPCBOOT_HOST_SUFFIX=-hsn -- "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $status == 0 && $(sort <<< "$output") == $'0 10.78.0.11 2\n1 10.78.0.11 2' ]] || fail "$output"
  stepped HPCBOOT_HOST_SUFFIX=-hsn -- "$HPCBOOT_BIN" check
  [[ $status == 0 && $output == *"master n1-hsn:"* ]] || fail "$output"
  run -0 --separate-stderr as_tester mpirun.openmpi --host n1:1,n2:1 -x HPCBOOT_INTERFACE=eth0 "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $(sort <<< "$output") == $'0 10.77.0.11 2\n1 10.77.0.11 2' ]] || fail "$output"
}

@test "NCCL and Gloo are told the interface that was chosen, and the one that the user chose stays" {
  run -0 launched srun_none_2x2 "$HPCBOOT_BIN" exec -- bash -c 'echo "$NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME"'
  [[ $(sort -u <<< "$output") == "=hsn0 hsn0" ]] || fail "$output"
  stepped GLOO_SOCKET_IFNAME=eth0 -- "$HPCBOOT_BIN" exec -- bash -c 'echo "$NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME"'
  [[ $(sort -u <<< "$output") == "=eth0 eth0" ]] || fail "$output"
  run -0 --separate-stderr as_tester mpirun.openmpi --host n1:1,n2:1 -x GLOO_SOCKET_IFNAME=eth0 "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $(sort <<< "$output") == $'0 10.77.0.11 2\n1 10.77.0.11 2' ]] || fail "$output"
}

@test "a name that does not resolve is told in time, with what to do" {
  stepped HPCBOOT_MASTER_ADDR=nowhere -- "$HPCBOOT_BIN" check --timeout 2
  [[ $status != 0 && $output == *"error 32 "*"rank 1 on n2 did not find rank 0 within "*"s: nowhere:"*"name resolution"*HPCBOOT_MASTER_ADDR* ]] || fail "$status $output"
  # n2 cannot resolve n1: srun's names fail there, an address does not, and mpirun's ranks exchange an address.
  "$CLUSTER" on n2 bash -c 'cp /etc/hosts /run/hosts.kept && grep -v " n1$" /run/hosts.kept > /etc/hosts'
  run -2 "$CLUSTER" on n2 getent hosts n1
  stepped A=1 -- "$HPCBOOT_BIN" check --timeout 2
  [[ $status != 0 && $output == *"error 32 "*"rank 1 on n2 did not find rank 0 within "*"s: n1:"* ]] || fail "$status $output"
  stepped HPCBOOT_MASTER_ADDR=10.77.0.11 -- "$HPCBOOT_BIN" check
  [[ $status == 0 ]] || fail "$output"
  run -0 --separate-stderr as_tester mpirun.openmpi --host n1:1,n2:1 "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $(sort <<< "$output") == $'0 10.78.0.11 2\n1 10.78.0.11 2' ]] || fail "$output"
  "$CLUSTER" on n2 bash -c 'cat /run/hosts.kept > /etc/hosts'
}

@test "a port in use is reported, with what to do; ranks that ask each other get another" {
  "$CLUSTER" as tester n1 python3 "$BATS_TEST_DIRNAME/../support/hold_port.py" 25999 > holds 3>&- &
  await grep -qx ready holds
  stepped HPCBOOT_MASTER_PORT=25999 -- "$HPCBOOT_BIN" check --timeout 2
  [[ $status != 0 && $output == *"error 31 "*"port 25999 of this host is taken"*HPCBOOT_MASTER_PORT* ]] || fail "$status $output"
  stepped A=1 -- "$HPCBOOT_BIN" check
  [[ $status == 0 ]] || fail "$output"
  run -0 --separate-stderr as_tester mpirun.openmpi --host n1:1,n2:1 "$HPCBOOT_BIN" exec -- "$MEET"
}

@test "a MASTER_ADDR left over is an error under every launcher, one that is right is taken" {
  for stale in n0 n2 127.0.0.1 10.77.0.12; do
    stepped MASTER_ADDR=$stale -- "$HPCBOOT_BIN" check --timeout 2
    [[ $status != 0 && $output == *"error 34 "*"MASTER_ADDR=$stale"*"unset MASTER_ADDR"* ]] || fail "$status $output"
  done
  run as_tester timeout 60 mpirun.openmpi --host n1:1,n2:1 -x MASTER_ADDR=127.0.0.1 "$HPCBOOT_BIN" exec -- "$MEET"
  [[ $status != 0 && $output == *"error 34 "*"MASTER_ADDR=127.0.0.1"* ]] || fail "$status $output"
  for right in n1 n1-hsn 10.77.0.11; do
    stepped MASTER_ADDR=$right MASTER_PORT=25998 -- "$HPCBOOT_BIN" exec -- "$MEET"
    [[ $status == 0 && $(cut -d' ' -f1,3 <<< "$output" | sort) == $'0 2\n1 2' ]] || fail "$status $output"
  done
}

@test "two steps of one job at once do not meet each other" {
  mkdir -m 1777 a b
  as_tester timeout 60 salloc --quiet -N2 --ntasks-per-node=2 bash -c '
    for dir in a b; do srun --overlap -N2 -n2 "$0" "$dir" "$@" & pids+=($!); done
    wait "${pids[0]}" && wait "${pids[1]}"' \
    "$BATS_TEST_DIRNAME/lib/record.sh" "$HPCBOOT_BIN" exec -- bash -c 'sleep 0.5; "$0"; echo "port $MASTER_PORT"' "$MEET"
  for dir in a b; do
    run -0 sort -u "$dir"/n*
    [[ $(cut -d' ' -f1,3 <<< "$output") == $'0 2\n1 2\nport' ]] || fail "$output"
  done
  [[ $(cat a/* | grep port | sort -u) != $(cat b/* | grep port | sort -u) ]] || fail "one port: $(cat a/*)"
}

@test "a requeued job meets elsewhere than its first run" {
  cat > job.sh << 'JOB'
#!/bin/bash
srun "$@" > "out.${SLURM_RESTART_COUNT:-0}" 2>&1
[ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue "$SLURM_JOB_ID"; sleep 60; }
JOB
  as_tester sbatch --quiet -N2 --ntasks-per-node=1 --output=job.log job.sh "$HPCBOOT_BIN" check
  await grep -qs '^ok:' out.1 || true
  grep -ho '^ok: 2 ranks, launcher slurm, master n1:[0-9]*' out.0 out.1 > met || fail "$(cat out.* job.log)"
  [[ $(wc -l < met) == 2 && $(sort -u met | wc -l) == 2 ]] || fail "$(cat met)"
}

# A launcher that does not know the scheduler starts everything on the first host.
@test "check names a host of the job that no rank arrived from: a note, an error with --whole-job" {
  cat > job.sh << 'JOB'
#!/bin/bash
mpirun --host "$(hostname)" --oversubscribe -n 4 "$@" > "$OUT" 2>&1
echo "rc=$?" >> "$OUT"
JOB
  for option in "" --whole-job; do
    # shellcheck disable=SC2086 # no word for no option
    as_tester env OUT="out$option" sbatch --quiet --wait -N2 --ntasks-per-node=2 --output=job.log job.sh "$HPCBOOT_BIN" check $option || true
  done
  grep -q '^note: no rank arrived from n2: the job has 2 hosts, and 4 ranks arrived from 1' out || fail "$(cat out job.log)"
  grep -q '^note: host n1 is oversubscribed: 4 ranks, 2 slots' out || fail "$(cat out)"
  grep -qx 'rc=0' out || fail "$(cat out)"
  grep -q '^wrong: no rank arrived from n2' out--whole-job || fail "$(cat out--whole-job)"
  grep -qx 'rc=1' out--whole-job || fail "$(cat out--whole-job)"
}

# Gloo without GLOO_SOCKET_IFNAME would use the address of the host's own name here, 127.0.1.1.
@test "PyTorch all-reduces over two hosts under exec, and under torchrun whose agent serves the store" {
  "$CLUSTER" as tester n0 /usr/bin/python3 -c 'import torch' 2> /dev/null || skip "/usr/bin/python3 has no torch"
  stepped OMP_NUM_THREADS=1 -- "$HPCBOOT_BIN" exec -- /usr/bin/python3 "$ALL_REDUCE"
  [[ $status == 0 && $(grep ' of ' <<< "$output" | sort) == $'0 of 2: 3\n1 of 2: 3' ]] || fail "$status $output"
  stepped OMP_NUM_THREADS=1 -- bash -c 'exec /usr/bin/python3 -m torch.distributed.run --redirects=2 --tee=2 --no_python \
    --nnodes=2 --nproc_per_node=1 --node_rank="$SLURM_PROCID" --master_addr=n1 --master_port=25997 \
    bash -c "echo agent=\$TORCHELASTIC_USE_AGENT_STORE; exec $0 exec -- /usr/bin/python3 $1"' "$HPCBOOT_BIN" "$ALL_REDUCE"
  [[ $status == 0 && $(grep -c 'agent=True' <<< "$output") == 2 ]] || fail "$status $output"
  [[ $(grep -o '[01] of 2: 3' <<< "$output" | sort) == $'0 of 2: 3\n1 of 2: 3' ]] || fail "$status $output"
}
