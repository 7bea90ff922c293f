# shellcheck shell=bash
# Runs a command on a host: `on` and `as`.

# The process ID, on this machine, of a host's process 1; empty if the host does not exist.
host_pid() {
  local pid
  for pid in $(marked_processes "$1"); do
    # unshare, its parent, has the same command line but is not process 1 in any namespace.
    if [[ $(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status" 2> /dev/null) == 1 ]]; then
      echo "$pid"
      return
    fi
  done
}

# enter_host USER HOST [CMD…]
enter_host() {
  local user=$1 host=$2 uid pid home
  shift 2
  require_root on
  case $user in
    root) uid=0 ;;
    tester) uid=$TESTER_ID ;;
    *) usage_error "users are root and tester, not '$user'" ;;
  esac
  [[ $host =~ ^n[0-9]+$ ]] || usage_error "hosts are n0, n1, …, not '$host'"
  pid=$(host_pid "$host")
  if [[ -z $pid ]]; then
    printf 'cluster: host %s is not up; see: cluster status\n' "$host" >&2
    exit 3
  fi
  home=$STATE/home/$user
  (($# > 0)) || set -- bash -l
  # srun and sbatch pass the caller's environment on, so it must not be that of this machine's shell.
  local environment=(env -i HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/bash LANG=C.UTF-8
    TERM="${TERM:-dumb}" PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin)
  # The folder is entered from inside: the host may have something else at that path.
  # shellcheck disable=SC2016 # $0, $1 and $@ are for the inner shell
  nsenter --target "$pid" --net --uts --mount --root --wd --ipc --pid -- \
    setpriv --reuid "$uid" --regid "$uid" --clear-groups "${environment[@]}" \
    bash -c 'cd "$0" 2> /dev/null || cd; exec "$@"' "$PWD" "$@"
}
