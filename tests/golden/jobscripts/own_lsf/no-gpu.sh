#!/bin/bash -l
#BSUB -J hpcboot_ddp
#BSUB -n 2
#BSUB -R "span[ptile=2] affinity[core(8)]"
#BSUB -M 64GB
#BSUB -W 04:00
#BSUB -o %J.out
#BSUB -q batch
#
# DDP across the devices of one node, on a site of the user's own, with LSF
# (https://example.org/lsf).
#   bsub <no-gpu.sh
# Project: bsub -P …; mail: bsub -u … -N; options: TRAINER_ARGS="--epochs 5" bsub <…
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site own_lsf --job ddp --gpus-per-node 0`.
cd "${LS_SUBCWD:-.}" || exit
export HPCBOOT_SITE=own_lsf
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --warn 120 --ranks-per-node "${RANKS_PER_NODE:-2}" --env OMP_NUM_THREADS=8 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
