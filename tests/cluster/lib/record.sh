#!/usr/bin/env bash
# record.sh DIR CMD…: the program of one rank: runs CMD with its output in a separate file of this process,
# HOST.PID. (Output that passes through a launcher arrives interleaved.)
set -euo pipefail
dir=$1
shift
exec "$@" > "$dir/$(hostname).$$"
