# ~/.ssh/config.hpcboot: what mpirun's ssh must know about the hosts, in a separate file. No line of the
# user's ~/.ssh/config is changed; an Include is added before the first one.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

config_head="# Written by ssh-setup authorize --config, which writes it anew each time."

config_text() {
  local host user
  echo "$config_head"
  for host in "${hosts[@]}"; do
    if is_here "$host"; then continue; fi
    user=
    if [[ $host == *@* ]]; then user=${host%%@*}; fi
    echo "Host ${host#*@}"
    # Each value was checked on input; the encoder is a second barrier.
    if [ -n "$user" ]; then echo "  User $(ssh_config_word "$user")"; fi
    if [ -n "$identity" ]; then echo "  IdentityFile $(ssh_config_word "$identity")"; fi
    if [ "${host#*@}" != "${jump#*@}" ]; then # as options_of
      if [ -n "$identity" ]; then echo "  IdentitiesOnly yes"; fi
      if [ -n "$jump" ]; then echo "  ProxyJump $(jump_word "$jump")"; fi
    fi
    echo "  ConnectTimeout $timeout"
  done
}

# jump_word [USER@]HOST: ProxyJump takes an IPv6 address only in brackets.
jump_word() {
  local host=${1#*@}
  if [[ $host == *:* ]]; then printf '%s' "${1%"$host"}[$host]"; else printf '%s' "$1"; fi
}

# prepare_config: sets $config_file, $config_lines, its content, and $config_include, the line for ~/.ssh/config. Fails
# if they cannot be put in place.
prepare_config() {
  local first=
  config_file=$home/.ssh/config.hpcboot
  config_include=$(ssh_config_path "$config_file") ||
    fail "the home folder $home" "a path that ssh can include: without quotation marks, backslashes, * ? [ % and control characters" \
      "use --home with a symbolic link to it that has such a path, or write the lines into ~/.ssh/config yourself"
  config_include="Include $config_include"
  config_lines=$(config_text)
  if [ -e "$config_file" ]; then read -r first 2>/dev/null <"$config_file" || true; fi
  if [ -s "$config_file" ] && [ "$first" != "$config_head" ]; then
    fail "$config_file exists, and ssh-setup did not write it" "no such file, or one that ssh-setup wrote" \
      "move it away: mv $(shell_word "$config_file") $(shell_word "$config_file.mine")"
  fi
  try_config
}

# One wrong line, and ssh refuses every connection of the user. The file that was included so far may be such a file.
try_config() {
  local words trial=$work/config
  {
    printf '%s\nHost *\n' "$config_lines"
    grep -svxF -- "$config_include" "$home/.ssh/config" || true
  } >"$trial"
  if words=$(ssh -G -F "$trial" any-host 2>&1 >/dev/null </dev/null); then return; fi
  words=${words%%[$'\r\n']*}
  words=${words#"$trial"}
  fail "ssh rejects $home/.ssh/config with the lines for these hosts: ${words#[: ]*line *: }" "a configuration that ssh reads" \
    "correct that line in $home/.ssh/config; nothing was changed"
}

write_config() {
  local target=$home/.ssh/config
  if [ "$(cat "$config_file" 2>/dev/null)" != "$config_lines" ] && will "write $config_file"; then
    write_file "$config_file" "$config_lines" || fail_write "$config_file"
  fi
  if [ -f "$target" ] && grep -sqxF -- "$config_include" "$target"; then return; fi
  if ! will "put the line '$config_include' at the top of $target"; then return; fi
  begin_with "$target" "$config_include" || fail_write "$target"
}
