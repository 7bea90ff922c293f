# The files in ~/.ssh on this machine: keys, modes, authorized_keys. No existing file is replaced.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# shellcheck source=setup/lib/public_key.sh
. "${BASH_SOURCE[0]%/*}/public_key.sh"

# will ACTION: announces each change, so that --dry-run is respected everywhere.
will() {
  if [ "$dry_run" = true ]; then
    say "would $1"
    return 1
  fi
  say "$1"
}

# fail_write FILE: after a function of safe_files.sh has failed.
fail_write() {
  fail "$1 cannot be written: $problem" "free space and write access there; the existing file is unchanged" \
    "make room (df -h $(shell_word "${1%/*}"), quota -s), or correct its owner and modes, then run this again"
}

# tidy_up: removes what a killed run left in ~/.ssh, beside the targets of links, and beside the key of the ranks.
tidy_up() {
  local file folder folders
  folders=("$home/.ssh" "$(secret_folder)")
  for file in "$home"/.ssh/{authorized_keys,known_hosts,config,config.hpcboot}; do
    if [ -L "$file" ] && folder=$(readlink -f -- "$file"); then folders+=("${folder%/*}"); fi
  done
  for folder in "${folders[@]}"; do each_left "$folder" tidy_away; done
}

tidy_away() {
  if will "remove $1, left by a killed run"; then remove_left "$1"; fi
}

# right_mode PATH MODE: sets the mode, and reports it if it was different. Of another user's file, ssh and sshd require
# only that nobody else may write to it.
right_mode() {
  local found
  found=$(mode_of "$1")
  if [ "$found" = "$2" ]; then return; fi
  if [ ! -O "$1" ]; then
    if is_safe "$1"; then return; fi
    fail "$1 has mode $found, and belongs to $(owner_of "$1")" "a file of your own, or mode 644" \
      "sudo chmod go-w $(shell_word "$1")"
  fi
  if ! will "set the mode of $1 to $2 (it was $found)"; then return; fi
  problem=$(chmod "$2" "$1" 2>&1) || {
    last_words
    fail_write "$1"
  }
}

# True if only its owner may write to it.
is_safe() { (((8#$(mode_of "$1") & 8#022) == 0)); }

# The files that others may read, but not write.
readable_files() { printf '%s\n' "$home"/.ssh/{authorized_keys,config,known_hosts}; }

# tighten FILE: if others may write to it.
tighten() { if [ -e "$1" ] && ! is_safe "$1"; then right_mode "$1" 600; fi; }

# sshd ignores all keys in a home that others may write to. Its mode is for the user to change.
home_is_safe() { is_safe "$home"; }

make_ssh_folder() {
  if [ -d "$home/.ssh" ]; then
    if [ ! -O "$home/.ssh" ]; then
      fail "$home/.ssh belongs to $(owner_of "$home/.ssh")" "a folder of your own" \
        "sudo chown -R $(id -u) $(shell_word "$home/.ssh"), or move it away"
    fi
    right_mode "$home/.ssh" 700
  elif [ -e "$home/.ssh" ] || [ -L "$home/.ssh" ]; then
    fail "$home/.ssh exists and is not a folder" "a folder, or nothing" \
      "move it away: mv $(shell_word "$home/.ssh") $(shell_word "$home/ssh.old")"
  elif will "create $home/.ssh"; then
    problem=$(mkdir -m 700 -- "$home/.ssh" 2>&1) || {
      last_words
      fail_write "$home/.ssh"
    }
    made_ssh_folder=true
  fi
}

# The private keys that ssh tries by default, best first.
key_files() {
  local key
  for key in "$home"/.ssh/id_{ed25519,ecdsa,rsa,ed25519_sk,ecdsa_sk}; do
    if [ -f "$key" ]; then echo "$key"; fi
  done
}

# read_agent: sets $agent_text for agent_keys. ssh would wait for the agent without end, too.
read_agent() {
  local code=0
  agent_text=$(timeout -k 1 "$timeout" ssh-add -L 2>/dev/null) || code=$?
  case $code in
    124 | 137)
      fail "the ssh agent does not answer within $timeout s (SSH_AUTH_SOCK=${SSH_AUTH_SOCK-})" "an agent that answers, or none" \
        "start a new one: eval \"\$(ssh-agent)\"; or use none: unset SSH_AUTH_SOCK"
      ;;
  esac
}

# The public lines of the keys in the agent; nothing without an agent.
agent_keys() { grep -E '^(ssh|ecdsa|sk)-' <<<"$agent_text" || true; }

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
  fail "$1 cannot be read as a key" "a private key in ssh-keygen's format" \
    "move it away: mv $key $key.damaged; ${public}then ssh-setup generate"
}

# public_remedy KEY: if public_line fails for it.
public_remedy() {
  local public='' key
  key=$(shell_word "$1")
  if [ -e "$1.pub" ]; then public="mv $key.pub $key.pub.old; "; fi
  printf '%s' "${public}ssh-keygen -y -f $key >$key.pub (asks for its passphrase)"
}

# is_in_agent PUBLIC-LINE
is_in_agent() {
  local body
  body=$(key_body "$1") && [[ $(agent_keys) == *"$body"* ]]
}

# Sets $public_key, the line to authorize, $locked_key if it is a file that needs an agent, $damaged_key, the first file
# that is not a key, and $unread_key, the first one whose public half only its passphrase reveals.
choose_key() {
  local key keys state
  mapfile -t keys < <(key_files)
  public_key=
  locked_key=
  damaged_key=
  unread_key=
  for key in "${keys[@]}"; do
    state=$(key_state "$key")
    if [ "$state" = damaged ]; then
      damaged_key=${damaged_key:-$key}
      continue
    fi
    public_key=$(public_line "$key") || public_key=
    if [ -z "$public_key" ]; then
      if [ "$state" = locked ]; then unread_key=${unread_key:-$key}; fi
      continue
    fi
    if [ "$state" = locked ] && ! is_in_agent "$public_key"; then locked_key=$key; fi
    return
  done
  read -r public_key < <(agent_keys) || true
}

# add_authorized FILE LINE…: appends the lines whose key is not in FILE yet.
add_authorized() {
  local file=$1 line
  shift
  tighten "$file"
  for line in "$@"; do
    if [ -f "$file" ] && has_text "$file" "$(key_body "$line")"; then continue; fi
    if will "add the key '${line##* }' to $file"; then add_lines "$file" "$line" || fail_write "$file"; fi
  done
}

# report_foreign FILE: false if ssh or sshd refuses it. They accept files of root.
report_foreign() {
  local owner
  owner=$(owner_of "$1")
  if [ "$(stat -L -c %u -- "$1")" -eq 0 ] && is_safe "$1"; then
    tell "note   $1 belongs to $owner: ssh-setup cannot change it"
    return
  fi
  tell "wrong  $1 belongs to $owner, with mode $(mode_of "$1"): ssh or sshd refuses it; do: sudo chown $(id -u) $(shell_word "$1")"
  return 1
}

# Reports the files, for `check`; true if all are right.
report_files() {
  local key keys line words mode file state all_right=true
  mapfile -t keys < <(key_files)
  if [ ! -d "$home/.ssh" ] && { [ -e "$home/.ssh" ] || [ -L "$home/.ssh" ]; }; then
    tell "wrong  $home/.ssh is not a folder: move it away, then ssh-setup generate"
    return 1
  fi
  if [ ! -d "$home/.ssh" ]; then
    tell "$home/.ssh does not exist; do: ssh-setup generate"
    return 1
  fi
  if ! home_is_safe; then
    tell "wrong  $home has mode $(mode_of "$home"): sshd ignores keys in a folder that others may write to; do: chmod go-w $(shell_word "$home")"
    all_right=false
  fi
  while read -r mode file; do
    if [ ! -e "$file" ]; then continue; fi
    if [ ! -O "$file" ]; then
      report_foreign "$file" || all_right=false
      continue
    fi
    case $mode in
      safe) if is_safe "$file"; then continue; fi ;;
      *) if [ "$(mode_of "$file")" = "$mode" ]; then continue; fi ;;
    esac
    tell "wrong  $file has mode $(mode_of "$file"), not ${mode/safe/600}; do: ssh-setup generate"
    all_right=false
  done < <(echo "700 $home/.ssh"; readable_files | sed 's/^/safe /'; key_files | sed 's/^/600 /')
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
      if [ -z "$line" ]; then
        words+="no public half in $key.pub: $(public_remedy "$key")"
      elif is_in_agent "$line"; then
        words+="in the agent"
      else
        words+="not in the agent: ssh-add $(shell_word "$key")"
      fi
    fi
    tell "key    $key  $words"
  done
  agent_keys | while read -r line; do tell "agent  $(fingerprint "$line")"; done
  choose_key
  if [ -z "$public_key" ] && [ ${#keys[@]} -eq 0 ]; then
    tell "wrong  no key in $home/.ssh or in an agent; do: ssh-setup generate"
    all_right=false
  elif [ -z "$public_key" ] && [ -n "$unread_key" ]; then
    all_right=false # its line says what to do
  fi
  [ "$all_right" = true ]
}

fix_modes() {
  local file
  make_ssh_folder
  while read -r file; do right_mode "$file" 600; done < <(key_files)
  while read -r file; do tighten "$file"; done < <(readable_files)
  home_is_safe || say "$home can be written by others (mode $(mode_of "$home")), so sshd will ignore its keys; do: chmod go-w $(shell_word "$home")"
}

# generate_key: creates a key only if neither a file nor an agent has one, or with --new-key.
generate_key() {
  local existing='' key=$home/.ssh/id_ed25519 arguments=(-N '')
  fix_modes
  choose_key # without a key file, the agent's key
  if [ -n "$damaged_key" ] && { [ -z "$public_key" ] || [ "$damaged_key$new_key" = "${key}true" ]; }; then
    fail_damaged "$damaged_key"
  fi
  while read -r existing; do
    if [ "$(key_state "$existing")" != damaged ]; then break; fi
    existing=
  done < <(key_files)
  if [ -n "$existing" ] && { [ "$new_key" = false ] || [ -e "$key" ]; }; then
    tell "the key $existing exists and is used"
    return
  fi
  if [ "$new_key" = false ] && [ -n "$public_key" ]; then
    tell "the agent has a key, which is used: $(fingerprint "$public_key")"
    tell "connections from one host to another need a key in a file: ssh-setup generate --new-key"
    return
  fi
  if [ -e "$key.pub" ]; then
    fail "$key.pub without its private key $key" "both or neither" "restore $key, or move $key.pub away"
  fi
  if ! will "create the key $key"; then return; fi
  if [ "$passphrase" = true ]; then arguments=(); fi
  make_key "$key" -C "$(id -un)@$(hostname)" "${arguments[@]}" ||
    fail "$key cannot be created: $problem" "free space and write access there" \
      "make room (df -h $(shell_word "$home"), quota -s), or correct the owner and modes, then run this again"
  fingerprint "$(public_line "$key")"
}
