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
    if [ -n "$jump" ] && [ "$host" != "$jump" ]; then echo "  ProxyJump $jump"; fi
    echo "  ConnectTimeout $timeout"
  done
}

write_config() {
  local own=$home/.ssh/config.hpcboot target=$home/.ssh/config include text first=
  include=$(ssh_config_path "$own") ||
    fail "the home folder $home" "a path that ssh can include: without quotation marks, backslashes, * ? [ % and control characters" \
      "use --home with a symbolic link to it that has such a path, or write the lines into ~/.ssh/config yourself"
  include="Include $include"
  text=$(config_text)
  if [ -e "$own" ]; then read -r first 2>/dev/null <"$own" || true; fi
  if [ -s "$own" ] && [ "$first" != "$config_head" ]; then
    fail "$own exists, and ssh-setup did not write it" "no such file, or one that ssh-setup wrote" \
      "move it away: mv $(shell_word "$own") $(shell_word "$own.mine")"
  fi
  if [ "$(cat "$own" 2>/dev/null)" != "$text" ] && will "write $own"; then
    write_file "$own" "$text" || fail_write "$own"
  fi
  if [ -f "$target" ] && grep -sqxF -- "$include" "$target"; then return; fi
  if ! will "put the line '$include' at the top of $target"; then return; fi
  begin_with "$target" "$include" || fail_write "$target"
}
