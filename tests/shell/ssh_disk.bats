#!/usr/bin/env bats
# setup's programs on a full disk: they report it, no file of the user is lost or truncated, and no partial file is
# left. Ended by kill -9: ssh_killed.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  own_tmp=$BATS_TEST_TMPDIR/tmp
  mkdir "$own_tmp"
  namespace=(unshare -m)
  if [ "$(id -u)" -ne 0 ]; then namespace=(unshare -r -m); fi
}

need_small_disk() {
  "${namespace[@]}" mount -t tmpfs -o size=4k tmpfs "$own_tmp" 2>/dev/null ||
    skip "no file system can be mounted in a namespace of its own here (unshare -m, mount -t tmpfs)"
}

# on_small_disk PAGES FOLDER COMMANDS: runs bash with a tmpfs on FOLDER that has FOLDER's content and PAGES free pages
# of 4 KiB.
on_small_disk() {
  cat >"$BATS_TEST_TMPDIR/inside" <<SH
cp -a "$2" "$BATS_TEST_TMPDIR/before"
# disk PAGES: with one page for a deleted file, because a size of 0 means no limit.
disk() {
  mount -t tmpfs -o size=\$((\$1 * 4))k,mode=755 tmpfs "$2"
  exec 9>"$2/page"
  echo >&9
  rm "$2/page"
  cp -a "$BATS_TEST_TMPDIR/before/." "$2/"
}
disk 100
free=\$(df -P --block-size=4096 "$2" | awk 'NR == 2 { print \$4 }')
exec 9>&-
umount "$2"
disk \$((100 - free + $1))
rm -rf "$BATS_TEST_TMPDIR/before"
$3
SH
  export -f what_is_there
  run "${namespace[@]}" env TMPDIR="$own_tmp" bash "$BATS_TEST_TMPDIR/inside"
}

# what_is_there FOLDER: names and contents.
what_is_there() { (cd "$1" && find . -printf '%p %y\n' -type f -exec sha256sum {} + | sort); }

@test "a full disk: generate makes no key, says why, and leaves nothing" {
  need_small_disk
  for pages in 0 1; do
    on_small_disk $pages "$HOME" "bash $script generate; echo code \$?; find $HOME -mindepth 1"
    [[ $output == *"error"*"found: "*"No space left on device"*"expected: "*"do: "*room*"code 1" ]]
    [ "${lines[-1]}" = "code 1" ]
  done
}

@test "a full disk: authorize leaves authorized_keys, known_hosts and config as they were" {
  need_small_disk
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  echo 'Host *' >"$HOME/.ssh/config"
  # A page minus a few bytes: only the first bytes of another line fit.
  { printf 'ssh-rsa AAAAB3Nza '; printf 'x%.0s' {1..4050}; } >"$HOME/.ssh/authorized_keys"
  echo "[other]:22 $(cut -d ' ' -f 1,2 "$lab/lab1.key.pub") $(printf 'x%.0s' {1..3900})" >"$HOME/.ssh/known_hosts"
  chmod 600 "$HOME"/.ssh/*
  what_is_there "$HOME" >"$BATS_TEST_TMPDIR/expected"
  for pages in 0 1; do
    on_small_disk $pages "$HOME" "bash $script authorize --yes --config --hosts $hosts; echo code \$?; what_is_there $HOME >$BATS_TEST_TMPDIR/found"
    [[ $output == *"authorized_keys cannot be written: "*"No space left"*"do: "*"code 1" ]]
    diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
  done
  # authorized_keys is right already: known_hosts is next, then the configuration.
  cat "$HOME/.ssh/id_ed25519.pub" >"$HOME/.ssh/authorized_keys"
  what_is_there "$HOME" >"$BATS_TEST_TMPDIR/expected"
  on_small_disk 1 "$HOME" "bash $script authorize --yes --config --hosts $hosts; echo code \$?; what_is_there $HOME >$BATS_TEST_TMPDIR/found"
  [[ $output == *"known_hosts cannot be written: "*"No space left"*"do: "*"code 1" ]]
  diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
  echo "lab1 $(cut -d ' ' -f 1,2 "$lab/lab1.key.pub")" >"$HOME/.ssh/known_hosts"
  what_is_there "$HOME" >"$BATS_TEST_TMPDIR/expected"
  on_small_disk 0 "$HOME" "bash $script authorize --yes --config --hosts $hosts; echo code \$?; what_is_there $HOME >$BATS_TEST_TMPDIR/found"
  [[ $output == *"No space left"*"do: "*"code 1" ]]
  diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
}

@test "a full disk on another host: authorize says so, and its files are as they were" {
  need_small_disk
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/cloud.pem"
  { tr -d '\n' <"$HOME/.ssh/cloud.pem.pub"; printf 'x%.0s' {1..3900}; } >"$lab/lab1/.ssh/authorized_keys"
  what_is_there "$lab/lab1" >"$BATS_TEST_TMPDIR/expected"
  for words in "" --mesh; do
    on_small_disk 0 "$lab/lab1" "bash $script authorize $words --yes --identity $HOME/.ssh/cloud.pem --hosts $hosts; echo code \$?; what_is_there $lab/lab1 >$BATS_TEST_TMPDIR/found"
    [[ $output == *"lab1: ~/.ssh/authorized_keys cannot be written: "*"No space left"*"do: "*room* ]]
    diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
  done
  rm "$lab/lab1/.ssh/authorized_keys"
  cat "$HOME/.ssh/id_ed25519.pub" >"$lab/lab1/.ssh/authorized_keys"
  what_is_there "$lab/lab1" >"$BATS_TEST_TMPDIR/expected"
  on_small_disk 0 "$lab/lab1" "bash $script authorize --mesh --yes --hosts $hosts; echo code \$?; what_is_there $lab/lab1 >$BATS_TEST_TMPDIR/found"
  [[ $output == *"lab1: ~/.ssh/id_ed25519 cannot be created: "*"No space left"*"do: "* ]]
  diff "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/found"
}

@test "a full TMPDIR is told before anything is done, by every program" {
  need_small_disk
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  for words in "ssh-setup check" "ssh-setup authorize --yes" "ssh-setup verify" check-hosts login-shell; do
    for pages in 0 1; do
      on_small_disk $pages "$own_tmp" "bash ${script%ssh-setup}$words --hosts $hosts; echo code \$?; ls -A $own_tmp"
      [[ $output == *"error"*"found: "*"$own_tmp"*"expected: "*"do: "*TMPDIR*"code 1" ]]
    done
  done
}

@test "a TMPDIR that a host's output fills up is reported, too" {
  need_small_disk
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  fake_command chatter <<<'head -c 1000000 /dev/zero'
  echo chatter >"$lab/lab1.shell"
  for words in "ssh-setup check" "ssh-setup authorize --yes" check-hosts login-shell; do
    on_small_disk 90 "$own_tmp" "bash ${script%ssh-setup}$words --hosts $hosts; echo code \$?; ls -A $own_tmp"
    [[ $output == *"error"*"found: "*"$own_tmp"*"expected: "*"do: "*TMPDIR*"code 1" ]]
  done
}

@test "check-hosts on a full --folder says so, and leaves nothing there" {
  need_small_disk
  mkdir "$BATS_TEST_TMPDIR/shared"
  on_small_disk 0 "$BATS_TEST_TMPDIR/shared" "bash ${script%ssh-setup}check-hosts --hosts ${script%ssh-setup}hosts.txt --folder $BATS_TEST_TMPDIR/shared; echo code \$?; ls -A $BATS_TEST_TMPDIR/shared"
  [[ $output == *"cannot be written"*"No space left"*"do: "*"code 1" ]]
}

@test "files that are links stay links, and a config.hpcboot of the user's own is not overwritten" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  mkdir "$HOME/dotfiles"
  for file in config authorized_keys; do
    echo '# mine' >"$HOME/dotfiles/$file"
    ln -s "../dotfiles/$file" "$HOME/.ssh/$file"
  done
  run bash "$script" authorize --yes --config --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ -L "$HOME/.ssh/config" ]
  [ -L "$HOME/.ssh/authorized_keys" ]
  [ "$(tail -n 1 "$HOME/dotfiles/config")" = '# mine' ]
  [ "$(head -n 1 "$HOME/dotfiles/authorized_keys")" = '# mine' ]
  grep -q ed25519 "$HOME/dotfiles/authorized_keys"
  [ "$(ls -A "$HOME/dotfiles")" = $'authorized_keys\nconfig' ]
  echo 'Host precious' >"$HOME/.ssh/config.hpcboot"
  run bash "$script" authorize --yes --config --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"config.hpcboot"*"expected: "*"do: "* ]]
  [ "$(cat "$HOME/.ssh/config.hpcboot")" = 'Host precious' ]
}
