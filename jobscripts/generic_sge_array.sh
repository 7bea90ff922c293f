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
# A sweep: one task with one process per set of options, on a cluster with Grid Engine
# (https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html).
#   qsub jobscripts/generic_sge_array.sh [TRAINER OPTION…] (in hpcboot's folder)
# Project: qsub -P …; mail: qsub -M … -m abe; variables: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site generic_sge --job array`.
cd "${SGE_O_WORKDIR:-.}" || exit
task=${SGE_TASK_ID:-1}
index=$((${task/undefined/1} - 1)) # Grid Engine's word for a job that is no array
export HPCBOOT_SITE=generic_sge
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build generic_sge" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-$HOME}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
sweep=("--lr 1e-3" "--lr 3e-4" "--lr 1e-4") # options of each task: as many entries as the array above has tasks
read -rd '' -a options <<<"${sweep[index]:?no options for task $index} ${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode single ${data:+--data "$data"} --runs-dir "$runs" --resume auto --comment "task $index" "${options[@]}" "$@"
