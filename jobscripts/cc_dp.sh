#!/bin/bash
#SBATCH --job-name=hpcboot_dp
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=64
#SBATCH --gpus-per-node=h100:4
#SBATCH --mem=496G
#SBATCH --time=03:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
##SBATCH --account=def-yoursupervisor
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# DP: one process over all devices of a node, at Rorqual of the Digital Research Alliance of Canada
# (https://docs.alliancecan.ca/wiki/Rorqual).
# Submit it from hpcboot's folder:
#   sbatch jobscripts/cc_dp.sh [OPTION OF THE TRAINER…]
# Account: sbatch --account=…, or SBATCH_ACCOUNT, or the line above with one # and your account.
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin; STAGE=1 copies what
# DATA_DIR names to each node's own disk first.
# Compute nodes have no internet; scratch is purged.
# Written by `hpcboot script --site cc --job dp`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) cc dp: $*" >&2; }
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
  { module load StdEnv/2023 gcc cuda/12.2 openmpi cmake boost python/3.11; } ||
    stop "the modules above could not be loaded" "see 'module spider' for their names here"
  set -u
fi
ranks_per_node=${SLURM_NTASKS_PER_NODE:-1}
cores=${SLURM_CPUS_ON_NODE:-64}
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=cc

bin=${HPCBOOT_BIN_DIR:-build/bin}
for program in trainer hpcboot runtable; do
  if ! [ -x "$bin/$program" ]; then
    say "there is no program $bin/$program in $PWD"
    say "do: submit from hpcboot's folder; where it is not built yet, on a login node:"
    say 'module load StdEnv/2023 gcc cuda/12.2 openmpi cmake boost python/3.11'
    say 'virtualenv --no-download ~/libtorch && source ~/libtorch/bin/activate && pip install --no-index "torch>=2.7" numpy'
    say 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DHPCBOOT_BUILD_TESTS=OFF -DCMAKE_PREFIX_PATH=$VIRTUAL_ENV/lib/python3.11/site-packages/torch'
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
  say "$runs cannot be written in jobs"
  runs="${SCRATCH:-$HOME/scratch}/hpcboot/runs"
  say "runs go to $runs"
  mkdir -p "$runs" || stop "$runs cannot be written" "set RUNS_DIR to a folder that can be written in jobs"
fi

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
  staged="${SLURM_TMPDIR:-/tmp}/hpcboot-data-${job_id:-$$}"
  run bash -c 'mkdir -p "$2" && if [ -d "$1" ]; then cp -r "$1/." "$2"; else cp "$1" "$2"; fi' stage "$data" "$staged" ||
    stop "the data could not be copied to $staged" "look at the messages above, or leave STAGE out"
  if [ -d "$data" ]; then data=$staged; else data=$staged/$(basename "$data"); fi
fi

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("$bin/trainer")

code=0
run "${command[@]}" --mode dp "${options[@]}" || code=$?
if [ -n "$staged" ]; then run rm -rf "$staged" || true; fi
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
