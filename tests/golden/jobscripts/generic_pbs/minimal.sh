#!/bin/bash -l
#PBS -N hpcboot_single
#PBS -l select=1:ncpus=8:mpiprocs=1:ngpus=1
#PBS -l place=scatter
#PBS -l walltime=01:00:00
#PBS -j oe
#PBS -r y
##PBS -A your-account
##PBS -M you@example.org -m abe
#
# One process on one device, on a cluster with PBS Pro or OpenPBS
# (https://openpbs.org).
#   qsub minimal.sh
# Account: qsub -A …, or the line above (keep one #, enter your account).
# Pass variables with -v: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site generic_pbs --job single`.
cd "${PBS_O_WORKDIR:-.}" || exit
export HPCBOOT_SITE=generic_pbs
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-$HOME}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode single ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
