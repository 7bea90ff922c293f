#!/usr/bin/env bats
# setup/ssh-setup ended by kill -9 at any moment: each file is the old one or the new one, and the next start removes
# what the killed run left. On a full disk: ssh_disk.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  own_tmp=$BATS_TEST_TMPDIR/tmp
  mkdir "$own_tmp"
}

# killing COMMAND…: makes these commands end the whole run by kill -9, once, at the call whose number is in
# $lab/kill_at: before the command does its work if the number is odd, after it if even.
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
    # On a host, where the kill does not reach, it goes on as if nothing had happened: one call, not two.
    if [ \$((at % 2)) -eq 0 ]; then
      "\$next" "\$@"
      code=\$?
    fi
    kill -9 -- -\$(<$lab/group)
    if [ \$((at % 2)) -eq 0 ]; then exit \$code; fi
  fi
fi
exec "\$next" "\$@"
SH
  done
}

# killed_at NUMBER WORDS…: runs ssh-setup in its own process group. True if it was killed.
killed_at() {
  local code=0
  echo "$1" >"$lab/kill_at"
  rm -f "$lab/count" "$lab/group"
  shift
  TMPDIR=$own_tmp setsid --wait bash -c 'echo $$ >"$lab/group"; exec bash "$@" >/dev/null 2>&1 </dev/null' - "$script" "$@" 3>&- || code=$?
  # A process that was killed in a system call finishes that call first.
  local i group
  group=$(<"$lab/group")
  for ((i = 0; i < 500; ++i)); do
    kill -0 -- "-$group" 2>/dev/null || break
    sleep 0.01
  done
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
  # An odd step tests both before and after calls.
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

@test "kill -9 at any moment of secret: a whole key or none, and the next start tidies up" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  unset XDG_CONFIG_HOME
  places=("$HOME/.config" "$lab/lab1/.config")
  killing mkdir sync ln
  moment=1
  while true; do
    rm -rf "${places[@]}"
    if ! killed_at $moment secret --hosts "$hosts"; then break; fi
    for place in "${places[@]}"; do
      file=$place/hpcboot/rendezvous.key
      if [ -e "$file" ]; then [[ $(cat "$file") =~ ^[0-9a-f]{64}$ ]]; fi
    done
    TMPDIR=$own_tmp bash "$script" secret --hosts "$hosts"
    nothing_of_ours
    [ -s "$file" ]
    diff -r "${places[@]}"
    for place in "${places[@]}"; do [ "$(ls -A "$place/hpcboot")" = rendezvous.key ]; done
    moment=$((moment + 1))
  done
  [ $moment -gt 8 ]
}

# left_by PID AGE-IN-DAYS: creates a file as a run with this PID would have left it. Prints its name.
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
  dead=$(left_by 4194399 0) # above the kernel's maximum
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
