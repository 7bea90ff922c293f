#!/bin/bash -l
#$ -N hpcboot_dp
#$ -cwd
#$ -S /bin/bash
#$ -pe smp 4
#$ -l h_rt=01:00:00
#$ -l gpu=1
#$ -j y
#$ -r y
#
# DP: one process on all devices of a node, on a cluster with Grid Engine
# (https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html).
#   qsub jobscripts/generic_sge_dp.sh [TRAINER OPTION…] (in hpcboot's folder)
# Project: qsub -P …; mail: qsub -M … -m abe; variables: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site generic_sge --job dp`.
cd "${SGE_O_WORKDIR:-.}" || exit
export HPCBOOT_SITE=generic_sge
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build generic_sge" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-$HOME}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode dp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
