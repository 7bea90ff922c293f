#!/bin/bash -l
#BSUB -J hpcboot_single
#BSUB -n 1
#BSUB -R "span[ptile=1] affinity[core(4)]"
#BSUB -gpu "num=1/host"
#BSUB -M 16GB
#BSUB -W 04:00
#BSUB -wa USR1 -wt 2
#BSUB -o %J.out
#BSUB -q batch
#
# one process on one device, at a site of the user's own, with LSF
# (https://example.org/lsf).
# Submit it from hpcboot's folder:
#   bsub <minimal.sh
# Project: bsub -P …; mail: bsub -u … -N.
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin.
# Written by `hpcboot script --site own_lsf --job single`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) own_lsf single: $*" >&2; }
# stop WHAT REMEDY: the job cannot go on.
stop() {
  say "$1"
  say "do: $2"
  exit 1
}

cd "${LS_SUBCWD:-$PWD}"
ranks_per_node=1
cores=4
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=own_lsf

bin=${HPCBOOT_BIN_DIR:-build/bin}
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

# too_short: the warning came at the start, since the walltime of this job is over before it.
too_short() { [ "$SECONDS" -lt 120 ]; }

# queue_again: this very job starts once more, where that is allowed.
queue_again() { false; }

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" --resume auto "${options[@]}" "$@")
command=("$bin/trainer")

code=0
run "${command[@]}" --mode single "${options[@]}" || code=$?
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
