#!/usr/bin/env bash
# record.sh DIR CMD…: what a launcher starts: CMD, its output in a file of this process's own, named
# HOST.PID. (Output that passes through a launcher arrives mixed.)
set -euo pipefail
dir=$1
shift
exec "$@" > "$dir/$(hostname).$$"
