# The files of ~/.ssh on this machine: keys, modes, authorized_keys. Nothing that is there is replaced.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# Each change goes through one of these, so that --dry-run is kept everywhere.
will() {
  if [ "$dry_run" = true ]; then
    say "would $1"
    return 1
  fi
  say "$1"
}

# fail_write FILE: after one of safe_files.sh has failed.
fail_write() {
  fail "$1 cannot be written: $problem" "room there, and a folder that you may write to; what was there is unchanged" \
    "make room (df -h $(shell_word "${1%/*}"), quota -s), or correct the modes, then run this again"
}

# tidy_up: what a run that was killed left in ~/.ssh, and beside files that are links.
tidy_up() {
  local file folder folders
  folders=("$home/.ssh")
  for file in "$home"/.ssh/{authorized_keys,known_hosts,config,config.hpcboot}; do
    if [ -L "$file" ] && folder=$(readlink -f -- "$file"); then folders+=("${folder%/*}"); fi
  done
  for folder in "${folders[@]}"; do each_left "$folder" tidy_away; done
}

tidy_away() {
  if will "remove $1, which a run that was killed left"; then remove_left "$1"; fi
}

# right_mode PATH MODE: says so where it was another, and sets it.
right_mode() {
  local found
  found=$(mode_of "$1")
  if [ "$found" = "$2" ]; then return; fi
  if will "set the mode of $1 to $2 (it was $found)"; then chmod "$2" "$1"; fi
}

# May nobody but its owner write to it? sshd and ssh ask no more of authorized_keys and config.
is_safe() { (((8#$(mode_of "$1") & 8#022) == 0)); }

# A home that others may write to makes sshd ignore all keys in it. It is theirs to change.
home_is_safe() { is_safe "$home"; }

make_ssh_folder() {
  if [ -d "$home/.ssh" ]; then
    right_mode "$home/.ssh" 700
  elif [ -e "$home/.ssh" ] || [ -L "$home/.ssh" ]; then
    fail "$home/.ssh is there and is no folder" "a folder, or nothing" \
      "move it away: mv $(shell_word "$home/.ssh") $(shell_word "$home/ssh.old")"
  elif will "make $home/.ssh"; then
    problem=$(mkdir -m 700 -- "$home/.ssh" 2>&1) || {
      last_words
      fail_write "$home/.ssh"
    }
    made_ssh_folder=true
  fi
}

# The private keys that ssh tries by itself, best first.
key_files() {
  local key
  for key in "$home"/.ssh/id_{ed25519,ecdsa,rsa,ed25519_sk,ecdsa_sk}; do
    if [ -f "$key" ]; then echo "$key"; fi
  done
}

# The public lines of the keys in the agent; nothing where there is no agent.
agent_keys() { ssh-add -L 2>/dev/null | grep -E '^(ssh|ecdsa|sk)-' || true; }

# public_line KEY: its public half, in one line. From KEY.pub or, without asking for a passphrase, from
# KEY itself.
public_line() {
  if [ -f "$1.pub" ]; then
    head -n 1 "$1.pub"
  else
    ssh-keygen -y -P '' -f "$1" 2>/dev/null </dev/null
  fi
}

# key_state KEY: plain, locked (by a passphrase), exposed (its mode keeps ssh from using it) or damaged.
key_state() {
  local words
  if [ ! -r "$1" ]; then
    echo exposed
  elif words=$(ssh-keygen -y -P '' -f "$1" 2>&1 >/dev/null </dev/null); then
    echo plain
  else
    case $words in
      *passphrase*) echo locked ;;
      *"bad permissions"*) echo exposed ;;
      *) echo damaged ;;
    esac
  fi
}

fail_damaged() {
  local public='' key
  key=$(shell_word "$1")
  if [ -e "$1.pub" ]; then public="mv $key.pub $key.pub.damaged; "; fi
  fail "$1 cannot be read as a key" "a private key as ssh-keygen makes them" \
    "move it away: mv $key $key.damaged; ${public}then ssh-setup generate"
}

# The base64 part of a public line is the key; type, comment and options around it may differ.
key_body() { grep -oE -m 1 'AAAA[A-Za-z0-9+/=]+' <<<"$1"; }

# is_in_agent PUBLIC-LINE
is_in_agent() {
  local body
  body=$(key_body "$1") && [[ $(agent_keys) == *"$body"* ]]
}

fingerprint() { ssh-keygen -l -f - <<<"$1" 2>/dev/null; }

# Sets $public_key, the line to authorize, $locked_key where it is a file that needs an agent, and
# $damaged_key, the first file that is none.
choose_key() {
  local key keys state
  mapfile -t keys < <(key_files)
  public_key=
  locked_key=
  damaged_key=
  for key in "${keys[@]}"; do
    state=$(key_state "$key")
    if [ "$state" = damaged ]; then
      damaged_key=${damaged_key:-$key}
      continue
    fi
    public_key=$(public_line "$key") || public_key=
    if [ -z "$public_key" ]; then continue; fi
    if [ "$state" = locked ] && ! is_in_agent "$public_key"; then locked_key=$key; fi
    return
  done
  read -r public_key < <(agent_keys) || true
}

# add_authorized FILE LINE…: appends those whose key FILE does not have yet.
add_authorized() {
  local file=$1 line
  shift
  if [ -e "$file" ]; then right_mode "$file" 600; fi
  for line in "$@"; do
    if [ -f "$file" ] && grep -sqF -- "$(key_body "$line")" "$file"; then continue; fi
    if will "add the key '${line##* }' to $file"; then add_lines "$file" "$line" || fail_write "$file"; fi
  done
}

# What stands there, for `check`: true if all is right.
report_files() {
  local key keys line words mode file state all_right=true
  mapfile -t keys < <(key_files)
  if [ ! -d "$home/.ssh" ] && { [ -e "$home/.ssh" ] || [ -L "$home/.ssh" ]; }; then
    tell "wrong  $home/.ssh is no folder: move it away, then ssh-setup generate"
    return 1
  fi
  if [ ! -d "$home/.ssh" ]; then
    tell "no folder $home/.ssh; do: ssh-setup generate"
    return 1
  fi
  if ! home_is_safe; then
    tell "wrong  $home has mode $(mode_of "$home"): sshd ignores keys where others may write; do: chmod go-w $(shell_word "$home")"
    all_right=false
  fi
  while read -r mode file; do
    if [ ! -e "$file" ]; then continue; fi
    if [ "$(mode_of "$file")" = "$mode" ]; then continue; fi
    # These two may be read by others.
    case $file in "$home/.ssh/config" | "$home/.ssh/authorized_keys") if is_safe "$file"; then continue; fi ;; esac
    tell "wrong  $file has mode $(mode_of "$file"), not $mode; do: ssh-setup generate"
    all_right=false
  done < <(printf '%s\n' "700 $home/.ssh" "600 $home/.ssh/authorized_keys" "600 $home/.ssh/config"
    key_files | sed 's/^/600 /')
  for key in "${keys[@]}"; do
    state=$(key_state "$key")
    if [ "$state" = damaged ]; then
      tell "wrong  $key cannot be read as a key: move it away, then ssh-setup generate"
      all_right=false
      continue
    fi
    line=$(public_line "$key") || line=
    words=$(fingerprint "$line")
    if [ "$state" = exposed ]; then
      words+="${words:+, }not used by ssh with mode $(mode_of "$key"): ssh-setup generate"
    elif [ "$state" = locked ]; then
      words+="${words:+, }passphrase, "
      if is_in_agent "$line"; then words+="in the agent"; else words+="not in the agent: ssh-add $(shell_word "$key")"; fi
    fi
    tell "key    $key  $words"
  done
  agent_keys | while read -r line; do tell "agent  $(fingerprint "$line")"; done
  choose_key
  if [ -z "$public_key" ] && [ ${#keys[@]} -eq 0 ]; then
    tell "wrong  no key, in $home/.ssh or an agent; do: ssh-setup generate"
    all_right=false
  fi
  [ "$all_right" = true ]
}

fix_modes() {
  local file
  make_ssh_folder
  while read -r file; do
    if [ -e "$file" ]; then right_mode "$file" 600; fi
  done < <(key_files; echo "$home/.ssh/authorized_keys")
  if [ -e "$home/.ssh/config" ] && ! is_safe "$home/.ssh/config"; then right_mode "$home/.ssh/config" 600; fi
  home_is_safe || say "$home can be written by others (mode $(mode_of "$home")), so sshd will ignore its keys; do: chmod go-w $(shell_word "$home")"
}

# generate_key: a key of its own only where neither a file nor an agent has one, or --new-key is given.
generate_key() {
  local existing='' key=$home/.ssh/id_ed25519 arguments=(-N '')
  fix_modes
  choose_key # without a file, the agent's
  if [ -n "$damaged_key" ] && { [ -z "$public_key" ] || [ "$damaged_key$new_key" = "${key}true" ]; }; then
    fail_damaged "$damaged_key"
  fi
  while read -r existing; do
    if [ "$(key_state "$existing")" != damaged ]; then break; fi
    existing=
  done < <(key_files)
  if [ -n "$existing" ] && { [ "$new_key" = false ] || [ -e "$key" ]; }; then
    tell "the key $existing is there, and is used"
    return
  fi
  if [ "$new_key" = false ] && [ -n "$public_key" ]; then
    tell "the agent has a key, and it is used: $(fingerprint "$public_key")"
    tell "connections from one of the hosts to another need a key in a file: ssh-setup generate --new-key"
    return
  fi
  if [ -e "$key.pub" ]; then
    fail "$key.pub without its private key $key" "both or neither" "bring $key back, or move $key.pub away"
  fi
  if ! will "make the key $key"; then return; fi
  if [ "$passphrase" = true ]; then arguments=(); fi
  make_key "$key" -C "$(id -un)@$(hostname)" "${arguments[@]}" ||
    fail "$key cannot be made: $problem" "room for a new key, and a folder that you may write to" \
      "make room (df -h $(shell_word "$home"), quota -s), or correct the modes, then run this again"
  fingerprint "$(public_line "$key")"
}
