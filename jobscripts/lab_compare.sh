#!/bin/bash
# Every method in one allocation, then the runtime table, on lab machines over ssh
# (https://docs.open-mpi.org/en/main/launching-apps/ssh.html).
#   bash jobscripts/lab_compare.sh [TRAINER OPTION…] (in hpcboot's folder)
# The machines are listed in setup/hosts.txt, or in the file that HOSTFILE names.
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site lab --job compare`.
export HPCBOOT_SITE=lab
bin=${HPCBOOT_BIN_DIR:-build/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build lab" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
options+=("$@") runs=$runs/compare_$(date +%Y%m%d-%H%M%S) code=0 stopped=
trap 'stopped=1; kill "$!" 2>/dev/null' TERM INT HUP # stops the running training, and starts no other
train() { # MODE RUN-OPTION…: continues after a failure
  if [ -n "$stopped" ] || [ "$code" = 46 ]; then return; else echo "== $*" >&2; fi
  "$hpcboot" run "${@:2}" "${stage[@]}" -- "${hpcboot%/*}/trainer" \
    --mode "$1" ${data:+--data "$data"} --runs-dir "$runs" "${options[@]}" &
  wait "$!" || { wait "$!"; code=$?; } # a signal interrupts the first wait
}
train single -n 1
train dp -n 1
train ddp --nodes 1 --ranks-per-node "${RANKS_PER_NODE:-2}"
train ddp --hostfile "${HOSTFILE:-setup/hosts.txt}" ${RANKS_PER_NODE:+--ranks-per-node "$RANKS_PER_NODE"}
"${hpcboot%/*}/runtable" "$runs"; exit "$code"
