#!/bin/bash -l
#$ -N hpcboot_multinode_mpirun
#$ -cwd
#$ -pe mpi 6
#$ -l h_rt=02:00:00,s_rt=01:58:00
#$ -l gpu=2
#$ -l h_vmem=16384M
#$ -q short
#$ -j y
#$ -r y
#$ -P acme-1
#$ -M me@hpc.invalid
#$ -m abe
#
# DDP over several nodes, started by mpirun, at a site of the user's own, with Grid Engine
# (https://example.org/sge).
# Submit it from hpcboot's folder:
#   qsub full.sh [OPTION OF THE TRAINER…]
# Project: qsub -P …; mail: qsub -M … -m abe.
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin.
# Written by `hpcboot script --site own_sge --job multinode_mpirun --nodes 3 --gpus-per-node 2 --time 02:00:00 --account acme-1 --mail me@hpc.invalid --set queue.name=short --set queue.requeue=true --set network.interface=ib0 --set 'container.image=${HOME}/hpcboot.sif' --set kubernetes.rdma_devices=1`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) own_sge multinode_mpirun: $*" >&2; }
# stop WHAT REMEDY: the job cannot go on.
stop() {
  say "$1"
  say "do: $2"
  exit 1
}

cd "${SGE_O_WORKDIR:-$PWD}"
ranks_per_node=${RANKS_PER_NODE:-2}
nodes=${NHOSTS:-3}
[ -r "${PE_HOSTFILE:-}" ] || stop "PE_HOSTFILE names no file that can be read" "start this script with qsub"
hostfile=$(mktemp)
trap 'rm -f "$hostfile"' EXIT
awk '{ print $1, "slots=" $2 }' "$PE_HOSTFILE" >"$hostfile"
cores=8
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=own_sge
export HPCBOOT_INTERFACE=ib0

bin=${HPCBOOT_BIN_DIR:-build/bin}
image="${HOME}/hpcboot.sif"
[ -r "$image" ] || stop "there is no image $image" "build it, or change container.image"
for program in trainer hpcboot runtable; do
  if ! [ -x "$bin/$program" ]; then
    say "there is no program $bin/$program in $PWD"
    say "do: submit from hpcboot's folder; where it is not built yet, on a login node:"
    say "bash setup/quickstart.sh"
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
queue_again() { exit 99; }

# The container sees nothing else of this machine but HOME and /tmp.
if [ -e "$data" ]; then data=$(realpath "$data"); fi
runs=$(realpath "$runs")
contained=(apptainer exec --nv --bind "$PWD" --bind "$runs")
if [ -e "$data" ]; then contained+=(--bind "$data"); fi
contained+=("$image")

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("${contained[@]}" "$bin/trainer")

code=0
run launch_mpirun "$nodes" "$ranks_per_node" "${contained[@]}" "$bin/hpcboot" check ||
  stop "the ranks do not find each other" "read the table above; hpcboot doctor on a node tells more"
run launch_mpirun "$nodes" "$ranks_per_node" "${command[@]}" --mode ddp "${options[@]}" || code=$?
if [ -n "$stopping" ]; then say "ended by signal $stopping; what was reached is in the run's record"; fi
# 46: stopped in order, with a checkpoint that the same script goes on from. TERM cancels a job: such a one stays away.
if [ "$code" -eq 46 ] && [ "$stopping" != TERM ]; then
  say "the job is to be queued again"
  trap '' TERM # a scheduler that has taken it ends what runs
  queue_again || say "that is not possible here; submitted again with the same options and arguments it goes on from the checkpoint"
fi
exit "$code"
