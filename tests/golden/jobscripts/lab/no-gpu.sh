#!/bin/bash
# DDP over the devices of one node, at machines of a laboratory, over ssh
# (https://docs.open-mpi.org/en/main/launching-apps/ssh.html).
# Start it from hpcboot's folder:
#   bash no-gpu.sh [OPTION OF THE TRAINER…]
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin.
# Written by `hpcboot script --site lab --job ddp --gpus-per-node 0`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) lab ddp: $*" >&2; }
# stop WHAT REMEDY: the job cannot go on.
stop() {
  say "$1"
  say "do: $2"
  exit 1
}

ranks_per_node=${RANKS_PER_NODE:-2}
hostfile=
cores=$(nproc)
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=lab

bin=${HPCBOOT_BIN_DIR:-build/bin}
for program in trainer hpcboot runtable; do
  if ! [ -x "$bin/$program" ]; then
    say "there is no program $bin/$program in $PWD"
    say "do: submit from hpcboot's folder; where it is not built yet, on a login node:"
    say 'bash setup/quickstart.sh'
    exit 1
  fi
done

data=${DATA_DIR:-data/mnist}
# What the options name the trainer looks for itself, and synthetic data is nowhere.
case "$data $* ${TRAINER_ARGS-} " in
  synthetic:* | *" --data "* | *" --data="*) ;;
  *) [ -e "$data" ] || stop "there is no data in $data" "bash setup/get-mnist on a login node, or set DATA_DIR" ;;
esac
runs=${RUNS_DIR:-runs}
if ! mkdir -p "$runs" 2>/dev/null || ! [ -w "$runs" ]; then
  stop "$runs cannot be written" "submit from a folder that can be written in jobs, or set RUNS_DIR"
fi

# Programs on other hosts have an environment of their own: mpirun hands these on.
exports() {
  local name
  for name in PATH LD_LIBRARY_PATH OMP_NUM_THREADS HPCBOOT_SITE HPCBOOT_INTERFACE HPCBOOT_HOST_SUFFIX HPCBOOT_DEVICE_ORDER; do
    if [ -n "${!name-}" ]; then printf '%s\n' -x "$name"; fi
  done
}

# launch_mpirun NODES RANKS_PER_NODE COMMAND…: by Open MPI, else by Hydra (MPICH, Intel MPI).
launch_mpirun() {
  local nodes=$1 per_node=$2 options
  shift 2
  case $(mpirun --version 2>&1) in
    *"Open MPI"*)
      mapfile -t options < <(exports)
      options+=(--map-by "ppr:$per_node:node" --bind-to none)
      if [ -n "$hostfile" ]; then options+=(--hostfile "$hostfile"); fi
      ;;
    *)
      options=(-ppn "$per_node")
      if [ -n "$hostfile" ]; then options+=(-f "$hostfile"); fi
      ;;
  esac
  exec mpirun -np "$((nodes * per_node))" "${options[@]}" "$@"
}

# run COMMAND…: in the background, so that a signal to this script is passed on at once; its exit code
# is the command's.
child=
stopping=
pass_on() {
  stopping=$1
  say "signal $1 arrived; the training is told and waited for"
  # Always USR1: mpirun hands that on, while TERM makes it kill the ranks.
  if [ -n "$child" ]; then kill -s USR1 "$child" 2>/dev/null || true; fi
}
trap 'pass_on USR1' USR1
trap 'pass_on TERM' TERM INT
run() {
  local code=0
  "$@" &
  child=$!
  wait "$child" || code=$?
  # A signal interrupts wait; the command is still running then.
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  child=
  return "$code"
}

# queue_again: this very job starts once more, where that is allowed.
queue_again() { false; }

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("$bin/trainer")

code=0
run launch_mpirun 1 "$ranks_per_node" "${command[@]}" --mode ddp "${options[@]}" || code=$?
if [ -n "$stopping" ]; then say "ended by signal $stopping; what was reached is in the run's record"; fi
# 46: stopped in order, with a checkpoint that the same script goes on from. TERM cancels a job: such a one stays away.
if [ "$code" -eq 46 ] && [ "$stopping" != TERM ]; then
  say "the job is to be queued again"
  trap '' TERM # a scheduler that has taken it ends what runs
  queue_again || say "that is not possible here; submitted again with the same options and arguments it goes on from the checkpoint"
fi
exit "$code"
