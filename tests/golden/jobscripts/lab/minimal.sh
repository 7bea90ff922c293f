#!/bin/bash
# One process on one device, on lab machines over ssh
# (https://docs.open-mpi.org/en/main/launching-apps/ssh.html).
#   bash minimal.sh [TRAINER OPTION…]
# Environment variables: DATA_DIR, RUNS_DIR, STAGE, TRAINER_ARGS, HPCBOOT_BIN_DIR (see hpcboot script --help).
# Written by `hpcboot script --site lab --job single`.
export HPCBOOT_SITE=lab
bin=${HPCBOOT_BIN_DIR:-/opt/hpcboot/bin} hpcboot=$bin/hpcboot
[ -f "$hpcboot" ] || hpcboot=$(readlink -f "$(command -v hpcboot)") || { echo "no hpcboot in $bin or PATH: set HPCBOOT_BIN_DIR" >&2; exit 1; }

data=${DATA_DIR-} runs=${RUNS_DIR:-runs} stage=(); [[ " ${TRAINER_ARGS-} $*" =~ " --"(task|config) ]] || data=${data:-data/mnist} # both may have data of their own
if [ "${STAGE:-0}" = 1 ] && [ -e "${data:?STAGE=1 copies DATA_DIR, which is not set}" ]; then stage=(--stage "$data") data='{staged}'; fi
read -rd '' -a options <<<"${TRAINER_ARGS-}" || true
exec "$hpcboot" run -n 1 "${stage[@]}" -- "${hpcboot%/*}/trainer" \
  --mode single ${data:+--data "$data"} --runs-dir "$runs" --resume auto "${options[@]}" "$@"
