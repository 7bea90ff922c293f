# ~/.ssh/config.hpcboot: what mpirun's ssh must know of the hosts, in a file of its own. Of the user's
# own ~/.ssh/config no line is touched; an Include is put before its first one.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

config_text() {
  local host user
  echo "# Written by ssh-setup authorize --config, which writes it anew each time."
  for host in "${hosts[@]}"; do
    if is_here "$host"; then continue; fi
    user=
    if [[ $host == *@* ]]; then user=${host%%@*}; fi
    echo "Host ${host#*@}"
    # Each of these was checked when it came in; the encoder is for what slips through.
    if [ -n "$user" ]; then echo "  User $(ssh_config_word "$user")"; fi
    if [ -n "$identity" ]; then echo "  IdentityFile $(ssh_config_word "$identity")"; fi
    if [ -n "$jump" ] && [ "$host" != "$jump" ]; then echo "  ProxyJump $jump"; fi
    echo "  ConnectTimeout $timeout"
  done
}

write_config() {
  local own=$home/.ssh/config.hpcboot target=$home/.ssh/config include
  include="Include \"$own\""
  config_text >"$work/config"
  if ! cmp -s "$work/config" "$own" && will "write $own"; then
    install -m 600 "$work/config" "$own"
  fi
  if [ -f "$target" ] && grep -qxF -- "$include" "$target"; then return; fi
  if ! will "put the line '$include' at the top of $target"; then return; fi
  if [ ! -e "$target" ]; then install -m 600 /dev/null "$target"; fi
  target=$(readlink -f "$target")
  # Beside the target, so that the last step is a rename and nobody sees half a file.
  { echo "$include"; cat "$target"; } >"$target.hpcboot-new"
  chmod --reference="$target" "$target.hpcboot-new"
  mv "$target.hpcboot-new" "$target"
}
