#!/bin/bash
# Every method in one allocation, then the runtime table, at machines of a laboratory, over ssh
# (https://docs.open-mpi.org/en/main/launching-apps/ssh.html).
# Start it from hpcboot's folder:
#   bash jobscripts/lab_compare.sh [OPTION OF THE TRAINER…]
# The machines are those of setup/hosts.txt, or of the file that HOSTFILE names.
# DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS and HPCBOOT_BIN_DIR change what it does: hpcboot script --help.
# Written by `hpcboot script --site lab --job compare`.
job=$(date +%Y%m%d-%H%M%S)
export HPCBOOT_SITE=lab
hpcboot=${HPCBOOT_BIN_DIR:-build/bin}/hpcboot
[ -x "$hpcboot" ] || hpcboot=$(command -v hpcboot) || { echo 'no hpcboot in build/bin or PATH; on a login node: bash jobscripts/build lab' >&2; exit 1; }

data=${DATA_DIR:-data/mnist} runs=${RUNS_DIR:-runs} stage=()
if [ "${STAGE:-0}" = 1 ] && [ -e "$data" ]; then stage=(--stage "$data") data='{staged}'; fi
read -ra options <<<"${TRAINER_ARGS-}"
options+=("$@") runs=$runs/compare_${job//[^A-Za-z0-9._-]/-} code=0
trap 'code=46' TERM # what trains saves itself, and nothing follows
train() { # MODE OPTION-OF-RUN…: goes on after one that failed
  [ "$code" = 46 ] || "$hpcboot" run "${@:2}" "${stage[@]}" -- "${hpcboot%/*}/trainer" \
    --mode "$1" --data "$data" --runs-dir "$runs" "${options[@]}" || code=$?
}
train single -n 1
train dp -n 1
train ddp --nodes 1 --ranks-per-node "${RANKS_PER_NODE:-2}"
train ddp --hostfile "${HOSTFILE:-setup/hosts.txt}" ${RANKS_PER_NODE:+--ranks-per-node "$RANKS_PER_NODE"}
"${hpcboot%/*}/runtable" "$runs"
exit "$code"
