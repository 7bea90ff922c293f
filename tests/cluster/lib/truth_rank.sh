#!/usr/bin/env bash
# truth_rank.sh DIR TRUTH…: what TRUTH says of the world, into a file of this process's own, DIR/HOST.PID.truth.
dir=$1
shift
exec "$@" "$dir/$(hostname).$$.truth"
