#!/usr/bin/env bats
# `hpcboot exec`: programs of several kinds under real launchers, and alone.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  export HPCBOOT OMP_NUM_THREADS=1
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

# A bare PMIx server (like prterun's): Open MPI's, without Open MPI's own variables.
bare_pmix() {
  open_mpi "${@:1:2}" env -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_LOCAL_RANK \
    -u OMPI_COMM_WORLD_LOCAL_SIZE "${@:3}"
}

hydra() {
  command -v mpiexec.hydra > /dev/null || skip "mpiexec.hydra is not here"
  timeout 60 mpiexec.hydra "$@"
}

identity='echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE; echo at $MASTER_ADDR $MASTER_PORT'

# two_ranks LAUNCHER: both know their rank, and agree on the endpoint.
two_ranks() {
  run --separate-stderr "$1" -n 2 "$HPCBOOT" exec -- sh -c "$identity"
  [ "$status" -eq 0 ]
  [ "$(grep -v '^at' <<<"$output" | sort)" = $'0 2 0 2 0 1\n1 2 1 2 0 1' ]
  [ "$(grep '^at' <<<"$output" | sort -u | grep -Ec '^at [0-9a-f.:]+ [0-9]+$')" -eq 1 ]
  [ "$(grep '^at' <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "two ranks under mpirun" { two_ranks open_mpi; }
@test "two ranks under Hydra, which exchange the port over PMI-1" { two_ranks hydra; }

# at_once COMMAND…: runs it for the launches a and b at the same time; each has a port of its own, which its ranks share.
at_once() {
  local jobs=()
  for LAUNCH in a b; do
    export LAUNCH
    "$@" >"$BATS_TEST_TMPDIR/$LAUNCH" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job"; done
  sort -u "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" >"$BATS_TEST_TMPDIR/both"
  [ "$(cut -d' ' -f1 "$BATS_TEST_TMPDIR/both" | xargs)" = "a b" ] || fail "a launch has two ports" "$(cat "$BATS_TEST_TMPDIR/both")"
  [ "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/both" | sort -u | wc -l)" -eq 2 ] || fail "one port for both" "$(cat "$BATS_TEST_TMPDIR/both")"
}

# shellcheck disable=SC2016 # expanded by the program's shell
own_port='echo $LAUNCH $MASTER_PORT'

@test "two launches of Hydra in one job have ports of their own, also under hpcboot run" {
  command -v mpiexec.hydra >/dev/null || skip "mpiexec.hydra is not here"
  cd "$BATS_TEST_TMPDIR"
  hostname >nodes
  hostname >>nodes
  export PBS_JOBID=7.server PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE=$PWD/nodes
  at_once timeout 60 mpiexec.hydra -n 2 "$HPCBOOT" exec -- sh -c "$own_port"
  mkdir bin
  printf '#!/bin/sh\nexec mpiexec.hydra "$@"\n' >bin/mpirun
  chmod +x bin/mpirun
  PATH=$PWD/bin:$PATH at_once timeout 60 "$HPCBOOT" run --launcher mpirun -n 2 -- sh -c "$own_port"
}

@test "launches on one host at the same time do not exchange ranks, if their launcher tells them apart" {
  horovod() {
    [ "$LAUNCH" = a ] && export HOROVOD_GLOO_RENDEZVOUS_PORT=41001 || export HOROVOD_GLOO_RENDEZVOUS_PORT=41002
    by_hand HOROVOD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}
  }
  mpirun_rsh() {
    [ "$LAUNCH" = a ] && export MPIRUN_ID=4001 || export MPIRUN_ID=4002
    by_hand MV2_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}
  }
  # by_hand RANK SIZE LOCAL_RANK LOCAL_SIZE: two ranks with these variables. Rank 0 of a is early, and so is rank 1 of b.
  by_hand() {
    local rank jobs=() order=(0 1)
    [ "$LAUNCH" = a ] || order=(1 0)
    for rank in "${order[@]}"; do
      env "$1=$rank" "$2=2" "$3=$rank" "$4=2" timeout 60 "$HPCBOOT" exec -- sh -c "$own_port" &
      jobs+=($!)
      sleep 0.5
    done
    for rank in "${jobs[@]}"; do wait "$rank"; done
  }
  at_once horovod
  at_once mpirun_rsh
}

@test "two ranks under a bare PMIx server, which gives them their rank" { two_ranks bare_pmix; }

@test "two ranks in a shared folder" {
  export HPCBOOT_EXCHANGE_DIR=$BATS_TEST_TMPDIR HPCBOOT_WORLD_SIZE=2
  for rank in 0 1; do
    HPCBOOT_RANK=$rank HPCBOOT_LOCAL_RANK=$rank timeout 60 "$HPCBOOT" exec -- sh -c "$identity" > "$BATS_TEST_TMPDIR/out.$rank" &
  done
  wait
  [ "$(grep -h -v '^at' "$BATS_TEST_TMPDIR"/out.* | sort)" = $'0 2 0 2 0 1\n1 2 1 2 0 1' ]
  [ "$(grep -h '^at' "$BATS_TEST_TMPDIR"/out.* | sort -u | wc -l)" -eq 1 ]
  [ "$(ls "$BATS_TEST_TMPDIR")" = $'out.0\nout.1' ]
}

@test "alone, the program is rank 0 of 1, whatever was set before" {
  run --separate-stderr env -i PATH="$PATH" LOCAL_WORLD_SIZE=7 GROUP_RANK=3 "$HPCBOOT" exec -- sh -c "$identity"
  [ "$status" -eq 0 ]
  [[ $output =~ ^'0 1 0 1 0 1'$'\n''at 127.0.0.1 '[0-9]+$ ]]
}

@test "alone, the address and the port that the user chose are kept, as by env" {
  for asked in HPCBOOT_MASTER_PORT=29512 HPCBOOT_MASTER_ADDR=127.0.0.9 'HPCBOOT_MASTER_ADDR=127.0.0.9 HPCBOOT_MASTER_PORT=29512'; do
    for command in 'exec "$0" exec -- sh -c "echo \$MASTER_ADDR:\$MASTER_PORT"' 'eval "$("$0" env)"; echo "$MASTER_ADDR:$MASTER_PORT"'; do
      # shellcheck disable=SC2086 # a list of variables
      run -0 --separate-stderr env -i PATH="$PATH" $asked sh -c "$command" "$HPCBOOT"
      [[ $asked == *ADDR* || $output == 127.0.0.1:* ]] || fail "$asked: $output"
      [[ $asked != *ADDR* || $output == 127.0.0.9:* ]] || fail "$asked: $output"
      [[ $asked != *PORT* || $output == *:29512 ]] || fail "$asked: $output"
    done
  done
}

@test "alone, a hint does not keep the program from being rank 0 of 1" {
  run --separate-stderr env -i PATH="$PATH" CUDA_VISIBLE_DEVICES=0,0 "$HPCBOOT" exec -- sh -c "$identity"
  [[ $output == '0 1 0 1 0 1'* && $stderr == *"'0' is listed twice"* ]]
}

@test "in the script of a job with several tasks RANK stays unset, with a hint" {
  run --separate-stderr env -i PATH="$PATH" SLURM_JOB_ID=7 SLURM_JOB_NODELIST="$(hostname)" SLURM_NTASKS=4 \
    "$HPCBOOT" exec -- sh -c 'echo "${RANK-unset} ${WORLD_SIZE-unset} $MASTER_ADDR"'
  [ "$status" -eq 0 ]
  [ "$output" = "unset unset $(hostname)" ]
  [[ $stderr == *"hint: 4 tasks were requested, but this process is not one of them: use srun hpcboot exec …"* ]]
}

@test "the exit code is the program's; 126, 127 and 2 without one" {
  run env -i PATH="$PATH" "$HPCBOOT" exec -- sh -c 'exit 42'
  [ "$status" -eq 42 ]
  run -127 env -i PATH="$PATH" "$HPCBOOT" exec -- /nonexistent/program
  [[ $output == *"/nonexistent/program"* ]]
  run -126 env -i PATH="$PATH" "$HPCBOOT" exec -- /etc/passwd
  for arguments in 'ls' '--' '' '--timeout 0 -- ls' '--timeout x -- ls' '--nonsense -- ls'; do
    # shellcheck disable=SC2086 # a list of words
    run -2 "$HPCBOOT" exec $arguments
  done
}

@test "options after -- are the program's" {
  run -0 env -i PATH="$PATH" "$HPCBOOT" exec -- echo --help -- --version
  [ "$output" = "--help -- --version" ]
}

# bound ARGUMENTS… : the masks that the program of local rank 1 of 2 sees; arguments are variables and options.
bound() {
  local variables=() options=()
  while (($# > 0)); do
    case $1 in
      --*) options+=("$1" "$2"); shift ;;
      *) variables+=("$1") ;;
    esac
    shift
  done
  run --separate-stderr env -i PATH="$PATH" HPCBOOT_RANK=1 HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=1 HPCBOOT_LOCAL_SIZE=2 \
    HPCBOOT_MASTER_ADDR=n1 HPCBOOT_MASTER_PORT=20001 "${variables[@]}" "$HPCBOOT" exec "${options[@]}" -- \
    sh -c 'for name in CUDA HIP ROCR; do eval "echo $name=\${${name}_VISIBLE_DEVICES-unset}"; done; echo "ZE=${ZE_AFFINITY_MASK-unset} $LOCAL_RANK"'
  [ "$status" -eq 0 ]
}

@test "--gpu-bind auto leaves the program its own device, by the name that the launcher's mask has" {
  bound --gpu-bind auto CUDA_VISIBLE_DEVICES=GPU-a,GPU-b
  [ "$output" = $'CUDA=GPU-b\nHIP=unset\nROCR=unset\nZE=unset 1' ]
  bound --gpu-bind auto CUDA_VISIBLE_DEVICES=MIG-a,MIG-b
  [ "${lines[0]}" = CUDA=MIG-b ]
  [[ $stderr != *"only the first"* ]] # no hint about what this option fixes
  bound --gpu-bind auto CUDA_VISIBLE_DEVICES=2,3 HPCBOOT_DEVICE_ORDER=reverse
  [ "${lines[0]}" = CUDA=2 ]
  bound --gpu-bind auto ROCR_VISIBLE_DEVICES=4,5
  [ "$output" = $'CUDA=unset\nHIP=unset\nROCR=5\nZE=unset 1' ]
  bound --gpu-bind auto ROCR_VISIBLE_DEVICES=4,5 HIP_VISIBLE_DEVICES=0,1
  [ "$output" = $'CUDA=unset\nHIP=1\nROCR=4,5\nZE=unset 1' ]
  bound --gpu-bind auto ZE_AFFINITY_MASK=0.0,0.1
  [ "$output" = $'CUDA=unset\nHIP=unset\nROCR=unset\nZE=0.1 1' ]
}

@test "--gpu-bind auto leaves alone what the launcher bound, and --gpu-bind none, the default, everything" {
  bound --gpu-bind auto CUDA_VISIBLE_DEVICES=3
  [ "${lines[0]}" = CUDA=3 ]
  bound --gpu-bind auto CUDA_VISIBLE_DEVICES=
  [ "${lines[0]}" = CUDA= ]
  for options in '' '--gpu-bind none'; do
    # shellcheck disable=SC2086 # a list of words
    bound $options CUDA_VISIBLE_DEVICES=0,1 ZE_AFFINITY_MASK=0.0,0.1
    [ "$output" = $'CUDA=0,1\nHIP=unset\nROCR=unset\nZE=0.0,0.1 1' ]
  done
  bound CUDA_VISIBLE_DEVICES=MIG-a,MIG-b
  [[ $stderr == *"only the first of the "*"hpcboot exec --gpu-bind auto"* ]]
  run -2 "$HPCBOOT" exec --gpu-bind closest -- true
}

@test "--gpu-bind auto in the script of a job with several tasks leaves the tasks their devices" {
  run --separate-stderr env -i PATH="$PATH" SLURM_JOB_ID=7 SLURM_JOB_NODELIST="$(hostname)" SLURM_NTASKS=4 \
    CUDA_VISIBLE_DEVICES=0,1,2,3 "$HPCBOOT" exec --gpu-bind auto -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
  [ "$output" = 0,1,2,3 ]
}

@test "interfaces that the user set for NCCL or Gloo are kept" {
  run --separate-stderr env -i PATH="$PATH" HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=1 HPCBOOT_LOCAL_RANK=0 HPCBOOT_INTERFACE=lo \
    NCCL_SOCKET_IFNAME=^docker "$HPCBOOT" exec -- sh -c 'echo "$NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME"'
  [ "$output" = "^docker lo" ]
  run --separate-stderr env -i PATH="$PATH" HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=1 HPCBOOT_LOCAL_RANK=0 HPCBOOT_INTERFACE=lo \
    GLOO_SOCKET_IFNAME=eth7 "$HPCBOOT" exec -- sh -c 'echo "$NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME"'
  [ "$output" = "=lo eth7" ]
}

@test "without an endpoint and an exchange it says what would help" {
  run --separate-stderr env -i PATH="$PATH" HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 "$HPCBOOT" exec -- true
  [ "$status" -eq 29 ]
  [[ $stderr == *HPCBOOT_EXCHANGE_DIR*HPCBOOT_MASTER_ADDR* ]]
}

@test "a rank that never comes is an error within the deadline" {
  SECONDS=0
  run --separate-stderr env -i PATH="$PATH" HPCBOOT_EXCHANGE_DIR="$BATS_TEST_TMPDIR" HPCBOOT_RANK=0 \
    HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 timeout 30 "$HPCBOOT" exec --timeout 1 -- true
  [ "$status" -eq 32 ]
  [[ $stderr == *"rank 1 did not arrive at "* ]]
  [ "$SECONDS" -lt 20 ]
}

@test "a rank of Hydra may end before the others, and no process of hpcboot remains" {
  run --separate-stderr hydra -n 3 "$HPCBOOT" exec -- sh -c '[ $RANK = 1 ] || sleep 1; echo $RANK' "$BATS_TEST_TMPDIR"
  [ "$status" -eq 0 ]
  [ "$(sort <<<"$output" | xargs)" = "0 1 2" ]
  none_of_hpcboot() { ! pgrep -f "exec.*$BATS_TEST_TMPDIR" > /dev/null; }
  await none_of_hpcboot || { pgrep -af "exec.*$BATS_TEST_TMPDIR"; return 1; }
}

@test "Flux hears nothing from a task that has ended: it would end the job" {
  run env -i PATH="$PATH" timeout 60 /usr/bin/python3 "$BATS_TEST_DIRNAME/../support/flux_shell.py" 2 "$HPCBOOT" exec -- \
    sh -c 'echo $RANK'
  [ "$status" -eq 0 ]
  [ "$(grep -x '[01]' <<<"$output" | sort | xargs)" = "0 1" ]
}

@test "an all-reduce of torch.distributed, with no variable set by hand" {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "/usr/bin/python3 has no torch"
  cat > "$BATS_TEST_TMPDIR/reduce.py" <<'PY'
import os, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method="env://")
value = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(value)
os.write(1, f"{dist.get_rank()} of {dist.get_world_size()}: {value.item():g}\n".encode())
PY
  for launcher in open_mpi hydra; do
    run --separate-stderr $launcher -n 2 "$HPCBOOT" exec -- /usr/bin/python3 "$BATS_TEST_TMPDIR/reduce.py"
    [ "$status" -eq 0 ]
    [[ $output == *"0 of 2: 3"* && $output == *"1 of 2: 3"* ]]
  done
}

@test "a program of Open MPI starts under it, also after an exchange by PMIx" {
  command -v mpicc > /dev/null || skip "mpicc is not here"
  cat > "$BATS_TEST_TMPDIR/hello.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d: %d\n", rank, sum);
  return MPI_Finalize();
}
C
  mpicc -o "$BATS_TEST_TMPDIR/hello" "$BATS_TEST_TMPDIR/hello.c"
  for launcher in open_mpi bare_pmix; do
    run --separate-stderr $launcher -n 2 "$HPCBOOT" exec -- "$BATS_TEST_TMPDIR/hello"
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = $'0: 1\n1: 1' ]
  done
}

@test "a program of MPICH starts under it, after an exchange by PMI-1" {
  # Through MPICH's ABI, whose handles are numbers: its headers are rarely installed beside Open MPI's.
  /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libmpich.so.12")' 2>/dev/null || skip "libmpich.so.12 is not here"
  cat > "$BATS_TEST_TMPDIR/hello.py" <<'PY'
import ctypes, os
mpi = ctypes.CDLL("libmpich.so.12")
world, of_int, add = ctypes.c_int(0x44000000), ctypes.c_int(0x4C000405), ctypes.c_int(0x58000003)
rank, total = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, of_int, add, world)
# In one write: with PYTHONUNBUFFERED, the line and its end are two, and Hydra may mix in another rank's.
os.write(1, f"{rank.value}: {total.value}\n".encode())
mpi.MPI_Finalize()
PY
  run --separate-stderr hydra -n 3 "$HPCBOOT" exec -- /usr/bin/python3 "$BATS_TEST_TMPDIR/hello.py"
  [ "$status" -eq 0 ]
  [ "$(sort <<<"$output")" = $'0: 3\n1: 3\n2: 3' ]
}
