#!/usr/bin/env bash
# truth_rank.sh DIR TRUTH…: writes TRUTH's report about the world to DIR/HOST.PID.truth, a separate file of this process.
dir=$1
shift
exec "$@" "$dir/$(hostname).$$.truth"
