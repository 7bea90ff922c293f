# For this machine and for sh on a host.
# shellcheck shell=sh

# own_known_hosts SECONDS [OPTION]… HOST: the UserKnownHostsFile to use for it; nothing if ssh's own keeps keys. Many
# configurations name /dev/null, so that ssh accepts every host; with StrictHostKeyChecking=yes it would accept none.
own_known_hosts() {
  own_seconds=$1
  shift
  # shellcheck disable=SC2088 # ssh expands it
  case $(timeout -k 1 "$own_seconds" ssh -G "$@" 2>/dev/null | sed -n 's/^userknownhostsfile //p') in
    none | 'none '* | /dev/null | '/dev/null '*) echo '~/.ssh/known_hosts' ;;
  esac
}
