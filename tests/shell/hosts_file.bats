#!/usr/bin/env bats
# The hosts file as setup's programs read it (setup/lib/hosts.sh): its forms, and what is rejected on input.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  real_ssh=$(command -v ssh)
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
}

# refused LINE: every program rejects it, with the file and the line number, before any connection.
refused() {
  local program
  printf 'lab0\n%s\n' "$1" >"$hosts"
  for program in "ssh-setup authorize --yes --config" check-hosts login-shell; do
    # shellcheck disable=SC2086 # words are words
    run bash "$BATS_TEST_DIRNAME/../../setup/"$program --hosts "$hosts"
    if [ "$status" -ne 2 ] || [[ $output != *"found:    line 2 of $hosts"*"expected: "*"do: "* ]]; then
      echo "$program takes '$1': $status $output"
      return 1
    fi
  done
}

@test "hosts files in the forms of Open MPI and MPICH" {
  make_host lab1
  make_host lab2
  bash "$script" generate
  let_in lab1
  let_in lab2
  printf '%s\r\n' '# my machines' '' ' lab1 slots = 2 max_slots=4 # the fast one' 'me@lab2:3' lab1 >"$hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cell lab1 3)" = yes ]
  [ "$(cell me@lab2 3)" = yes ]
  [ "$(grep -c '^lab1 ' <<<"$output")" -eq 1 ]
}

@test "a bad line of the hosts file is named, with exit code 2, before anything is done" {
  for line in 'lab1 slots=two' 'lab1:0' '-oProxyCommand=touch' '+n0' '^lab1' 'lab1 lab2' 'lab1;reboot' \
    'a b@lab1' 'lab1 slots=4 max_slots=2' 'lab1 slots' 'lab1 slot=2' 'lab1 gpus=2' 'lab1 cpu=3 cpu-max=2' \
    'lab1 slots=4,lab2 slots=4' 'lab1 max_slots=4,lab2 max_slots=4'; do
    refused "$line"
    [[ $output == *"line 2 of $hosts: '$line'"* ]]
  done
  echo '# nobody' >"$hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 2 ]
  [[ $output == *"names no host"* ]]
  [ ! -e "$lab/calls" ]
}

@test "users and hosts that ssh or a shell would read in another way are refused" {
  long=$(printf 'a%.0s' {1..300})
  for name in -oProxyCommand -l -x 'a;b' 'a$(b)' 'a"b' "a'b" 'a\b' 'a%h' 'a*' 'a/b' '1st' '$' 'a$b' "${long:0:65}" $'a\eb' 'ü'; do
    for key in user_name user-name username user; do refused "lab1 $key=$name"; done
    refused "$name@lab1"
  done
  for host in "$long" 'lab1..org' '.lab1' 'la*b' 'lab%h' 'lab1/x' 'a@b@lab1' '[::1' '-lab1' '[-x]:2' 'lab1$' $'lab\e1' \
    'me@-oProxyCommand=x' 'läb'; do
    refused "$host"
  done
  [ ! -e "$lab/calls" ]
  refused 'lab1 user_name=-oProxyCommand'
  [[ $output == *"expected: a user name"* ]]
  refused '-lab1'
  [[ $output == *"expected: "*"host"* ]]
}

@test "users that systems have are taken: with dots, dashes, a trailing dollar, 64 characters" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  long=$(printf 'a%.0s' {1..64})
  for name in me _me me.too me-2 'machine$' "$long"; do
    for line in "$name@lab1" "lab1 user_name=$name"; do
      echo "$line" >"$hosts"
      run bash "$script" authorize --config --hosts "$hosts"
      [ "$status" -eq 0 ]
      run env -u LC_ALL "$real_ssh" -F "$HOME/.ssh/config.hpcboot" -G lab1
      grep -qxF "user $name" <<<"$output"
    done
  done
}

@test "control characters and NUL bytes: an error with their line, shown and not sent" {
  refused $'lab1 x=\e[2J'
  [[ $output == *'\x1b[2J'* && $output != *$'\e'* ]]
  refused $'lab1\rlab2 slots=2'
  [[ $output == *'lab1\rlab2'* && $output != *$'\r'* ]]
  refused $'lab1 user_name=\xc2\x9b1m'
  [[ $output == *'\xc2\x9b'* ]]
  refused $'\xef\xbb\xbflab1'
  [[ $output == *'\xef\xbb\xbf'* ]]
  printf 'lab0\nla\0b1 slots=2\n' >"$hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 2 ]
  [[ $output == *"line 2 of $hosts"*NUL* ]]
  name=$BATS_TEST_TMPDIR/$'hosts\e[2J'
  echo 'lab1 slots=x' >"$name"
  run bash "$script" check --hosts "$name"
  [ "$status" -eq 2 ]
  [[ $output == *'hosts\x1b[2J'* && $output != *$'\e'* ]]
}

@test "names of files in this folder do not become words of the hosts file" {
  cd "$BATS_TEST_TMPDIR" || return 1
  touch slots=7 user_name=other
  for line in 'lab1 slots=*' 'lab1 user_name=*' 'lab1 *'; do refused "$line"; done
}
