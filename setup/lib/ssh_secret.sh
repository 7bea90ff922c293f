# secret: copies the key with which ranks on several hosts prove that they belong to one launch to every host.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are the sourcing script's

# shellcheck source=setup/lib/rendezvous_key.sh
. "${BASH_SOURCE[0]%/*}/rendezvous_key.sh"

# secret_script: for sh on a host; $secret must be set before it. Reports the state of the key there. An existing key is
# kept.
secret_script() {
  cat "${BASH_SOURCE[0]%/*}"/{safe_files,rendezvous_key}.sh
  cat <<'SH'
say() { printf 'hpcboot:%s\n' "$*"; }
folder=${XDG_CONFIG_HOME:-$HOME/.config}/hpcboot
key=$folder/rendezvous.key
each_left "$folder" remove_left
if [ ! -e "$key" ] && [ ! -L "$key" ]; then
  if make_file "$key" "$secret"; then say state copied; else printf '%s\n' "$problem" >&2; fi
fi
if [ ! -e "$key" ] && [ ! -L "$key" ]; then exit 1; fi
fault=$(key_fault "$key")
if [ -n "$fault" ]; then
  say state "$fault"
elif [ "$(cat "$key")" = "$secret" ]; then
  say state same
else
  say state other
fi
SH
}

# explain FAULT FILE: sets the caller's $found and $remedy. FILE is in a form to paste.
explain() {
  case $1 in
    link) found="is a link" remedy="put the file itself there: cp -L $2 $2.new && mv $2.new $2" ;;
    kind) found="is not a regular file" remedy="move it away: mv $2 $2.old" ;;
    owner) found="belongs to another user" remedy="move it away: mv $2 $2.old" ;;
    mode) found="is open to others" remedy="chmod 600 $2" ;;
  esac
}

secret_folder() {
  local folder=${XDG_CONFIG_HOME-}
  if [ -n "$home_option" ] || [[ $folder != /* ]]; then folder=$home/.config; fi
  echo "$folder/hpcboot"
}

# Sets $secret to the key of this machine, which is created if missing.
own_secret() {
  local key fault found remedy
  key=$(secret_folder)/rendezvous.key
  if [ ! -e "$key" ] && [ ! -L "$key" ]; then
    if [ "$dry_run" = true ]; then
      say "would create the key $key"
      return
    fi
    secret=$(od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n')
    if make_file "$key" "$secret"; then
      say "created the key $key"
    elif [ ! -e "$key" ]; then # a rank may have been faster
      fail "the key $key cannot be created: $problem" "a writable home folder" "make room there, or correct the modes"
    fi
  fi
  fault=$(key_fault "$key")
  if [ -n "$fault" ]; then
    explain "$fault" "$(shell_word "$key")"
    fail "$key $found" "a regular file of your own with mode 600: ranks use no key that can be read by others" "$remedy"
  fi
  secret=$(cat "$key")
  [[ $secret =~ ^[[:print:]]{16,4096}$ ]] ||
    fail "$key holds no secret" "a line of 16 to 4096 characters" "remove it, and run this again"
}

# Returns 1 if a host did not get it.
share_secret() {
  # shellcheck disable=SC2088 # of another host
  local host states found remedy key='~/.config/hpcboot/rendezvous.key' code=0
  own_secret
  if [ "$dry_run" = true ]; then
    for host in "${hosts[@]}"; do is_here "$host" || say "would ensure that $host has the key"; done
    return
  fi
  {
    printf 'secret=%s\n' "$(shell_word "$secret")"
    secret_script
  } >"$work/secret.sh"
  for host in "${hosts[@]}"; do
    if is_here "$host"; then continue; fi
    on_host "secret.$host" "$host" "$work/secret.sh"
    states=$(answers "secret.$host" state | tr '\n' ' ')
    case $states in
      "copied same ")
        say "$host: copied the key"
        continue
        ;;
      "same ")
        say "$host: already has the key"
        continue
        ;;
      "link " | "kind " | "owner " | *"mode ")
        states=${states##*copied }
        explain "${states% }" "$key"
        say "$host: $key $found, so no rank will use it; on that host: $remedy"
        ;;
      "other ") say "$host: has another key in $key, which is kept; remove one of the two" ;;
      *) say "$host: not copied: $(words_of "secret.$host")" ;;
    esac
    code=1
  done
  rm -f "$work/secret.sh"
  return "$code"
}
