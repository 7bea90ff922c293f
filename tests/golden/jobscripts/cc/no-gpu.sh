#!/bin/bash
#SBATCH --job-name=hpcboot_ddp
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=32
#SBATCH --mem=496G
#SBATCH --time=03:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --requeue
##SBATCH --account=def-yoursupervisor
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# DDP across the devices of one node, on Rorqual of the Digital Research Alliance of Canada
# (https://docs.alliancecan.ca/wiki/Rorqual).
#   sbatch no-gpu.sh [TRAINER OPTION…]
# Account: sbatch --account=…, SBATCH_ACCOUNT, or the line above (keep one #, enter your account).
# Compute nodes have no internet access; scratch is purged.
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site cc --job ddp --gpus-per-node 0`.
cd "${SLURM_SUBMIT_DIR:-.}" || exit
if command -v module >/dev/null; then module load StdEnv/2023 gcc cuda/12.2 openmpi cmake boost python/3.11 || exit; fi
export HPCBOOT_SITE=cc
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-$HOME/scratch}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
