#!/bin/bash -l
#$ -N hpcboot_compare
#$ -cwd
#$ -S /bin/bash
#$ -pe mpi 8
#$ -l h_rt=01:00:00
#$ -l gpu=1
#$ -j y
#$ -r y
#
# Every method in one allocation, then the runtime table, at a cluster with Grid Engine
# (https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html).
#   qsub jobscripts/generic_sge_compare.sh [OPTION OF THE TRAINER…]
# Project: qsub -P …; mail: qsub -M … -m abe.
# DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS and HPCBOOT_BIN_DIR change what it does: hpcboot script --help.
# Written by `hpcboot script --site generic_sge --job compare`.
cd "${SGE_O_WORKDIR:-.}" || exit
job=${JOB_ID:-$$}
export HPCBOOT_SITE=generic_sge
hpcboot=${HPCBOOT_BIN_DIR:-build/bin}/hpcboot
[ -x "$hpcboot" ] || hpcboot=$(command -v hpcboot) || { echo 'no hpcboot in build/bin or PATH; on a login node: bash jobscripts/build generic_sge' >&2; exit 1; }

data=${DATA_DIR:-data/mnist} runs=${RUNS_DIR:-runs} stage=()
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || runs="${SCRATCH:-$HOME}/hpcboot/runs"
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
train ddp --ranks-per-node "${RANKS_PER_NODE:-4}" --launcher mpirun
"${hpcboot%/*}/runtable" "$runs"
exit "$code"
