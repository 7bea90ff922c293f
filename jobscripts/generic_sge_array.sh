#!/bin/bash -l
#$ -N hpcboot_array
#$ -cwd
#$ -S /bin/bash
#$ -l h_rt=01:00:00
#$ -l gpu=1
#$ -t 1-3
#$ -j y
#$ -r y
#
# A sweep: one task, and one process, for each set of options, at a cluster with Grid Engine
# (https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html).
#   qsub jobscripts/generic_sge_array.sh [OPTION OF THE TRAINER…]
# Project: qsub -P …; mail: qsub -M … -m abe.
# DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS and HPCBOOT_BIN_DIR change what it does: hpcboot script --help.
# Written by `hpcboot script --site generic_sge --job array`.
cd "${SGE_O_WORKDIR:-.}" || exit
index=$((${SGE_TASK_ID:-1} - 1))
export HPCBOOT_SITE=generic_sge
hpcboot=${HPCBOOT_BIN_DIR:-build/bin}/hpcboot
[ -x "$hpcboot" ] || hpcboot=$(command -v hpcboot) || { echo 'no hpcboot in build/bin or PATH; on a login node: bash jobscripts/build generic_sge' >&2; exit 1; }

data=${DATA_DIR:-data/mnist} runs=${RUNS_DIR:-runs} stage=()
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || runs="${SCRATCH:-$HOME}/hpcboot/runs"
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then stage=(--stage "$data") data='{staged}'; fi
sweep=("--lr 1e-3" "--lr 3e-4" "--lr 1e-4") # the options of each task; there are as many as the directive above says
read -ra options <<<"${sweep[index]:?no options for task $index} ${TRAINER_ARGS-}"
exec "$hpcboot" run --requeue -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode single --data "$data" --runs-dir "$runs" --resume auto --comment "task $index" "${options[@]}" "$@"
