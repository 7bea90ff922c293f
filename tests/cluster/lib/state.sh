# shellcheck shell=bash
# Shared by all parts: the scratch folder, the addresses, and waiting with a deadline.

die() {
  printf 'cluster: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'cluster: %s; see cluster --help\n' "$*" >&2
  exit 2
}

STATE=$(realpath -m "${HPCBOOT_CLUSTER_DIR:-/tmp/hpcboot-cluster-$UID}")
readonly STATE
# A word on the command line of every process that keeps the cluster up: `down` finds them by it, even if
# the process that started them is gone.
readonly MARK=hpcboot-cluster:$STATE

# Whether `up` was started with this network option: a file of this name in the scratch folder.
network_is() {
  [[ -e $STATE/network.$1 ]]
}

# Hosts are numbered from 0 and have the address 10.77.0.(10 + number), or fd77::(10 + number) without
# IPv4; on the second network, if there is one, 10.78.0.(10 + number).
host_address() {
  local prefix=10.77.0.
  ! network_is ipv6_only || prefix=fd77::
  printf '%s%d' "$prefix" "$((10 + ${1#n}))"
}

fast_address() {
  printf '10.78.0.%d' "$((10 + ${1#n}))"
}

# wait_until SECONDS CMD…: polls until CMD succeeds; fails after the timeout.
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
}

# Process IDs whose command line contains the word MARK and, if given, also the word $1. A zombie has no
# command line, so it does not count as alive.
marked_processes() {
  ps -ww -eo pid=,args= | mark=$MARK word=${1:-$MARK} awk '
    { found = other = 0
      for (i = 2; i <= NF; ++i) { found += $i == ENVIRON["mark"]; other += $i == ENVIRON["word"] }
      if (found && other) print $1 }'
}

# up and down exclude each other. The lock is on the folder itself, so that nothing is left behind; it is
# released when the last process that has file descriptor 9 ends.
LOCKED=no # also read by lifecycle.sh
# shellcheck disable=SC2034
lock_state() {
  mkdir -p "$STATE"
  exec 9< "$STATE"
  flock --wait 30 9 || die "another 'cluster up' or 'down' has been busy in $STATE for 30 s"
  # The previous holder may have removed the folder: then this lock is on a deleted folder.
  [[ /proc/$$/fd/9 -ef $STATE ]] || lock_state
  LOCKED=yes
}
