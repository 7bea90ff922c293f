# shellcheck shell=bash
# up, down and status.

# Folders that are separate on every host: a scratch folder there would be hidden from the hosts.
readonly HIDDEN='^/(run|dev|proc|sys|etc|var/log|var/spool|var/lib/munge)(/|$)'

cluster_up() {
  local machine=(8 8000 h200:4) # cores, memory, GPUs
  local compute_hosts=2 loopback_name=no decoy_docker0=no spank_pbs=no networks=() kept=("$(realpath "$here/../..")")
  while (($# > 0)); do
    case $1 in
      -n)
        [[ ${2:-} =~ ^([1-9]|[1-5][0-9]|6[0-4])$ ]] || usage_error "-n takes 1 to 64, not '${2:-}'"
        compute_hosts=$2
        shift
        ;;
      --bind)
        [[ -d ${2:-} ]] || usage_error "--bind takes a folder, not '${2:-}'"
        kept+=("$(realpath "$2")")
        shift
        ;;
      --cores | --memory)
        [[ ${2:-} =~ ^[1-9][0-9]{0,6}$ ]] || usage_error "$1 takes a number, not '${2:-}'"
        if [[ $1 == --cores ]]; then machine[0]=$2; else machine[1]=$2; fi
        shift
        ;;
      --gpus)
        [[ ${2:-} =~ ^[a-z0-9]+:[1-4](,[a-z0-9]+:[1-4])?$ ]] || usage_error "--gpus takes TYPE:N[,TYPE:N], not '${2:-}'"
        machine[2]=$2
        shift
        ;;
      --decoy-docker0) decoy_docker0=yes ;;
      --spank-pbs) spank_pbs=yes ;;
      --loopback-name) loopback_name=yes ;;
      --second-network) networks+=(second) ;;
      --ipv6-only) networks+=(ipv6_only) ;;
      *) usage_error "unknown option '$1' of up" ;;
    esac
    shift
  done
  [[ $STATE =~ ^/[A-Za-z0-9._/-]+$ ]] || usage_error "HPCBOOT_CLUSTER_DIR has characters other than A-Za-z0-9._/-"
  [[ ! $STATE =~ $HIDDEN ]] || usage_error "HPCBOOT_CLUSTER_DIR=$STATE is hidden from the hosts; use a folder in /tmp"
  check_requirements
  umask 022
  trap 'up_was_stopped' EXIT
  trap 'exit 1' INT TERM HUP
  lock_state
  local options=("$compute_hosts" "$loopback_name" "$decoy_docker0" "${kept[@]}")
  if [[ -e $STATE/ready && -n $(host_pid n0) ]]; then
    [[ $(< "$STATE/ready") == "${options[*]} spank_pbs=$spank_pbs ${machine[*]} ${networks[*]}" ]] ||
      die "a cluster with other options is up in $STATE; run first: cluster down"
    echo "already up: n0 … n$compute_hosts in $STATE"
    return
  fi
  remove_state # left by a killed `up`
  write_state "$compute_hosts" "${networks[@]}"
  write_slurm "$compute_hosts" "${machine[@]}"
  [[ $spank_pbs == no ]] || write_spank_pbs
  start_room "${options[@]}"
  wait_for_boot "$compute_hosts"
  echo "${options[*]} spank_pbs=$spank_pbs ${machine[*]} ${networks[*]}" > "$STATE/ready"
  echo "up: n0 … n$compute_hosts in $STATE"
}

# write_state N NETWORK…
write_state() {
  local i network
  touch "$STATE/.hpcboot-cluster"
  chmod 755 "$STATE"
  mkdir -p "$STATE"/{etc,hosts,log}
  for network in "${@:2}"; do
    touch "$STATE/network.$network"
  done
  for ((i = 0; i <= $1; ++i)); do
    mkdir "$STATE/log/n$i"
  done
  write_users
  write_ssh
}

start_room() {
  (
    # Nothing of the caller may be held while the cluster runs: no environment, terminal or open file.
    # Only the lock is closed last, by a shell that has MARK on its command line for `down` to find.
    for fd in "/proc/$BASHPID/fd"/*; do
      fd=${fd##*/}
      if ((fd > 2 && fd != 9)); then
        exec {fd}>&-
      fi
    done
    # shellcheck disable=SC2016 # for the inner shell
    exec bash -c 'exec 9>&-; exec "$@"' "$MARK" \
      env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HPCBOOT_CLUSTER_DIR="$STATE" setsid \
      unshare --net --mount --propagation private --pid --fork --kill-child --mount-proc -- \
      bash "$here/lib/room.sh" "$MARK" "$@" < /dev/null > "$STATE/log/room.log" 2>&1
  ) &
  room=$!
  disown # this shell must not report its end
}

wait_for_boot() {
  local deadline=${HPCBOOT_CLUSTER_TIMEOUT:-30}
  wait_until "$deadline" hosts_have_booted "$1" || die "not all hosts booted within $deadline s"
  ! compgen -G "$STATE/hosts/*.failed" > /dev/null || die "$(cat "$STATE"/hosts/*.failed)"
  wait_until "$deadline" slurm_is_ready "$1" || die "not all compute hosts were idle in Slurm within $deadline s"
}

# Also true when a host has failed, so that `up` does not wait for it.
hosts_have_booted() {
  local ready=("$STATE"/hosts/n*.ready)
  compgen -G "$STATE/hosts/*.failed" > /dev/null || [[ -e ${ready[0]} && ${#ready[@]} -gt $1 ]]
}

# At the end of `up`, whatever the cause. Only the holder of the lock cleans up, and never a running
# cluster.
up_was_stopped() {
  trap - EXIT
  if [[ -n ${room:-} && ! -e $STATE/ready ]]; then
    kill -KILL "$room" 2> /dev/null || true # it may not have MARK on its command line yet
  fi
  if [[ -e $STATE/ready ]]; then
    return
  fi
  if [[ $LOCKED == no ]]; then
    # It may have created the folder, but not locked it yet.
    { exec 9< "$STATE"; } 2> /dev/null || return
    flock --nonblock 9 || return
  fi
  if [[ -e $STATE/.hpcboot-cluster ]]; then
    echo "cluster: up did not finish; the end of its logs:" >&2
    tail -n 5 "$STATE"/log/room.log "$STATE"/log/*/{boot.log,slurm/*.log} >&2 2> /dev/null || true
    remove_state
  fi
  rmdir "$STATE" 2> /dev/null || true # fails if it contains other files
}

cluster_down() {
  require_root down
  if [[ -d $STATE ]]; then
    lock_state
  fi
  remove_state
  [[ ! -d $STATE ]] || rmdir "$STATE"
  echo "down: nothing is left of $STATE"
}

# Ends every process of the cluster and empties its folder. The folder itself remains: it is the lock.
remove_state() {
  if [[ -d $STATE && ! -e $STATE/.hpcboot-cluster && -n $(ls -A "$STATE") ]]; then
    die "$STATE is not the folder of a cluster, so nothing is removed; set HPCBOOT_CLUSTER_DIR to another folder"
  fi
  local killed=()
  wait_until 20 nothing_runs || die "these processes do not end: ${killed[*]}"
  find "$STATE" -mindepth 1 -delete 2> /dev/null || [[ ! -d $STATE ]] || die "cannot empty $STATE"
}

# Kills all processes, including those started since the last call, and adds them to the caller's array `killed`.
# Process 1 of a host first loses its command line, then waits for all others to end; this waits for it, too.
nothing_runs() {
  local pid found left=0
  mapfile -t found < <(marked_processes)
  for pid in "${found[@]}"; do
    kill -KILL "$pid" 2> /dev/null || true
    killed+=("$pid")
  done
  for pid in "${killed[@]}"; do
    [[ $(ps -o stat= -p "$pid") == @(|Z*) ]] || left=1
  done
  ((left == 0))
}

cluster_status() {
  require_root status
  if [[ ! -e $STATE/ready || -z $(host_pid n0) ]]; then
    echo "down: no cluster in $STATE"
    exit 3
  fi
  local compute_hosts i
  read -r compute_hosts _ < "$STATE/ready"
  echo "up: $STATE"
  printf '%-6s %-13s %s\n' HOST ADDRESS PROCESS
  for ((i = 0; i <= compute_hosts; ++i)); do
    printf '%-6s %-13s %s\n' "n$i" "$(host_address "n$i")" "$(host_pid "n$i")"
  done
  enter_host root n0 sinfo
}
