# authorize: adds this user's key to authorized_keys on every host.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# The common head of the scripts for the hosts.
script_head() {
  cat "${BASH_SOURCE[0]%/*}"/{safe_files,public_key}.sh
  cat <<'SH'
umask 077
cd || exit 1
say() { printf 'hpcboot:%s\n' "$*"; }
give_up() {
  say wrong "$1: $problem; do: make room there (df -h, quota -s) or correct the owner and modes, then run this again"
  exit 1
}
if [ ! -d .ssh ]; then problem=$(mkdir .ssh 2>&1) || { last_words; give_up "~/.ssh cannot be created"; }; fi
each_left .ssh remove_left
SH
}

# append_script FILE-OF-KEYS FILE-OF-HOST-KEYS NONCE: for sh on a host. Reports what it changed there.
append_script() {
  local keys=$1 known=$2 line
  script_head
  printf 'nonce=%s\n' "$(shell_word "$3")"
  cat <<'SH'
if [ -e ".ssh/$nonce" ]; then say shared; fi
mode() { stat -L -c %a "$1" 2>/dev/null; }
right() {
  was=$(mode "$1")
  if [ "$was" = "$2" ]; then return; fi
  if [ -O "$1" ]; then
    chmod "$2" "$1" && say did "set the mode of ~/$1 to $2 (it was $was)"
    return
  fi
  case $was in *[2367]? | *[2367]) say wrong "~/$1 belongs to $(owner_of "$1"), and others may write to it (mode $was); do: sudo chmod go-w ~/$1" ;; esac
}
right .ssh 700
case $(mode .) in *[2367]? | *[2367]) say wrong "the home folder has mode $(mode .), so sshd ignores its keys; do: chmod go-w ~" ;; esac
add() { # add FILE LINE…: all of them in one step
  if [ $# -eq 1 ]; then return; fi
  add_lines "$@" || give_up "~/$1 cannot be written"
  if [ $# -eq 2 ]; then say did "added a line to ~/$1"; else say did "added $(($# - 1)) lines to ~/$1"; fi
}
SH
  echo 'set --'
  while read -r line; do
    printf 'has_text .ssh/authorized_keys %s || set -- "$@" %s\n' "$(shell_word "$(key_body "$line")")" "$(shell_word "$line")"
  done <"$keys"
  printf 'add .ssh/authorized_keys "$@"\nset --\n'
  while read -r line; do
    printf 'has_text .ssh/known_hosts %s || set -- "$@" %s\n' "$(shell_word "$line")" "$(shell_word "$line")"
  done <"$known"
  printf 'add .ssh/known_hosts "$@"\nright .ssh/authorized_keys 600\nsay done\n'
}

# For --mesh: creates a key on the host if it has none; its public half goes to all other hosts.
mesh_script() {
  script_head
  cat <<'SH'
for key in id_ed25519 id_ecdsa id_rsa; do
  if [ -f ".ssh/$key" ]; then break; fi
  key=
done
if [ -z "$key" ]; then
  key=id_ed25519
  make_key .ssh/$key -N '' </dev/null || give_up "~/.ssh/$key cannot be created"
  say did "created the key ~/.ssh/$key"
fi
if line=$(public_line ".ssh/$key"); then
  say key "$line"
else
  say wrong "the public half of ~/.ssh/$key cannot be read; do: ssh-keygen -y -f ~/.ssh/$key >~/.ssh/$key.pub, then run this again"
fi
SH
}

# report_changes NAME.HOST HOST: at most as many lines as our script prints.
report_changes() {
  local line
  while read -r line; do say "$2: $line"; done < <(answers "$1" did | awk 'NR <= 20'; answers "$1" wrong | awk 'NR <= 20')
}

# ask_password HOST STATE: runs the script that adds the key over one connection in which ssh may ask for the password.
ask_password() {
  local options
  options_of "$1"
  options=("${options[@]/#BatchMode=yes/BatchMode=no}" -o NumberOfPasswordPrompts=2)
  if [ "$2" = crowded ]; then options+=(-o IdentitiesOnly=yes); fi # else the agent's keys use up all tries
  say "$1 does not accept the key yet; ssh asks for your password there (it is not stored)"
  ssh -T "${options[@]}" -- "$1" 'exec sh -s' <"$work/append.sh" >"$work/append.$1.out" 2>"$work/append.$1.err" ||
    say "$1: $(words_of "append.$1")"
  grep -q '^hpcboot:done' "$work/append.$1.out" || not_authorized=true
}

not_authorized=false # true if a host let us in, but did not add the key

authorize_hosts() {
  local host shared=()
  fix_modes # before choose_key: ssh-keygen reads no key that others can read
  choose_key
  if [ -z "$public_key" ] && [ -n "$damaged_key" ]; then fail_damaged "$damaged_key"; fi
  if [ -z "$public_key" ] && [ -n "$unread_key" ]; then
    fail "the public half of $unread_key cannot be read" "$unread_key.pub, in one line as ssh-keygen writes it" \
      "$(public_remedy "$unread_key")"
  fi
  if [ -z "$public_key" ]; then
    fail "no key in $home/.ssh and none in an agent" "a key to authorize" "ssh-setup generate"
  fi
  add_authorized "$home/.ssh/authorized_keys" "$public_key"
  if [ "$dry_run" = true ]; then
    foretell_authorize
    return
  fi
  put_nonce "$home/.ssh" || fail_write "$nonce_file"
  printf '%s\n' "$public_key" >"$work/keys"
  : >"$work/known"
  if [ -n "${jump-}" ]; then
    # The hosts behind it can be reached only once it lets us in.
    learn_hosts "$jump"
    probe_hosts probe "$jump"
    authorize_each "$jump"
  fi
  learn_hosts "${hosts[@]}"
  probe_hosts probe "${hosts[@]}"
  authorize_each "${hosts[@]}"
  if [ "$mesh" = true ]; then
    # Again: hosts that required a password are open by now.
    shared=()
    probe_hosts probe "${hosts[@]}"
    collect_mesh
    authorize_each "${hosts[@]}"
  fi
  rm -f "$nonce_file"
  if [ ${#shared[@]} -gt 0 ]; then say "the home folder is shared with ${shared[*]}: authorizing it once is enough"; fi
}

foretell_authorize() {
  local host
  learn_hosts ${jump:+"$jump"} "${hosts[@]}"
  probe_hosts probe "${hosts[@]}"
  for host in "${hosts[@]}"; do
    if is_here "$host"; then continue; fi
    say "would ensure that $host has the key '${public_key##* }' in ~/.ssh/authorized_keys" \
      "(now: $(state_on probe "$host"))"
  done
  if [ "$mesh" = true ]; then
    say "would create a key on each host that has none, and authorize all keys on all hosts"
  fi
}

# authorize_each HOST…: one after the other, because a home that hosts share must not be written by two at once.
# Adds the hosts that share this machine's home to $shared.
authorize_each() {
  local host state
  append_script "$work/keys" "$work/known" "$nonce" >"$work/append.sh"
  for host in "$@"; do
    if is_here "$host"; then continue; fi
    state=$(state_on probe "$host")
    if [[ $state == @(denied|crowded) ]] && [ -t 0 ]; then
      # An earlier host may share its home.
      probe_hosts probe "$host"
      state=$(state_on probe "$host")
      if [[ $state == @(denied|crowded) ]]; then
        ask_password "$host" "$state"
        report_changes "append.$host" "$host"
        continue
      fi
    fi
    if [ "$state" != open ]; then continue; fi
    on_host "append.$host" "$host" "$work/append.sh"
    report_changes "append.$host" "$host"
    if grep -q '^hpcboot:shared' "$work/append.$host.out"; then shared+=("$host"); fi
    if ! grep -q '^hpcboot:done' "$work/append.$host.out"; then
      say "$host: not authorized: $(words_of "append.$host")"
      not_authorized=true
    fi
  done
}

# Adds the hosts' own keys to $work/keys, and the known host keys of all hosts to $work/known.
collect_mesh() {
  local host line name port
  mesh_script >"$work/mesh.sh"
  for host in "${hosts[@]}"; do
    if is_here "$host"; then continue; fi
    if [ "$(state_on probe "$host")" = open ]; then
      on_host "mesh.$host" "$host" "$work/mesh.sh"
      report_changes "mesh.$host" "$host"
      # Nothing but a key: a host must not write options into the authorized_keys of others. Its comment is kept
      # if it is a plain word.
      answers "mesh.$host" key | awk -v host="$host" '
        $1 ~ /^(ssh|ecdsa|sk)-[a-z0-9@.-]+$/ && $2 ~ /^AAAA[A-Za-z0-9+\/=]+$/ {
          print $1, $2, (NF == 3 && $3 ~ /^[A-Za-z0-9@._-]+$/ ? $3 : host) }' >>"$work/keys"
    fi
    read -r name port <<<"$(endpoint_of "$host")"
    known_keys "$(known_file "$host")" "$(known_name "$name" "$port")" >>"$work/known"
  done
  sort -u -o "$work/keys" "$work/keys"
  sort -u -o "$work/known" "$work/known"
}
