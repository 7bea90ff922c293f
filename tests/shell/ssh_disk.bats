#!/usr/bin/env bats
# setup/ssh-setup on a full disk, and ended by kill -9 at any moment: nothing of the user's is lost or cut, nothing
# half-written is left, and the next start removes what a killed run could not.
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

# on_small_disk PAGES FOLDER COMMANDS: bash with a tmpfs on FOLDER, which has what was in it before and PAGES pages
# of 4 KiB free.
on_small_disk() {
  cat >"$BATS_TEST_TMPDIR/inside" <<SH
cp -a "$2" "$BATS_TEST_TMPDIR/before"
mount -t tmpfs -o size=400k,mode=755 tmpfs "$2"
cp -a "$BATS_TEST_TMPDIR/before/." "$2/"
rm -rf "$BATS_TEST_TMPDIR/before"
exec 9>"$2/page" # used by nobody's file, because a size of 0 has no limit
echo >&9
rm "$2/page"
free=\$(df -P --block-size=4096 "$2" | awk 'NR == 2 { print \$4 }')
used=\$((100 - free))
mount -o remount,size=\$(((used + $1) * 4))k "$2"
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
  # A page but for a few bytes: the first of another line fit, the others do not.
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
  [[ $output == *"lab1: ~/.ssh/id_ed25519 cannot be made: "*"No space left"*"do: "* ]]
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

@test "a TMPDIR that becomes full by what a host says is told, too" {
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

# killing COMMAND… : each of these commands ends the whole run by kill -9, once, at the call whose number is in
# $lab/kill_at: before it does its work if that is odd, after it if even.
killing() {
  local name
  for name in "$@"; do
    fake_command "$name" <<SH
next=$(command -v "$name")
if [ -e $lab/group ]; then
  echo >>$lab/count
  at=\$(<$lab/kill_at)
  mapfile -t calls <$lab/count
  if [ \$(((at + 1) / 2)) -eq \${#calls[@]} ]; then
    if [ \$((at % 2)) -eq 0 ]; then "\$next" "\$@"; fi
    kill -9 -- -\$(<$lab/group)
  fi
fi
exec "\$next" "\$@"
SH
  done
}

# killed_at NUMBER WORDS…: ssh-setup in a process group of its own. True if it was killed.
killed_at() {
  local code=0
  echo "$1" >"$lab/kill_at"
  rm -f "$lab/count" "$lab/group"
  shift
  TMPDIR=$own_tmp setsid --wait bash -c 'echo $$ >"$lab/group"; exec bash "$@" >/dev/null 2>&1 </dev/null' - "$script" "$@" 3>&- || code=$?
  rm -f "$lab/kill_at" "$lab/group"
  [ "$code" -eq 137 ]
}

# nothing_of_ours: no temporary file, in ~/.ssh, on lab1 or in TMPDIR.
nothing_of_ours() {
  [ -z "$(ls -A "$own_tmp")" ]
  [ -z "$(find "$HOME" "$lab"/lab? -name '.hpcboot*' -o -name '*.hpcboot-new*' -o -name '*nonce*')" ]
}

@test "kill -9 at any moment of generate: a whole key or none, and the next start tidies up" {
  killing ssh-keygen mv mkdir chmod mktemp sync
  moment=1
  while true; do
    rm -rf "$HOME/.ssh"
    if ! killed_at $moment generate; then break; fi
    for file in "$HOME"/.ssh/id_ed25519{,.pub}; do
      if [ -e "$file" ]; then ssh-keygen -l -f "$file"; fi
    done
    if [ -e "$HOME/.ssh/id_ed25519" ]; then
      ssh-keygen -y -P '' -f "$HOME/.ssh/id_ed25519"
      before=$(sha256sum <"$HOME/.ssh/id_ed25519")
    else
      before=
      [ ! -e "$HOME/.ssh/id_ed25519.pub" ]
    fi
    TMPDIR=$own_tmp bash "$script" generate
    [ "$(ls -A "$HOME/.ssh")" = $'id_ed25519\nid_ed25519.pub' ]
    [ "$(cut -d ' ' -f 2 "$HOME/.ssh/id_ed25519.pub")" = "$(ssh-keygen -y -P '' -f "$HOME/.ssh/id_ed25519" | cut -d ' ' -f 2)" ]
    [ -z "$before" ] || [ "$(sha256sum <"$HOME/.ssh/id_ed25519")" = "$before" ]
    nothing_of_ours
    moment=$((moment + 1))
  done
  [ $moment -gt 8 ]
}

@test "kill -9 at any moment of authorize --config: every file is the old one or the new one" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo me@lab1 >"$hosts"
  : >"$HOME/.ssh/known_hosts"
  printf 'ssh-rsa AAAAold somebody' >"$HOME/.ssh/authorized_keys"
  printf 'Host *\n  ForwardX11 no' >"$HOME/.ssh/config"
  chmod 600 "$HOME"/.ssh/*
  ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/cloud.pem"
  cat "$HOME/.ssh/cloud.pem.pub" >"$lab/lab1/.ssh/authorized_keys"
  for place in "$HOME" "$lab/lab1"; do cp -a "$place" "$place.old"; done
  words=(authorize --yes --config --identity "$HOME/.ssh/cloud.pem" --hosts "$hosts")
  bash "$script" "${words[@]}"
  for place in "$HOME" "$lab/lab1"; do cp -a "$place" "$place.new"; done
  killing mv mkdir chmod cat sync
  # An odd step meets both sides of the calls.
  moment=1
  while true; do
    for place in "$HOME" "$lab/lab1"; do
      rm -rf "$place"
      cp -a "$place.old" "$place"
    done
    if ! killed_at $moment "${words[@]}"; then break; fi
    for file in "$HOME"/.ssh/{authorized_keys,known_hosts,config,config.hpcboot,id_ed25519} "$lab/lab1/.ssh/authorized_keys"; do
      case $file in "$HOME"/*) place=$HOME ;; *) place=$lab/lab1 ;; esac
      if [ -e "$place.old${file#"$place"}" ]; then cmp "$file" "$place.old${file#"$place"}" || cmp "$file" "$place.new${file#"$place"}"; fi
      if [ -e "$file" ]; then cmp "$file" "$place.new${file#"$place"}" || cmp "$file" "$place.old${file#"$place"}"; fi
    done
    TMPDIR=$own_tmp bash "$script" "${words[@]}"
    nothing_of_ours
    for place in "$HOME" "$lab/lab1"; do diff -r "$place" "$place.new"; done
    moment=$((moment + 5))
  done
  [ $moment -gt 20 ]
}

# left_by PID AGE-IN-DAYS: as a run with this number would have left it. Prints its name.
left_by() {
  local file
  file=$HOME/.ssh/.hpcboot-new.$(hostname).$(stat -L -c %i /proc/self/ns/pid).$1
  echo half >"$file"
  touch -d "$2 days ago" "$file"
  echo "$file"
}

@test "only what is surely ours and surely stale is removed" {
  bash "$script" generate
  sleep 60 3>&- &
  running=$!
  busy=$(left_by $running 0)
  dead=$(left_by 4194399 0) # more than the kernel's largest
  elsewhere=$HOME/.ssh/.hpcboot-new.other-host.1.$running
  elsewhere_old=$HOME/.ssh/.hpcboot-nonce.other-host.1.4194399
  mine=$HOME/.ssh/.hpcboot-new.notes
  touch "$elsewhere" "$mine" "$HOME/.ssh/config.hpcboot-new" "$HOME/.ssh/.hpcboot-new.a.b.c"
  touch -d '2 days ago' "$elsewhere_old"
  ln -s /etc/passwd "$HOME/.ssh/.hpcboot-new.$(hostname).1.4194398"
  mkdir "$own_tmp/hpcboot-ssh.$(hostname).$(stat -L -c %i /proc/self/ns/pid).$running" "$own_tmp/hpcboot-ssh.mine"
  mkdir "$own_tmp/hpcboot-ssh.$(hostname).$(stat -L -c %i /proc/self/ns/pid).4194399.XYZ"
  before=$(tree_hash "$HOME" "$own_tmp")
  TMPDIR=$own_tmp run bash "$script" generate --dry-run
  [ "$(tree_hash "$HOME" "$own_tmp")" = "$before" ]
  [[ $output == *"would remove"* ]]
  TMPDIR=$own_tmp bash "$script" generate
  kill $running
  [ -e "$busy" ]
  [ ! -e "$dead" ]
  [ -e "$elsewhere" ]
  [ ! -e "$elsewhere_old" ]
  [ -e "$mine" ]
  [ -e "$HOME/.ssh/config.hpcboot-new" ]
  [ -e "$HOME/.ssh/.hpcboot-new.a.b.c" ]
  [ -L "$HOME/.ssh/.hpcboot-new.$(hostname).1.4194398" ]
  [ "$(find "$own_tmp" -mindepth 1 | wc -l)" -eq 2 ]
  [ -s /etc/passwd ]
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
