#!/usr/bin/env bats
# setup/ssh-setup secret: the key of the ranks on every host, with hosts that are folders (fake_ssh.bash).
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  key=.config/hpcboot/rendezvous.key
  unset XDG_CONFIG_HOME
  make_host lab1
  make_host lab2
  bash "$script" generate
  let_in lab1
  let_in lab2
  printf '%s\n' lab1 lab2:2 >"$hosts"
}

@test "a key is made, and comes to every host with mode 600; a second time nothing changes" {
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ $(cat "$HOME/$key") =~ ^[0-9a-f]{64}$ ]]
  for host in lab1 lab2; do
    [[ $output == *"$host: copied the key"* ]]
    cmp "$HOME/$key" "$lab/$host/$key"
    [ "$(stat -c %a "$lab/$host/$key")" = 600 ]
    [ "$(ls -A "$lab/$host/.config/hpcboot")" = rendezvous.key ]
  done
  [ "$(stat -c %a "$HOME/$key")" = 600 ]
  [[ $output != *"$(cat "$HOME/$key")"* ]]
  before=$(tree_hash "$HOME/.config" "$lab"/*/.config)
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ $output == *"lab1: already has the key"*"lab2: already has the key"* ]]
  [ "$(tree_hash "$HOME/.config" "$lab"/*/.config)" = "$before" ]
}

@test "a key that no rank will use is no key" {
  bash "$script" secret --hosts "$hosts"
  chmod 644 "$lab/lab1/$key"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"lab1: "*"open to others"*"chmod 600"* ]]
  [[ $output == *"lab2: already has the key"* ]]
}

@test "another key is never replaced, and a host that takes none is named" {
  mkdir -p "$lab/lab1/.config/hpcboot"
  (umask 077; echo 0123456789abcdef0123456789abcdef >"$lab/lab1/$key")
  echo down >"$lab/lab2.is"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"lab1: has another key"* ]]
  [[ $output == *"lab2: not copied"* ]]
  [ "$(cat "$lab/lab1/$key")" = 0123456789abcdef0123456789abcdef ]
}

@test "a user's key that others can read, or that is not a key, is not copied" {
  mkdir -p "$HOME/.config/hpcboot"
  echo 0123456789abcdef0123456789abcdef >"$HOME/$key"
  chmod 644 "$HOME/$key"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -ne 0 ]
  [[ $output == *"can be read by others"*"chmod 600"* ]]
  chmod 600 "$HOME/$key"
  echo short >"$HOME/$key"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -ne 0 ]
  [[ $output == *"holds no secret"* ]]
  [ ! -e "$lab/lab1/$key" ]
}

@test "a key that ranks do not open is refused alike here and on another host, and the remedy works" {
  bash "$script" secret --hosts "$hosts"
  for fault in link kind owner; do
    if [ $fault = owner ] && [ "$(id -u)" -ne 0 ]; then continue; fi # only root gives files away
    for place in "$HOME" "$lab/lab1"; do
      mv "$place/$key" "$place/kept"
      case $fault in
        link) ln -s "$place/kept" "$place/$key" ;;
        kind) mkdir "$place/$key" ;;
        owner) cp -p "$place/kept" "$place/$key" && chown 12345 "$place/$key" ;;
      esac
      run bash "$script" secret --hosts "$hosts"
      [ "$status" -eq 1 ]
      case $fault in
        link) [[ $output == *"$key is a link"* ]] ;;
        kind) [[ $output == *"$key is not a regular file"* ]] ;;
        owner) [[ $output == *"$key belongs to another user"* ]] ;;
      esac
      remedy=$(sed -n 's/^  do: *\(move it away: \|put the file itself there: \)//p; s/^.*; on that host: \(move it away: \|put the file itself there: \)//p' <<<"$output")
      HOME=$place bash -c "$remedy"
      if [ $fault != link ]; then
        rm -r "$place/$key.old"
        mv "$place/kept" "$place/$key"
      fi
      run bash "$script" secret --hosts "$hosts"
      [ "$status" -eq 0 ]
      rm -f "$place/kept"
    done
  done
}

@test "a disk that is found full only when the key is flushed: no key, here or on another host" {
  fake_command sync <<SH
[ ! -e $lab/full ] || { echo "sync: error syncing '\$1': Disk quota exceeded" >&2; exit 1; }
SH
  touch "$lab/full"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"$key cannot be created: Disk quota exceeded"* ]]
  [ -z "$(ls -A "$HOME/.config/hpcboot")" ]
  rm "$lab/full"
  bash "$script" secret --hosts "$hosts"
  rm "$lab/lab1/$key"
  touch "$lab/full"
  run bash "$script" secret --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"lab1: not copied: Disk quota exceeded"*"lab2: already has the key"* ]]
  [ -z "$(ls -A "$lab/lab1/.config/hpcboot")" ]
}

@test "--dry-run changes nothing" {
  before=$(tree_hash "$HOME" "$lab")
  run bash "$script" secret --hosts "$hosts" --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"would create the key"*"lab1"*"lab2"* ]]
  [ "$(tree_hash "$HOME" "$lab")" = "$before" ]
}
