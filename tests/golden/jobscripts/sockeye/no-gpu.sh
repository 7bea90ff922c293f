#!/bin/bash -l
#PBS -N hpcboot_ddp
#PBS -l select=1:ncpus=24:mpiprocs=2:mem=184gb
#PBS -l place=scatter
#PBS -l walltime=03:00:00
#PBS -j oe
#PBS -r y
##PBS -A st-yoursupervisor-1-gpu
##PBS -M you@example.org -m abe
#
# DDP across the devices of one node, on Sockeye of UBC Advanced Research Computing, under PBS
# (https://confluence.it.ubc.ca/display/UARC/About+Sockeye).
#   qsub no-gpu.sh
# Account: qsub -A …, or the line above (keep one #, enter your account).
# Pass variables with -v: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# Jobs cannot write to home or project and have no internet access: submit from /scratch/ALLOCATION/USER.
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site sockeye --job ddp --gpus-per-node 0`.
cd "${PBS_O_WORKDIR:-.}" || exit
if command -v module >/dev/null; then module load gcc cuda openmpi || exit; fi
export HPCBOOT_SITE=sockeye
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue ${RANKS_PER_NODE:+--ranks-per-node "$RANKS_PER_NODE"} "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
