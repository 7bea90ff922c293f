#!/usr/bin/env bats
# setup/login-shell against hosts that are folders (fake_ssh.bash), with getent, chsh and usermod that only use
# the file $lab/HOST.passwd.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  make_lab
  script=$BATS_TEST_DIRNAME/../../setup/login-shell
  hosts=$BATS_TEST_TMPDIR/hosts
  bash "$BATS_TEST_DIRNAME/../../setup/ssh-setup" generate
  for host in lab1 lab2; do
    make_host $host
    let_in $host
    account $host 1000 /bin/tcsh
  done
  account here 1000 /bin/tcsh
  printf '%s slots=2\n' lab1 lab2 >"$hosts"
  touch "$lab/changes"
}

# account HOST UID SHELL: an account "user" there, which runs the commands; HOST "here" is this machine.
account() {
  local bin=$lab/$1.bin
  if [ "$1" = here ]; then bin=$fake; fi
  echo "user:x:$2:1000::$HOME:$3" >"$lab/$1.passwd"
  command_file "$bin/id" <<EOS
case \$1 in -u) echo $2 ;; *) if [ $2 = 0 ]; then echo root; else echo user; fi ;; esac
EOS
  command_file "$bin/getent" <<EOS
if [ "\$1" = -s ] && [ -e $lab/$1.directory ]; then exit 2; fi
case \${!#} in user | 1000 | 0) cat $lab/$1.passwd ;; *) exit 2 ;; esac
EOS
  for command in chsh usermod; do
    command_file "$bin/$command" <<EOS
echo "$1: $command \$*" >>$lab/changes
if [ ! -e $lab/$1.refuses ]; then sed -i "s|:[^:]*\\\$|:\$2|" $lab/$1.passwd; fi
EOS
  done
}

@test "shows the shells, and changes nothing" {
  sed -i 's|/bin/tcsh|/bin/bash|' "$lab/lab2.passwd"
  before=$(tree_hash "$HOME" "$lab"/*.passwd)
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ $(grep '^lab1 ' <<<"$output") =~ ^"lab1  user  /bin/tcsh  local" ]]
  [[ $(grep '^lab2 ' <<<"$output") =~ ^"lab2  user  /bin/bash  local" ]]
  run bash "$script"
  [ "$status" -eq 0 ]
  [[ $output == *"localhost  user  /bin/tcsh"* ]]
  [ ! -s "$lab/changes" ]
  [ "$(tree_hash "$HOME" "$lab"/*.passwd)" = "$before" ]
}

@test "--set changes those that have another shell, by chsh" {
  sed -i 's|/bin/tcsh|/bin/bash|' "$lab/lab2.passwd"
  run bash "$script" --hosts "$hosts" --set /bin/bash
  [ "$status" -eq 0 ]
  [ "$(cat "$lab/changes")" = "lab1: chsh -s /bin/bash" ]
  [[ $(grep '^lab1 ' <<<"$output") == *"/bin/bash  local    changed; "* ]]
  run bash "$script" --set /bin/bash
  [ "$status" -eq 0 ]
  [ "$(tail -n 1 "$lab/changes")" = "here: chsh -s /bin/bash" ]
}

@test "--set --dry-run prints the commands only" {
  run bash "$script" --hosts "$hosts" --set /bin/bash --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"would run: chsh -s /bin/bash"* ]]
  [ ! -s "$lab/changes" ]
}

@test "root changes another's shell by usermod, and nobody else does" {
  run bash "$script" --hosts "$hosts" --user other --set /bin/bash
  [ "$status" -eq 1 ]
  [[ $output == *"no such account"* ]]
  account lab1 0 /bin/tcsh
  echo root@lab1 >"$hosts"
  run bash "$script" --hosts "$hosts" --user user --set /bin/bash
  [ "$status" -eq 0 ]
  [ "$(cat "$lab/changes")" = "lab1: usermod --shell /bin/bash user" ]
  [[ $(cat "$lab/lab1.passwd") == *:/bin/bash ]]
}

@test "accounts of a directory, shells that are not offered, and a chsh that refuses are told apart" {
  touch "$lab/lab1.directory" "$lab/lab2.refuses"
  run bash "$script" --hosts "$hosts" --set /bin/bash
  [ "$status" -eq 1 ]
  [[ $(grep '^lab1 ' <<<"$output") == *"directory service (LDAP, NIS)"* ]]
  [[ $(grep '^lab2 ' <<<"$output") == *"not changed: see the output of chsh"* ]]
  : >"$lab/changes"
  run bash "$script" --hosts "$hosts" --set /bin/true
  [ "$status" -eq 1 ]
  [[ $(grep '^lab2 ' <<<"$output") == *"/etc/shells does not list it"* ]]
  [ ! -s "$lab/changes" ]
}

@test "an account that is nowhere is neither local nor of a directory; one without a shell has /bin/sh" {
  run bash "$script" --user nosuch
  [ "$status" -eq 1 ]
  [[ $(grep '^localhost ' <<<"$output") =~ ^"localhost  nosuch  -      -        no such account"$ ]]
  sed -i 's|:/bin/tcsh$|:|' "$lab/here.passwd"
  run bash "$script"
  [ "$status" -eq 0 ]
  [[ $output == *"localhost  user  /bin/sh  local"* ]]
}

@test "this machine alone is asked without ssh, and without HOME" {
  mkdir "$BATS_TEST_TMPDIR/few"
  for command in bash awk cat date dirname grep hostname mktemp rm sed sh sleep stat timeout tr; do
    ln -s "$(command -v $command)" "$BATS_TEST_TMPDIR/few/$command"
  done
  cp "$fake/id" "$fake/getent" "$BATS_TEST_TMPDIR/few"
  run env -u HOME PATH="$BATS_TEST_TMPDIR/few" bash "$script"
  [ "$status" -eq 0 ]
  [[ $output == *"localhost  user  /bin/tcsh  local"* ]]
  run env PATH="$BATS_TEST_TMPDIR/few" bash "$script" --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"no ssh on this machine"* ]]
}

@test "a host that is down is named; the others are shown" {
  echo down >"$lab/lab1.is"
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $(grep '^lab1 ' <<<"$output") == *"not reached (refused)"* ]]
  [[ $(grep '^lab2 ' <<<"$output") == *"/bin/tcsh"* ]]
}

@test "usage" {
  run bash "$script" --help
  [ "$status" -eq 0 ]
  for words in "--hosts /nowhere" "--set bash" "--set /bin/ba;sh" "--dry-run" "--user -x" "--user" "more"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words
    [ "$status" -eq 2 ]
  done
}
