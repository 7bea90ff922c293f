# known_hosts: new host keys are shown and, with consent, added; a known key is never replaced by a
# different one.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# endpoint_of HOST: its name and port from ssh's configuration, separated by a blank; HOST's own name if the configured
# one cannot be passed to ssh-keyscan.
endpoint_of() {
  local name port
  read -r name port < <(settings_of "$1" | awk '$1 == "hostname" { name = $2 } $1 == "port" { port = $2 } END { print name, port }') || true
  is_host_name "$name" || name=${1#*@}
  [[ $port =~ ^[0-9]{1,5}$ ]] || port=22
  echo "$name $port"
}

# The name of a host in known_hosts.
known_name() { if [ "$2" = 22 ]; then echo "$1"; else echo "[$1]:$2"; fi; }

# known_file HOST: where ssh looks for its key first. ssh prints several files without quotes.
known_file() {
  local files
  files=$(settings_of "$1" | sed -n 's/^userknownhostsfile //p')
  case $files in
    /*) echo "${files%% /*}" ;;
    *) echo "$home/.ssh/known_hosts" ;;
  esac
}

# known_keys FILE NAME
known_keys() {
  local file
  for file in "$1" /etc/ssh/ssh_known_hosts; do
    if [ -r "$file" ]; then ssh-keygen -F "$2" -f "$file" 2>/dev/null | grep -v '^#' || true; fi
  done
}

scan_script() {
  local name port
  read -r name port <<<"$(endpoint_of "$1")"
  printf 'ssh-keyscan -T %s -p %s -t ed25519,ecdsa,rsa -- %s 2>/dev/null | sed "s/^/hpcboot:key /"\n' \
    "$timeout" "$port" "$(shell_word "$name")"
}

# scanned_keys HOST NAME: the answers of that scan as lines of known_hosts. The name is ours: an answer that comes
# through a jump host must not set the keys of other hosts.
scanned_keys() {
  answers "scan.$1" key | awk -v name="$2" \
    'NF == 3 && $2 ~ /^[a-z0-9-]+$/ && $3 ~ /^AAAA[A-Za-z0-9+\/=]+$/ { print name, $2, $3 }'
}

# learn_hosts HOST…: asks unknown hosts for their keys (through the jump host, which can reach them), shows the
# fingerprints, and adds the keys with the user's consent.
learn_hosts() {
  local host name port unknown=() unread=() line lines from=localhost file files=()
  local -A name_of=() file_of=() is_listed=()
  for host in "$@"; do
    if is_here "$host"; then continue; fi
    read -r name port <<<"$(endpoint_of "$host")"
    file_of[$host]=$(known_file "$host")
    if [ -n "$(known_keys "${file_of[$host]}" "$(known_name "$name" "$port")")" ]; then continue; fi
    unknown+=("$host")
    name_of[$host]=$(known_name "$name" "$port")
    scan_script "$host" >"$work/scan.$host.sh"
  done
  if [ ${#unknown[@]} -eq 0 ]; then return; fi
  if [ -n "${jump-}" ] && [ "${unknown[0]}" != "$jump" ]; then from=$jump; fi
  for host in "${unknown[@]}"; do
    start_on_host "scan.$host" "$from" "$work/scan.$host.sh" &
  done
  wait
  for host in "${unknown[@]}"; do need_answer "scan.$host"; done
  for host in "${unknown[@]}"; do
    mapfile -t lines < <(scanned_keys "$host" "${name_of[$host]}")
    if [ ${#lines[@]} -eq 0 ]; then
      unread+=("$host")
      unread_host["$host"]=true
      continue
    fi
    for line in "${lines[@]}"; do printf '%s  %s\n' "$host" "$(fingerprint "$line")" >&3; done
    if [ -z "${is_listed[${file_of[$host]}]-}" ]; then files+=("${file_of[$host]}"); fi
    is_listed[${file_of[$host]}]=true
  done 3>"$work/fingerprints"
  if [ ${#unread[@]} -gt 0 ]; then say "no host key could be read from ${unread[*]}"; fi
  if [ ! -s "$work/fingerprints" ]; then return; fi
  say "these host keys are not known yet:"
  while read -r line; do printf '    %s\n' "$(printable "$line")"; done <"$work/fingerprints" >&2
  if [ "$dry_run" = true ]; then
    say "would ask, and add them to ${files[*]}"
    return
  fi
  if ! consent "ssh-setup: are these the right keys (compare them with the administrator's)? Add them to ${files[*]}?"; then
    say "not added; compare the fingerprints and answer y in a terminal, or use --yes"
    return
  fi
  for file in "${files[@]}"; do
    mapfile -t lines < <(for host in "${unknown[@]}"; do
      if [ "${file_of[$host]}" = "$file" ]; then scanned_keys "$host" "${name_of[$host]}"; fi
    done)
    tighten "$file"
    add_lines "$file" "${lines[@]}" || fail_write "$file"
  done
}
