#!/usr/bin/env bash
# Process 1 of one host: sets up the host's view of the file system, starts its services, and stays.
# Arguments: MARK HOST N LOOPBACK_NAME DECOY_DOCKER0 KEPT_FOLDERS…
set -Eeuo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=state.sh
source "$here/state.sh"
# shellcheck source=users.sh
source "$here/users.sh"
# shellcheck source=network.sh
source "$here/network.sh"
# shellcheck source=sshd.sh
source "$here/sshd.sh"
# shellcheck source=slurm.sh
source "$here/slurm.sh"

readonly host=$2 compute_hosts=$3 loopback_name=$4 decoy_docker0=$5
readonly kept=("${@:6}")

fail() {
  echo "$host did not boot; lib/host.sh line $1" > "$STATE/hosts/$host.failed"
}
trap 'fail $LINENO' ERR

# own DIR OPTIONS: mounts an empty folder of this host over the machine's.
own() {
  mount -t tmpfs -o "$2" tmpfs "$1"
}

mount_files() {
  local dir file
  own /run mode=755
  mkdir /run/lock /run/machine-tmp
  # A separate /tmp, in which the folders that all hosts share remain visible.
  mount --bind /tmp /run/machine-tmp
  own /tmp mode=1777
  for dir in "$STATE" "${kept[@]}"; do
    if [[ $dir == /tmp/* ]]; then
      mkdir -p "$dir"
      mount --bind "/run/machine-tmp/${dir#/tmp/}" "$dir"
    fi
  done
  umount /run/machine-tmp
  own /dev/shm mode=1777
  own /var/spool mode=755
  own /var/lib/munge mode=711
  mount --bind "$STATE/log/$host" /var/log
  mount -t sysfs sysfs /sys # shows the interfaces of this host, not the machine's

  # The machine's /etc cannot be written from here, even by root.
  mount --bind /etc /etc
  mount -o remount,bind,ro /etc
  mkdir -p /run/etc
  echo "$host" > /run/etc/hostname
  write_hosts "$host" "$compute_hosts" "$loopback_name" > /run/etc/hosts
  for file in hostname hosts; do
    mount --bind "/run/etc/$file" "/etc/$file"
  done
  for file in passwd group shadow slurm munge ssh; do
    mount --bind "$STATE/etc/$file" "/etc/$file"
  done
}

hostname "$host"
mount_files
# Tests start jobs in quick succession here, and in parallel.
for uid in 0 "$TESTER_ID"; do "$here/../../support/open_mpi_folder" /tmp "$uid"; done
[[ $decoy_docker0 == no ]] || add_decoy_docker0
start_sshd "$host"
start_slurm "$host"
touch "$STATE/hosts/$host.ready"

trap - ERR
trap 'exit 0' TERM
while :; do
  sleep 3600 &
  wait $! || true
done
