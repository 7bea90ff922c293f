#!/bin/bash
#SBATCH --job-name=hpcboot_ddp
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-node=4
#SBATCH --time=01:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
#SBATCH --requeue
##SBATCH --account=your-account
##SBATCH --mail-user=you@example.org --mail-type=BEGIN,END,FAIL
#
# DDP across the devices of one node, on a cluster with Slurm
# (https://slurm.schedmd.com/sbatch.html).
#   sbatch jobscripts/generic_slurm_ddp.sh [TRAINER OPTION…] (in hpcboot's folder)
# Account: sbatch --account=…, SBATCH_ACCOUNT, or the line above (keep one #, enter your account).
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site generic_slurm --job ddp`.
cd "${SLURM_SUBMIT_DIR:-.}" || exit
export HPCBOOT_SITE=generic_slurm
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build generic_slurm" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
{ mkdir -p "$runs" && [ -w "$runs" ]; } 2>/dev/null || { runs="${SCRATCH:-$HOME}/hpcboot/runs"; echo "runs go to $runs" >&2; }
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run --requeue "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
