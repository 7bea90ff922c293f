#!/bin/bash -l
#PBS -N hpcboot_compare
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=00:30:00
#PBS -q debug
#PBS -l filesystems=home:eagle
#PBS -j oe
#PBS -r y
##PBS -A YourProject
##PBS -M you@example.org -m abe
#
# Every method in one allocation, then the runtime table, at Polaris of the Argonne Leadership Computing Facility
# (https://docs.alcf.anl.gov/polaris/running-jobs/).
#   qsub jobscripts/polaris_compare.sh
# Account: qsub -A …, or the line above with one # and your account.
# Variables go along with -v: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# The queue debug takes 2 nodes for an hour; --set queue.name=prod takes 10 and more.
# DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS and HPCBOOT_BIN_DIR change what it does: hpcboot script --help.
# Written by `hpcboot script --site polaris --job compare`.
cd "${PBS_O_WORKDIR:-.}" || exit
job=${PBS_JOBID:-$$}
if command -v module >/dev/null; then module use /soft/modulefiles && module load PrgEnv-gnu cudatoolkit-standalone || exit; fi
export HPCBOOT_SITE=polaris HPCBOOT_STAGE_DIR="/local/scratch"
hpcboot=${HPCBOOT_BIN_DIR:-build/bin}/hpcboot
[ -x "$hpcboot" ] || hpcboot=$(command -v hpcboot) || { echo 'no hpcboot in build/bin or PATH; on a login node: bash jobscripts/build polaris' >&2; exit 1; }

data=${DATA_DIR:-data/mnist} runs=${RUNS_DIR:-runs} stage=()
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then stage=(--stage "$data") data='{staged}'; fi
read -ra options <<<"${TRAINER_ARGS-}"
options+=("$@") runs=$runs/compare_${job//[^A-Za-z0-9._-]/-} code=0
trap 'code=46' TERM # what trains saves itself, and nothing follows
train() { # MODE OPTION-OF-RUN…: goes on after one that failed
  [ "$code" = 46 ] || "$hpcboot" run --warn 120 "${@:2}" "${stage[@]}" -- "${hpcboot%/*}/trainer" \
    --mode "$1" --data "$data" --runs-dir "$runs" "${options[@]}" || code=$?
}
train single -n 1
train dp -n 1
train ddp --nodes 1 --ranks-per-node "${RANKS_PER_NODE:-4}"
train ddp --ranks-per-node "${RANKS_PER_NODE:-4}" --launcher pals
"${hpcboot%/*}/runtable" "$runs"
exit "$code"
