#!/bin/bash -l
#BSUB -J hpcboot_multinode_mpirun
#BSUB -n 6
#BSUB -R "span[ptile=2] affinity[core(4)]"
#BSUB -gpu "num=2/host"
#BSUB -M 32GB
#BSUB -W 02:00
#BSUB -o %J.out
#BSUB -r
#BSUB -q short
#BSUB -P acme-1
#BSUB -u me@hpc.invalid -B -N
#
# DDP across several nodes, started by mpirun, on a site of the user's own, with LSF
# (https://example.org/lsf).
#   bsub <full.sh
# Project: bsub -P …; mail: bsub -u … -N; options: TRAINER_ARGS="--epochs 5" bsub <…
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site own_lsf --job multinode_mpirun --nodes 3 --gpus-per-node 2 --time 02:00:00 --account acme-1 --mail me@hpc.invalid --set queue.name=short --set queue.requeue=true --set network.interface=ib0 --set 'container.image=${HOME}/hpcboot.sif' --set kubernetes.rdma_devices=1`.
cd "${LS_SUBCWD:-.}" || exit
export HPCBOOT_SITE=own_lsf HPCBOOT_INTERFACE=ib0
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }
hpcboot=$(realpath "$hpcboot") || exit
seen= # what is visible in the container besides HOME and /tmp
see() { # PATH
  case $1 in
    *[,:]*) echo "$1 has a comma or colon, at which apptainer's --bind splits paths: use a folder without them" >&2; exit 1 ;;
    '' | /usr | /usr/local) echo "$hpcboot: --bind would hide ${1:-/} of the image: install hpcboot in a folder of its own" >&2; exit 1 ;;
  esac
  seen=${seen:+$seen,}$1
}
see "$PWD"; prefix=${hpcboot%/*}; see "${prefix%/bin}"; here=$seen # with what lies beside bin

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
mkdir -p "$runs" && runs=$(realpath "$runs") || exit
see "$runs"
if [ -e "$data" ]; then data=$(realpath "$data") && see "$data"; fi
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}' seen=$seen,'{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true

"$hpcboot" run --ranks-per-node "${RANKS_PER_NODE:-2}" --launcher mpirun --env OMP_NUM_THREADS=4 -- apptainer exec --nv --bind "$here" "${HOME}/hpcboot.sif" "$hpcboot" check || exit
exec "$hpcboot" run --requeue --ranks-per-node "${RANKS_PER_NODE:-2}" --launcher mpirun --env OMP_NUM_THREADS=4 "${stage[@]}" -- apptainer exec --nv --bind "$seen" "${HOME}/hpcboot.sif" "${hpcboot%/*}/trainer" \
  --mode ddp ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
