#!/usr/bin/env bash
# matrix_rank.sh DIR HPCBOOT TRUTH…: the program of one rank. Writes to separate files of this process, DIR/HOST.PID.*,
# the output of hpcboot in a child of this script, of TRUTH about the world, and, in this same process and therefore
# last, of hpcboot again.
set -uo pipefail
dir=$1 hpcboot=$2
shift 2
out=$dir/$(hostname).$$
"$hpcboot" show --json > "$out.child" 2>&1
"$@" "$out.truth" > "$out.log" 2>&1 || { echo "exit code $?" >> "$out.log"; exit 1; }
if [[ -e $dir/capture_wanted ]]; then
  cp "$out.child" "$out.self"
  exec "$hpcboot" capture "$dir/capture" > "$out.capture" 2>&1
fi
exec "$hpcboot" show --json > "$out.self" 2>&1
