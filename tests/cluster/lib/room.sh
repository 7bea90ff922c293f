#!/usr/bin/env bash
# The machine room: process 1 of a process namespace that contains all hosts. When it dies, for whatever
# reason, the kernel kills every process of every host and drops their networks and mounts.
# Arguments: MARK N HOST_OPTIONS…
set -Eeuo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=state.sh
source "$here/state.sh"
# shellcheck source=network.sh
source "$here/network.sh"

compute_hosts=$2
shift 2
# If this process ended, everything would: so a failure is only reported, and the room stays until `down`.
fail() {
  echo "the machine room failed; line $1" > "$STATE/hosts/room.failed"
}
trap 'fail $LINENO' ERR

make_switch
for ((i = 0; i <= compute_hosts; ++i)); do
  connect_host "n$i"
  nsenter --net="/run/netns/n$i" unshare --uts --mount --propagation private --ipc --pid --fork --kill-child \
    --mount-proc -- bash "$here/host.sh" "$MARK" "n$i" "$compute_hosts" "$@" \
    < /dev/null > "$STATE/log/n$i/boot.log" 2>&1 &
done

trap 'exit 0' TERM
while :; do
  sleep 3600 &
  wait $! || true
done
