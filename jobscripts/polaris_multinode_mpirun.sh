#!/bin/bash -l
#PBS -N hpcboot_multinode_mpirun
#PBS -l select=2:mpiprocs=4:system=polaris
#PBS -l place=scatter
#PBS -l walltime=00:30:00
#PBS -q debug
#PBS -l filesystems=home:eagle
#PBS -j oe
#PBS -r y
##PBS -A YourProject
##PBS -M you@example.org -m abe
#
# DDP across several nodes, started by mpirun, on Polaris of the Argonne Leadership Computing Facility
# (https://docs.alcf.anl.gov/polaris/running-jobs/).
#   qsub jobscripts/polaris_multinode_mpirun.sh (in hpcboot's folder)
# Account: qsub -A …, or the line above (keep one #, enter your account).
# Pass variables with -v: TRAINER_ARGS="--epochs 5" qsub -v TRAINER_ARGS …
# The queue debug allows 2 nodes for one hour; --set queue.name=prod requires at least 10 nodes.
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site polaris --job multinode_mpirun`.
cd "${PBS_O_WORKDIR:-.}" || exit
if command -v module >/dev/null; then module use /soft/modulefiles && module load PrgEnv-gnu cudatoolkit-standalone || exit; fi
export HPCBOOT_SITE=polaris HPCBOOT_STAGE_DIR="${HPCBOOT_STAGE_DIR:-/local/scratch}"
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build polaris" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true

"$hpcboot" run ${RANKS_PER_NODE:+--ranks-per-node "$RANKS_PER_NODE"} --launcher pals -- "$hpcboot" check || exit
exec "$hpcboot" run --requeue ${RANKS_PER_NODE:+--ranks-per-node "$RANKS_PER_NODE"} --launcher pals "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
