# secret: copies the key with which ranks on several hosts prove that they belong to one launch to every host.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are the sourcing script's

# secret_script: for sh, here and on a host; $secret must be set before it. Reports the state of the key there. An
# existing key is kept, and a new one is put in place complete, by a link.
secret_script() {
  cat <<'SH'
umask 077
say() { printf 'hpcboot:%s\n' "$*"; }
folder=${config_folder:-${XDG_CONFIG_HOME:-$HOME/.config}}/hpcboot
key=$folder/rendezvous.key
new=$folder/.rendezvous.key.$$
if [ ! -f "$key" ]; then
  if mkdir -p "$folder" && printf '%s\n' "$secret" >"$new" && ln "$new" "$key"; then say state copied; fi
  rm -f "$new"
fi
[ -f "$key" ] || exit 1
if [ -L "$key" ] || [ "$(ls -ld "$key" | cut -c5-10)" != ------ ]; then say state open; fi
if [ "$(cat "$key")" = "$secret" ]; then say state same; else say state other; fi
SH
}

# Sets $secret to the key of this machine, which is created if missing.
own_secret() {
  local folder=${XDG_CONFIG_HOME-} key
  if [ -n "$home_option" ] || [[ $folder != /* ]]; then folder=$home/.config; fi
  key=$folder/hpcboot/rendezvous.key
  if [ ! -f "$key" ]; then
    if [ "$dry_run" = true ]; then
      say "would create the key $key"
      return
    fi
    secret=$(od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n')
    {
      printf 'secret=%s\nconfig_folder=%s\n' "$(shell_word "$secret")" "$(shell_word "$folder")"
      secret_script
    } >"$work/secret.sh"
    sh -s <"$work/secret.sh" >"$work/secret.here.out" 2>"$work/secret.here.err" ||
      fail "the key $key cannot be created: $(words_of secret.here)" "a writable home folder" \
        "make room there, or correct the modes"
    say "created the key $key"
  fi
  (((8#$(mode_of "$key") & 8#077) == 0)) ||
    fail "$key can be read by others (mode $(mode_of "$key"))" "mode 600" "chmod 600 $(shell_word "$key")"
  secret=$(cat "$key")
  [[ $secret =~ ^[[:print:]]{16,4096}$ ]] ||
    fail "$key holds no secret" "a line of 16 to 4096 characters" "remove it, and run this again"
}

# Returns 1 if a host did not get it.
share_secret() {
  local host states code=0
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
      "copied same "*) say "$host: copied the key" ;;
      "same "*) say "$host: already has the key" ;;
      *"open "*)
        say "$host: ~/.config/hpcboot/rendezvous.key is a link, or open to others, so no rank will use it; on that host: chmod 600 it, or remove the link"
        code=1
        ;;
      *"other "*)
        say "$host: has another key in ~/.config/hpcboot/rendezvous.key, which is kept; remove one of the two"
        code=1
        ;;
      *)
        say "$host: not copied: $(words_of "secret.$host")"
        code=1
        ;;
    esac
  done
  rm -f "$work/secret.sh"
  return "$code"
}
