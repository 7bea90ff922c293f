#!/bin/bash -l
#PBS -N hpcboot_multinode_mpirun
#PBS -l select=2:ncpus=24:mpiprocs=4:ngpus=4:mem=184gb
#PBS -l place=scatter
#PBS -l walltime=03:00:00
#PBS -j oe
#PBS -r y
##PBS -A st-yoursupervisor-1-gpu
##PBS -M you@example.org -m abe
#
# DDP over several nodes, started by mpirun, at Sockeye of UBC Advanced Research Computing, under PBS
# (https://confluence.it.ubc.ca/display/UARC/About+Sockeye).
# Submit it from hpcboot's folder:
#   qsub jobscripts/sockeye_multinode_mpirun.sh
# Account: qsub -A …, or the line above with one # and your account.
# Variables go along with -v: qsub -v TRAINER_ARGS="--epochs 5" …
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin; STAGE=1 copies what
# DATA_DIR names to each node's own disk first.
# Home and project cannot be written in jobs, and there is no internet: submit from /scratch/ALLOCATION/USER.
# Written by `hpcboot script --site sockeye --job multinode_mpirun`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) sockeye multinode_mpirun: $*" >&2; }
# stop WHAT REMEDY: the job cannot go on.
stop() {
  say "$1"
  say "do: $2"
  exit 1
}

cd "${PBS_O_WORKDIR:-$PWD}"
job_id=${PBS_JOBID:-}
if command -v module >/dev/null 2>&1; then
  set +u # what modules do was not written for it
  { module load gcc cuda openmpi; } ||
    stop "the modules above could not be loaded" "see 'module spider' for their names here"
  set -u
fi
ranks_per_node=${RANKS_PER_NODE:-4}
[ -r "${PBS_NODEFILE:-}" ] || stop "PBS_NODEFILE names no file that can be read" "start this script with qsub"
hostfile=$PBS_NODEFILE
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)
cores=${NCPUS:-24}
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=sockeye

bin=${HPCBOOT_BIN_DIR:-build/bin}
for program in trainer hpcboot runtable; do
  if ! [ -x "$bin/$program" ]; then
    say "there is no program $bin/$program in $PWD"
    say "do: submit from hpcboot's folder; where it is not built yet, on a login node:"
    say 'module load gcc cuda openmpi cmake boost'
    say 'export CMAKE_PREFIX_PATH=$HOME/libtorch    # an unpacked LibTorch'
    say 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DHPCBOOT_BUILD_TESTS=OFF'
    say 'cmake --build build --parallel 8'
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
queue_again() { qrerun "${PBS_JOBID:?}"; }

# PBS ends a job without a warning; this clock gives one, 120 seconds before the walltime is over.
walltime=$(qstat -f "$job_id" 2>/dev/null | sed -n 's/^ *Resource_List.walltime = \([0-9]*:[0-9]*:[0-9]*\)$/\1/p') || true
IFS=: read -r hours minutes seconds <<<"${walltime:-03:00:00}"
left=$((10#$hours * 3600 + 10#$minutes * 60 + 10#$seconds - 120))
if [ "$left" -gt 0 ]; then
  (
    trap 'kill "$!"' TERM
    sleep "$left" &
    wait "$!" && kill -s USR1 $$
  ) &
  clock=$!
  trap 'kill "$clock" 2>/dev/null || true' EXIT
else
  say "the walltime is not longer than 120 s: there will be no warning before its end"
fi

# A folder of this job's own: another job of this node may have other data.
staged=
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then
  staged="${TMPDIR:-/tmp}/hpcboot-data-${job_id:-$$}"
  run launch_mpirun "$nodes" 1 bash -c 'mkdir -p "$2" && if [ -d "$1" ]; then cp -r "$1/." "$2"; else cp "$1" "$2"; fi' stage "$data" "$staged" ||
    stop "the data could not be copied to $staged" "look at the messages above, or leave STAGE out"
  if [ -d "$data" ]; then data=$staged; else data=$staged/$(basename "$data"); fi
fi

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("$bin/trainer")

code=0
run launch_mpirun "$nodes" "$ranks_per_node" "$bin/hpcboot" check ||
  stop "the ranks do not find each other" "read the table above; hpcboot doctor on a node tells more"
run launch_mpirun "$nodes" "$ranks_per_node" "${command[@]}" --mode ddp "${options[@]}" || code=$?
if [ -n "$staged" ]; then run launch_mpirun "$nodes" 1 rm -rf "$staged" || true; fi
if [ -n "$stopping" ]; then say "ended by signal $stopping; what was reached is in the run's record"; fi
# 46: stopped in order, with a checkpoint that the same script goes on from. TERM cancels a job: such a one stays away.
if [ "$code" -eq 46 ] && [ "$stopping" != TERM ]; then
  say "the job is to be queued again"
  trap '' TERM # a scheduler that has taken it ends what runs
  queue_again || say "that is not possible here; submitted again with the same options and arguments it goes on from the checkpoint"
fi
exit "$code"
