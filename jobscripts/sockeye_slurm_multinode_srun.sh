#!/bin/bash
#SBATCH --job-name=hpcboot_multinode_srun
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=6
#SBATCH --gpus-per-node=4
#SBATCH --mem=184G
#SBATCH --time=03:00:00
#SBATCH --constraint=gpu_mem_32
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
##SBATCH --account=st-yoursupervisor-1-gpu
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# DDP over several nodes, started by srun, at Sockeye of UBC Advanced Research Computing, under Slurm
# (https://confluence.it.ubc.ca/display/UARC/About+Sockeye).
# Submit it from hpcboot's folder:
#   sbatch jobscripts/sockeye_slurm_multinode_srun.sh [OPTION OF THE TRAINER…]
# Account: sbatch --account=…, or SBATCH_ACCOUNT, or the line above with one # and your account.
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin; STAGE=1 copies what
# DATA_DIR names to each node's own disk first.
# Project cannot be written in jobs, and there is no internet: submit from /scratch/ALLOCATION/USER.
# Written by `hpcboot script --site sockeye_slurm --job multinode_srun`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) sockeye_slurm multinode_srun: $*" >&2; }
# stop WHAT REMEDY: the job cannot go on.
stop() {
  say "$1"
  say "do: $2"
  exit 1
}

cd "${SLURM_SUBMIT_DIR:-$PWD}"
job_id=${SLURM_JOB_ID:-}
if command -v module >/dev/null 2>&1; then
  set +u # what modules do was not written for it
  { module load gcc cuda openmpi; } ||
    stop "the modules above could not be loaded" "see 'module spider' for their names here"
  set -u
fi
nodes=${SLURM_JOB_NUM_NODES:-2}
ranks_per_node=${SLURM_NTASKS_PER_NODE:-4}
cores=${SLURM_CPUS_ON_NODE:-24}
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-6} # not handed on by every version
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=sockeye_slurm

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

# launch_srun NODES RANKS_PER_NODE COMMAND…: one failed rank ends all.
launch_srun() {
  local nodes=$1 per_node=$2
  shift 2
  exec srun --nodes="$nodes" --ntasks="$((nodes * per_node))" --ntasks-per-node="$per_node" \
    --kill-on-bad-exit=1 --wait=60 "$@"
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

# too_short: the walltime of this job, whatever was asked for, is over before the warning.
too_short() {
  local hours minutes seconds
  IFS=: read -r hours minutes seconds < <(scontrol show job "${SLURM_JOB_ID:?}" | sed -n 's/^.* TimeLimit=\([0-9]*:[0-9]*:[0-9]*\) .*$/\1/p') || true
  [ -n "$seconds" ] && [ $((10#$hours * 3600 + 10#$minutes * 60 + 10#$seconds)) -le 120 ]
}

# queue_again: this very job starts once more, where that is allowed.
queue_again() { scontrol requeue "${SLURM_JOB_ID:?}"; }

# A folder of this job's own: another job of this node may have other data.
staged=
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then
  staged="${TMPDIR:-/tmp}/hpcboot-data-${job_id:-$$}"
  run launch_srun "$nodes" 1 bash -c 'mkdir -p "$2" && if [ -d "$1" ]; then cp -r "$1/." "$2"; else cp "$1" "$2"; fi' stage "$data" "$staged" ||
    stop "the data could not be copied to $staged" "look at the messages above, or leave STAGE out"
  if [ -d "$data" ]; then data=$staged; else data=$staged/$(basename "$data"); fi
fi

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("$bin/trainer")

code=0
run launch_srun "$nodes" "$ranks_per_node" "$bin/hpcboot" check ||
  stop "the ranks do not find each other" "read the table above; hpcboot doctor on a node tells more"
run launch_srun "$nodes" "$ranks_per_node" "${command[@]}" --mode ddp "${options[@]}" || code=$?
if [ -n "$staged" ]; then run launch_srun "$nodes" 1 rm -rf "$staged" || true; fi
if [ -n "$stopping" ]; then say "ended by signal $stopping; what was reached is in the run's record"; fi
# 46: stopped in order, with a checkpoint that the same script goes on from. TERM cancels a job: such a one stays away.
if [ "$code" -eq 46 ] && [ "$stopping" = USR1 ] && too_short; then
  say "the walltime is not longer than the warning before its end, 120 s: every start would end at once"
  say "do: submit it again with a longer time, and all other options and arguments as before"
  exit "$code"
fi
if [ "$code" -eq 46 ] && [ "$stopping" != TERM ]; then
  say "the job is to be queued again"
  trap '' TERM # a scheduler that has taken it ends what runs
  queue_again || say "that is not possible here; submitted again with the same options and arguments it goes on from the checkpoint"
fi
exit "$code"
