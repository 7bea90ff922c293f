#!/bin/bash -l
#$ -N hpcboot_single
#$ -cwd
#$ -S /bin/bash
#$ -l h_rt=04:00:00
#$ -l gpu=1
#$ -l h_vmem=16384M
#$ -q gpu.q
#$ -j y
#$ -r n
#
# One process on one device, on a site of the user's own, with Grid Engine
# (https://example.org/sge).
#   qsub minimal.sh [TRAINER OPTION…]
# Project: qsub -P …; mail: qsub -M … -m abe; variables: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site own_sge --job single`.
cd "${SGE_O_WORKDIR:-.}" || exit
export HPCBOOT_SITE=own_sge
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --warn 120 -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode single ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
