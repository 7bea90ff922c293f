#!/bin/bash
#SBATCH --job-name=hpcboot_compare
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --gpus-per-node=l40s:4
#SBATCH --mem=496G
#SBATCH --time=03:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
##SBATCH --account=aip-yourgroup
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# every method in one allocation, then the runtime table, at Killarney of the Vector Institute
# (https://docs.alliancecan.ca/wiki/Killarney).
# Submit it from hpcboot's folder:
#   sbatch jobscripts/vector_compare.sh [OPTION OF THE TRAINER…]
# Account: sbatch --account=…, or SBATCH_ACCOUNT, or the line above with one # and your account.
# TRAINER_ARGS="--epochs 5" in the environment gives the trainer options, too; DATA_DIR, RUNS_DIR and
# HPCBOOT_BIN_DIR name other folders than data/mnist, runs and build/bin; STAGE=1 copies what
# DATA_DIR names to each node's own disk first.
# Scratch is purged of files that nobody read for 60 days.
# Written by `hpcboot script --site vector --job compare`.
# shellcheck disable=SC2317 # functions are called by way of run

set -euo pipefail

say() { echo "$(date +%T) vector compare: $*" >&2; }
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
nodes=${SLURM_JOB_NUM_NODES:-2}
ranks_per_node=${SLURM_NTASKS_PER_NODE:-4}
hostfile= # mpirun asks Slurm
cores=${SLURM_CPUS_ON_NODE:-64}
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-16} # not handed on by every version
# The cores of a node are shared by its ranks; some schedulers would give all of them to each.
threads=$((cores > ranks_per_node ? cores / ranks_per_node : 1))
export OMP_NUM_THREADS=$threads
export HPCBOOT_SITE=vector

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
  runs="${SCRATCH:-/scratch/$USER}/hpcboot/runs"
  say "runs go to $runs"
  mkdir -p "$runs" || stop "$runs cannot be written" "set RUNS_DIR to a folder that can be written in jobs"
fi

# Programs on other hosts have an environment of their own: mpirun hands these on.
exports() {
  local name
  for name in PATH LD_LIBRARY_PATH OMP_NUM_THREADS HPCBOOT_SITE HPCBOOT_INTERFACE HPCBOOT_HOST_SUFFIX HPCBOOT_DEVICE_ORDER; do
    if [ -n "${!name-}" ]; then printf '%s\n' -x "$name"; fi
  done
}

# launch_srun NODES RANKS_PER_NODE COMMAND…: one failed rank ends all.
launch_srun() {
  local nodes=$1 per_node=$2
  shift 2
  exec srun --nodes="$nodes" --ntasks="$((nodes * per_node))" --ntasks-per-node="$per_node" \
    --kill-on-bad-exit=1 --wait=60 "$@"
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

# A folder of this job's own: another job of this node may have other data.
staged=
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then
  staged="${SLURM_TMPDIR:-/tmp}/hpcboot-data-${job_id:-$$}"
  run launch_srun "$nodes" 1 bash -c 'mkdir -p "$2" && if [ -d "$1" ]; then cp -r "$1/." "$2"; else cp "$1" "$2"; fi' stage "$data" "$staged" ||
    stop "the data could not be copied to $staged" "look at the messages above, or leave STAGE out"
  if [ -d "$data" ]; then data=$staged; else data=$staged/$(basename "$data"); fi
fi

# The trainer takes the last of an option that it is given twice: the user's.
read -r -a options <<<"--threads $threads ${TRAINER_ARGS-}"
options=(--data "$data" --runs-dir "$runs" "${options[@]}" "$@")
command=("$bin/trainer")

code=0
# Every run goes on if the one before has failed, but not once the job is to end.
runs=$runs/compare_${job_id//[^A-Za-z0-9._-]/-}
options+=(--runs-dir "$runs")
attempt() {
  local what=$1 failure=0
  shift
  if [ -n "$stopping" ]; then return; fi
  say "== $what"
  run "$@" "${options[@]}" || failure=$?
  if [ "$failure" -ne 0 ]; then
    say "$what: exit code $failure"
    code=$failure
  fi
}
attempt "one process" "${command[@]}" --mode single
attempt "DP on one node" "${command[@]}" --mode dp
attempt "DDP on one node" launch_srun 1 "$ranks_per_node" "${command[@]}" --mode ddp
attempt "DDP on all nodes, srun" launch_srun "$nodes" "$ranks_per_node" "${command[@]}" --mode ddp
attempt "DDP on all nodes, mpirun" launch_mpirun "$nodes" "$ranks_per_node" "${command[@]}" --mode ddp
"$bin/runtable" "$runs" || say "there is no runtime table"
if [ -n "$staged" ]; then run launch_srun "$nodes" 1 rm -rf "$staged" || true; fi
if [ -n "$stopping" ]; then say "ended by signal $stopping; what was reached is in the run's record"; fi
exit "$code"
