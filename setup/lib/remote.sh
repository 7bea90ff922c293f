# Runs a script on many hosts in parallel, each within a deadline, whatever the login shell there.
# Sourced after messages.sh and hosts.sh. The script that sources this sets $timeout,
# $home_option (--home), $jump and $identity, from its options of these names.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# shellcheck source=setup/lib/safe_files.sh
. "${BASH_SOURCE[0]%/*}/safe_files.sh"
# shellcheck source=setup/lib/own_known_hosts.sh
. "${BASH_SOURCE[0]%/*}/own_known_hosts.sh"

work=       # a temporary folder of this run, removed at the end
nonce_file= # a file that other machines look for, removed at the end
ssh_options=()
at_once=64 # parallel connections

mode_of() { stat -L -c %a -- "$1"; }

need_command() {
  command -v "$1" >/dev/null ||
    fail "no $1 on this machine" "OpenSSH's client and coreutils" \
      "apt-get install openssh-client, or ask your administrator"
}

# Checks the options --hosts, --timeout, --jump and --identity.
check_connection_options() {
  [[ $timeout =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--timeout takes seconds, not '$timeout'"
  [ -z "$jump" ] || is_endpoint "$jump" || usage_error "--jump takes [USER@]HOST, not '$jump'"
  if [ -n "$identity" ]; then
    [ -r "$identity" ] || usage_error "cannot read --identity '$identity'"
    identity=$(realpath -- "$identity")
    require_config_word "$identity"
    (((8#$(mode_of "$identity") & 8#077) == 0)) ||
      fail "$identity can be read by others (mode $(mode_of "$identity")), so ssh will not use it" \
        "mode 600 or 400" "chmod 600 $(shell_word "$identity")"
  fi
  if [ -n "$hosts_file" ]; then need_command ssh; fi # the local machine needs no ssh
  need_command timeout
}

# require_config_word PATH: ssh parses it as a word of its configuration, even on the command line.
require_config_word() {
  ssh_config_word "$1" >/dev/null ||
    fail "the path $1" "a path that ssh reads unambiguously: without quotation marks, backslashes, \${ and control characters" \
      "rename it, or use a symbolic link to it that has such a name"
}

# identity_option KEY: sets $identity_option. -i would expand %-tokens.
identity_option() {
  if [[ $1 == *%* ]]; then identity_option=(-o "IdentityFile=$(ssh_config_word "$1")"); else identity_option=(-i "$1"); fi
}

# begin_work: creates $work, with room for the output of each host, and removes those of killed runs.
begin_work() {
  local folder=${TMPDIR:-/tmp} left mark
  if [ "${dry_run-false}" = false ]; then
    for left in "$folder"/hpcboot-ssh.*; do
      mark=${left##*/hpcboot-ssh.}
      if [ -d "$left" ] && [ ! -L "$left" ] && [ -O "$left" ] && is_left "${mark%.*}"; then rm -rf -- "$left"; fi
    done
  fi
  trap end_work EXIT
  trap 'exit 130' INT TERM HUP
  work=$(mktemp -d -- "$folder/hpcboot-ssh.$own_mark.XXXXXX" 2>/dev/null) || fail_work
  printf "%$(work_room)s" '' 2>/dev/null >"$work/room" || fail_work
  rm -f "$work/room"
}

# In bytes. Each host has about twenty files, most of them empty or of one block.
work_room() {
  local kib=$((256 + 64 * ${#hosts[@]}))
  echo $((1024 * (kib < 16384 ? kib : 16384)))
}

fail_work() {
  fail "the output of the hosts cannot be written to ${TMPDIR:-/tmp}" \
    "a writable folder with $(($(work_room) / 1024)) KiB free" \
    "make room there (df -h $(shell_word "${TMPDIR:-/tmp}")), or set TMPDIR to another folder"
}

end_work() {
  local code=$? pid
  for pid in $(jobs -p); do kill "$pid" 2>/dev/null || true; done
  rm -rf ${work:+"$work"} ${nonce_file:+"$nonce_file"} ${new_file:+"$new_file" "$new_file.pub"}
  # A ~/.ssh that this run created for a file that could not be written is empty.
  if [ "$code" -ne 0 ] && [ "${made_ssh_folder-false}" = true ]; then rmdir "$home/.ssh" 2>/dev/null || true; fi
}

# The home folder as ssh sees it: OpenSSH reads the user database, not $HOME.
home_of_ssh() {
  local line=
  if command -v getent >/dev/null; then line=$(getent passwd "$(id -u)" || true); fi
  line=${line%:*}
  echo "${line##*:}"
}

# put_nonce FOLDER: creates a file there with a unique name, which is also its content. On failure, $problem has the
# reason.
put_nonce() {
  nonce=.hpcboot-nonce.$own_mark
  rm -f -- "$1/$nonce"
  nonce_file=$1/$nonce
  # noclobber: in a shared folder another user could put a link there.
  if problem=$( (set -o noclobber && : >"$nonce_file" && echo "$nonce" | cat >>"$nonce_file") 2>&1); then return; fi
  rm -f -- "$nonce_file"
  last_words
  return 1
}

# require_own_home: sshd and ssh use a home of this user or of root. In the home of another user, files of this user
# would lock that user out, its links would choose which files are changed, and ssh would run, as this user, what its
# configuration names.
require_own_home() {
  local owner
  if [ -O "$home" ] || [ "$(stat -L -c %u -- "$home")" -eq 0 ]; then return; fi
  owner=$(owner_of "$home")
  case $owner in *[!0-9]*) ;; *) owner="#$owner" ;; esac # as sudo takes a number
  fail "the home folder $home belongs to ${owner#"#"}" "a home folder of your own" \
    "run it as that user: sudo -H -u $(shell_word "$owner") setup/$program${verb:+ $verb}; or name your own: --home DIR"
}

# Sets $home and $ssh_options.
prepare_ssh() {
  local key identity_option given=${home_option:-${HOME:-$(home_of_ssh)}} # cron and some containers set no HOME
  if [ -z "$given" ]; then
    fail "HOME is not set, and the user database has no home folder for user $(id -u)" "a home folder with .ssh in it" \
      "use --home DIR, or export HOME"
  fi
  home=$(CDPATH='' cd -- "$given" 2>/dev/null && pwd) || usage_error "the home folder '$given' does not exist"
  # Lists of files have one file per line.
  [[ $home != *$'\n'* ]] ||
    fail "the home folder $home" "a path without newlines" "use --home with a symbolic link to it that has such a path"
  require_own_home
  ssh_options=(-o BatchMode=yes -o "ConnectTimeout=$timeout" -o StrictHostKeyChecking=yes
    -o UpdateHostKeys=no -o LogLevel=ERROR -o ControlPath=none -o ClearAllForwardings=yes)
  if [ "$home" != "$(home_of_ssh)" ]; then
    # By default ssh would read the files of the other home.
    if [ -f "$home/.ssh/config" ]; then ssh_options=(-F "$home/.ssh/config" "${ssh_options[@]}"); else ssh_options=(-F none "${ssh_options[@]}"); fi
    require_config_word "$home"
    ssh_options+=(-o "UserKnownHostsFile=$(ssh_config_word "$home/.ssh/known_hosts")")
    for key in "$home"/.ssh/id_{ed25519,ecdsa,rsa}; do
      if [ ! -f "$key" ]; then continue; fi
      identity_option "$key"
      ssh_options+=("${identity_option[@]}")
    done
  fi
  if [ -n "${identity-}" ]; then
    identity_option "$identity"
    ssh_options+=("${identity_option[@]}")
  fi
  # -J would not apply these options to the connection to the jump host.
  if [ -n "${jump-}" ]; then
    local word command=ssh options
    options_of "$jump"
    for word in "${options[@]}"; do command+=" $(proxy_word "$word")"; done
    ssh_jump_options=(-o "ProxyCommand=$command -W '[%h]:%p' -- $(proxy_word "$jump")")
  else
    ssh_jump_options=()
  fi
}

# options_of HOST: sets $options to those of ssh for this host.
options_of() {
  local known
  options=("${ssh_options[@]}")
  known=$(own_known_hosts "$timeout" "${options[@]}" -- "$1")
  if [ -n "$known" ]; then options+=(-o "UserKnownHostsFile=$known"); fi
  if [ "$1" = "${jump-}" ]; then return; fi
  # sshd ends a connection after a few keys. The jump host may accept one of the agent.
  if [ -n "${identity-}" ]; then options+=(-o IdentitiesOnly=yes); fi
  options+=("${ssh_jump_options[@]}")
}

# settings_of HOST: what ssh's configuration and our options say about it, one keyword per line.
settings_of() {
  local options
  options_of "$1"
  timeout -k 1 "$timeout" ssh -G "${options[@]}" -- "$1" 2>/dev/null || true
}

seconds_now() { date +%s.%N; }

# on_host NAME HOST SCRIPT-FILE: runs the script there with sh, and leaves NAME.out, .err, .code,
# .seconds and .ended (since 1970) in $work. The script is passed on standard input, so that the login shell sees
# a short command that means the same to sh and csh. The output also contains what .cshrc and .bashrc print, so
# a script marks its own lines with "hpcboot:" (see answers).
on_host() {
  start_on_host "$@"
  need_answer "$1"
}

# need_answer NAME: fails without .seconds, which is written last; it is missing if the disk became full.
need_answer() { [ -s "$work/$1.seconds" ] || fail_work; }

start_on_host() {
  local name=$1 host=$2 script=$3 started code=0 options
  local deadline=${host_deadline:-$((timeout + 1))} # ssh's own timeout covers only the connection
  started=$(seconds_now)
  if is_here "$host"; then
    timeout -k 1 "$deadline" sh -s <"$script" >"$work/$name.out" 2>"$work/$name.err" || code=$?
  else
    options_of "$host"
    timeout -k 1 "$deadline" ssh -T "${options[@]}" -- "$host" 'exec sh -s' \
      <"$script" >"$work/$name.out" 2>"$work/$name.err" || code=$?
  fi
  {
    echo "$code" >"$work/$name.code"
    seconds_now >"$work/$name.ended"
    awk -v a="$started" '{ printf "%.2f\n", $1 - a }' "$work/$name.ended" >"$work/$name.seconds"
  } 2>/dev/null || true
}

# on_all NAME SCRIPT-FILE HOST…: on_host for all hosts in parallel, as NAME.HOST. If a file SCRIPT-FILE.HOST
# exists, that host gets it instead.
on_all() {
  local name=$1 script=$2 host own running=0
  shift 2
  for host in "$@"; do
    own=$script
    if [ -e "$script.$host" ]; then own=$script.$host; fi
    if [ "$running" -ge "$at_once" ]; then wait -n || true; else running=$((running + 1)); fi
    start_on_host "$name.$host" "$host" "$own" &
  done
  wait
  for host in "$@"; do need_answer "$name.$host"; done
}

# answers NAME.HOST KEY: what the script printed as "hpcboot:KEY …", one per line. It is untrusted text: print it with
# the functions of messages.sh, or check it. Its length is limited, because a host may send endless output.
answers() {
  tr -d '\000' <"$work/$1.out" | awk -v key="hpcboot:$2" '
    /^hpcboot:/ && $1 == key && lines < 1000 { ++lines; sub(/^[^ \t]+[ \t]*/, ""); print substr($0, 1, 4000) }'
}

# words_of NAME.HOST: the messages of ssh, in one line; only their end, where ssh reports why it exited.
words_of() {
  tr -d '\000' <"$work/$1.err" | tr -s '\r\n' '  ' |
    awk '{ n = length($0); print (n > 2000 ? substr($0, n - 1999) : $0) }'
}
