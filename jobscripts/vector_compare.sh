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
#SBATCH --requeue
##SBATCH --account=aip-yourgroup
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# Every method in one allocation, then the runtime table, on Killarney of the Vector Institute
# (https://docs.alliancecan.ca/wiki/Killarney).
#   sbatch jobscripts/vector_compare.sh [TRAINER OPTION…] (in hpcboot's folder)
# Account: sbatch --account=…, SBATCH_ACCOUNT, or the line above (keep one #, enter your account).
# Scratch files that were not read for 60 days are deleted.
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site vector --job compare`.
cd "${SLURM_SUBMIT_DIR:-.}" || exit
if command -v module >/dev/null; then module load StdEnv/2023 gcc cuda/12.2 openmpi cmake boost python/3.11 || exit; fi
export HPCBOOT_SITE=vector
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build vector" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-/scratch/$USER}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
options+=("$@") runs=$runs/compare_${SLURM_JOB_ID:-$$} code=0 stopped=
trap 'stopped=1; kill "$!" 2>/dev/null' TERM INT HUP # stops the running training, and starts no other
train() { # MODE RUN-OPTION…: continues after a failure
  if [ -n "$stopped" ] || [ "$code" = 46 ]; then return; else echo "== $*" >&2; fi
  "$hpcboot" run --warn 120 "${@:2}" "${stage[@]}" -- "${hpcboot%/*}/trainer" \
    --mode "$1" ${data:+--data "$data"} --runs-dir "$runs" "${options[@]}" &
  wait "$!" || { wait "$!"; code=$?; } # a signal interrupts the first wait
}
train single -n 1
train dp -n 1 --env OMP_NUM_THREADS="${SLURM_CPUS_ON_NODE:-1}" --launcher-args "--cpus-per-task=${SLURM_CPUS_ON_NODE:-1}"
train ddp --nodes 1
train ddp
train ddp --launcher mpirun
"${hpcboot%/*}/runtable" "$runs"; exit "$code"
