#!/usr/bin/env bats
# setup/ssh-setup authorize and verify with a separate home folder and hosts that are folders
# (fake_ssh.bash). The same against real sshd's: tests/cluster/ssh_setup.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh
load ../support/background

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
}

teardown() { end_jobs; }

@test "authorize: the fingerprints are shown, one line is added, a second time none" {
  make_host lab1
  make_host lab2
  bash "$script" generate
  let_in lab1
  mkdir -m 755 "$lab/lab2/.ssh"
  printf 'ssh-rsa AAAAold somebody' >"$lab/lab2/.ssh/authorized_keys"
  printf '%s\n' 'lab1 slots=2' lab2:2 >"$hosts"
  run bash "$script" authorize --hosts "$hosts" --yes
  [ "$status" -eq 1 ] # nobody types lab2's password
  [[ $output == *"lab2  256 $(ssh-keygen -lf "$lab/lab2.key.pub" | cut -d ' ' -f 2)"* ]]
  [[ $output != *"lab1  256"* ]]
  [ "$(cell lab1 3)" = yes ]
  [ "$(cell lab2 3)" = no ]
  [[ $(grep '^lab2 ' <<<"$output") == *"ssh-setup authorize, in a terminal"* ]]

  # A key that the host accepts already adds the new one.
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/cloud.pem"
  printf '\n%s' "$(cat "$BATS_TEST_TMPDIR/cloud.pem.pub")" >>"$lab/lab2/.ssh/authorized_keys"
  run bash "$script" authorize --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem"
  [ "$status" -eq 0 ]
  [[ $output == *"lab2: added a line to ~/.ssh/authorized_keys"* ]]
  [[ $output == *"lab2: set the mode of ~/.ssh to 700 (it was 755)"* ]]
  [ "$(head -n 1 "$lab/lab2/.ssh/authorized_keys")" = "ssh-rsa AAAAold somebody" ]
  [ "$(grep -cF "$(cut -d ' ' -f 2 "$HOME/.ssh/id_ed25519.pub")" "$lab/lab2/.ssh/authorized_keys")" -eq 1 ]
  [ "$(stat -c %a "$lab/lab2/.ssh" "$lab/lab2/.ssh/authorized_keys" | xargs)" = "700 600" ]

  before=$(tree_hash "$HOME" "$lab"/lab?)
  run bash "$script" authorize --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(tree_hash "$HOME" "$lab"/lab?)" = "$before" ]
}

@test "an agent with too many keys is named, and --identity is tried alone, also by mpirun's ssh" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  touch "$lab/agent"
  key=$HOME/.ssh/id_ed25519
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [ "$(cell lab1 2)$(cell lab1 3)" = yesno ]
  [[ $(grep '^lab1 ' <<<"$output") == *"the agent offers more keys than sshd takes: use --identity KEY"* ]]
  run bash "$script" authorize --config --hosts "$hosts" --identity "$key"
  [ "$status" -eq 0 ]
  [ "$(cell lab1 3)" = yes ]
  grep -qxF '  IdentitiesOnly yes' "$HOME/.ssh/config.hpcboot"
  # The jump host may accept another key.
  run bash "$script" check --hosts "$hosts" --identity "$key" --jump lab1
  [[ $(grep '^lab1 ' <<<"$output") == *"offers more keys than sshd takes: ssh-add -D"* ]]
}

@test "an expired password and the words of a failing login shell are told" {
  make_host lab1 expired
  make_host lab2
  bash "$script" generate
  let_in lab1
  let_in lab2
  echo refuse >"$lab/lab2.shell"
  fake_command refuse <<<'echo "Only on Sundays." >&2; exit 3'
  printf '%s\n' lab1 lab2 >"$hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $(grep '^lab1 ' <<<"$output") == *"the password has expired there: ssh lab1 in a terminal"* ]]
  [[ $(grep '^lab2 ' <<<"$output") == *"the login shell exited with 3 before the command (Only on Sundays.): check"* ]]
}

@test "a key with other options or another comment in authorized_keys counts as there" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  echo "no-pty $(cut -d ' ' -f 1,2 "$HOME/.ssh/id_ed25519.pub") other" >"$lab/lab1/.ssh/authorized_keys"
  echo lab1 >"$hosts"
  run bash "$script" authorize --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(wc -l <"$lab/lab1/.ssh/authorized_keys")" -eq 1 ]
}

@test "a shared home is recognised: authorizing here opens the others" {
  make_host lab1
  make_host lab2
  rm -r "$lab/lab1" "$lab/lab2"
  ln -s "$HOME" "$lab/lab1"
  ln -s "$HOME" "$lab/lab2"
  printf '%s\n' lab1 lab2 >"$hosts"
  bash "$script" generate
  run bash "$script" authorize --hosts "$hosts" --yes
  [ "$status" -eq 0 ]
  [[ $output == *"home folder is shared with lab1 lab2"* ]]
  [ "$(wc -l <"$HOME/.ssh/authorized_keys")" -eq 1 ]
  [ -z "$(find "$HOME/.ssh" -name '*nonce*')" ]
  run bash "$script" verify --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cell lab1 4)" = 1/1 ]
  [ "$(cell lab2 4)" = 1/1 ]
}

@test "without any key the remedy is to make one" {
  make_host lab1
  mkdir -m 700 "$HOME/.ssh"
  echo lab1 >"$hosts"
  for verb in check verify; do
    run bash "$script" $verb --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $(grep '^lab1 ' <<<"$output") == *"ssh-setup generate, then authorize"* ]]
  done
  run bash "$script" authorize --hosts "$hosts" --yes
  [ "$status" -eq 1 ]
  [[ $output == *"found:    no key"*"do:       ssh-setup generate"* ]]
  [ -z "$(ls -A "$HOME/.ssh")" ]
}

@test "known_hosts keeps its mode when a host is added, also behind a link, unless others may write to it" {
  bash "$script" generate
  echo '# shared' >"$BATS_TEST_TMPDIR/shared"
  ln -s "$BATS_TEST_TMPDIR/shared" "$HOME/.ssh/known_hosts"
  for mode in 644 640 664; do
    make_host lab$mode
    echo lab$mode >"$hosts"
    chmod $mode "$BATS_TEST_TMPDIR/shared"
    run bash "$script" authorize --yes --hosts "$hosts"
    grep -q "^lab$mode " "$BATS_TEST_TMPDIR/shared"
    if [ $mode = 664 ]; then break; fi
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/shared")" = $mode ]
  done
  [ "$(stat -c %a "$BATS_TEST_TMPDIR/shared")" = 600 ]
  [[ $output == *"set the mode of $HOME/.ssh/known_hosts to 600 (it was 664)"* ]]
}

@test "without consent no host key is added" {
  make_host lab1
  bash "$script" generate
  echo lab1 >"$hosts"
  run bash "$script" authorize --hosts "$hosts" </dev/null
  [ "$status" -eq 1 ]
  [[ $output == *"not added"*--yes* ]]
  [ ! -s "$HOME/.ssh/known_hosts" ]
}

# make_unknown_hosts HOST…: they accept the key, but their own are not known here.
make_unknown_hosts() {
  local host
  for host in "$@"; do make_host "$host"; done
  bash "$script" generate
  for host in "$@"; do let_in "$host"; done
  rm "$HOME/.ssh/known_hosts"
}

@test "a configuration that keeps no host keys: authorize once, then all programs and hops go through" {
  make_unknown_hosts lab1 lab2
  for host in lab1 lab2; do echo 'UserKnownHostsFile /dev/null /dev/null' >"$lab/$host.config"; done
  printf '%s\n' lab1 lab2 >"$hosts"
  run bash "$script" authorize --yes --mesh --hosts "$hosts"
  [ "$status" -eq 0 ]
  run bash "$script" verify --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cell lab1 4)" = 1/1 ]
  run bash "$script" check --hosts "$hosts" --jump lab2
  [ "$status" -eq 0 ]
  grep -q 'ProxyCommand=.*UserKnownHostsFile=~/.ssh/known_hosts.* lab2' "$lab/calls"
  run bash "$BATS_TEST_DIRNAME/../../setup/login-shell" --hosts "$hosts"
  [ "$status" -eq 0 ]
}

@test "host keys go into the file that ssh reads for the host" {
  make_unknown_hosts lab1 lab2
  echo "UserKnownHostsFile $HOME/.ssh/known lab $HOME/.ssh/more" >"$lab/lab1.config"
  printf '%s\n' lab1 lab2 >"$hosts"
  run bash "$script" authorize --yes --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cut -d ' ' -f 1 "$HOME/.ssh/known lab")" = lab1 ]
  [ "$(cut -d ' ' -f 1 "$HOME/.ssh/known_hosts")" = lab2 ]
}

@test "a host that only ssh's configuration leads to: the remedy names its jump host" {
  make_unknown_hosts lab1 lab2
  fake_command ssh-keyscan <<<'exit 1'
  printf '%s\n' lab1 lab2 >"$hosts"
  echo 'ProxyJump lab3' >"$lab/lab1.config"
  run bash "$script" authorize --yes --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"no host key could be read from lab1 lab2"* ]]
  [[ $(grep '^lab1  ' <<<"$output") == *"ssh-setup authorize --jump lab3 "* ]]
  [[ $(grep '^lab2  ' <<<"$output") == *"ssh-keyscan gets no host key from it: ssh lab2 in a terminal"* ]]
  # Not what this option cannot take.
  echo 'ProxyJump lab3:2222,lab4' >"$lab/lab1.config"
  run bash "$script" authorize --yes --hosts "$hosts"
  [[ $(grep '^lab1  ' <<<"$output") == *"ssh lab1 in a terminal"* ]]
}

@test "a changed host key is reported and never replaced" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  rm "$lab"/lab1.key*
  ssh-keygen -q -t ed25519 -N '' -f "$lab/lab1.key"
  echo lab1 >"$hosts"
  before=$(cat "$HOME/.ssh/known_hosts")
  run bash "$script" authorize --hosts "$hosts" --yes
  [ "$status" -eq 1 ]
  [[ $(grep '^lab1 ' <<<"$output") == *"host key changed"*"ssh-keygen -R lab1"* ]]
  [ "$(cat "$HOME/.ssh/known_hosts")" = "$before" ]
}

@test "separate homes: verify names the hops that fail, and --mesh mends them" {
  for host in lab1 lab2 lab3; do make_host $host; done
  printf '%s\n' lab1 lab2 lab3 >"$hosts"
  bash "$script" generate
  for host in lab1 lab2 lab3; do let_in $host; done
  run bash "$script" verify --hosts "$hosts"
  [ "$status" -eq 1 ]
  [ "$(cell lab1 4)" = 0/2 ]
  [[ $(grep '^lab1 ' <<<"$output") == *"cannot reach lab2 lab3"*"authorize --mesh"* ]]
  run bash "$script" authorize --mesh --hosts "$hosts"
  [ "$status" -eq 0 ]
  run bash "$script" verify --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cell lab3 4)" = 2/2 ]
  [[ $output == *"lab2       ok    -     ok"* ]]
  before=$(tree_hash "$HOME" "$lab"/lab?)
  bash "$script" authorize --mesh --hosts "$hosts"
  [ "$(tree_hash "$HOME" "$lab"/lab?)" = "$before" ]
}

@test "what other machines send is taken for a key, and for nothing else" {
  for host in lab1 lab2; do make_host $host; done
  printf '%s\n' lab1 lab2 >"$hosts"
  bash "$script" generate
  let_in lab1
  let_in lab2
  : >"$HOME/.ssh/known_hosts"
  fake_command ssh-keyscan <<<'for name in "*" "${!#}"; do echo "$name $(cut -d " " -f 1,2 "$lab/${!#}.key.pub")"; done; echo "${!#} @cert-authority x"'
  ssh-keygen -q -t ed25519 -N '' -f "$lab/lab1/.ssh/id_ed25519"
  sed -i 's|^|command="rm -rf ~" |' "$lab/lab1/.ssh/id_ed25519.pub"
  run bash "$script" authorize --yes --mesh --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cut -d ' ' -f 1 "$HOME/.ssh/known_hosts" | sort -u | xargs)" = "lab1 lab2" ]
  run grep -r 'rm -rf' "$lab/lab2/.ssh" "$lab/lab1/.ssh/authorized_keys"
  [ "$status" -eq 1 ]
}

@test "ended by a signal it leaves nothing behind" {
  make_host lab1 hangs
  bash "$script" generate
  let_in lab1
  echo lab1 >"$hosts"
  mkdir "$BATS_TEST_TMPDIR/tmp"
  before=$(find "$HOME" | sort)
  TMPDIR=$BATS_TEST_TMPDIR/tmp bash "$script" verify --hosts "$hosts" --timeout 30 3>&- &
  pid=$!
  await compgen -G "$BATS_TEST_TMPDIR/tmp/*/probe.sh" >/dev/null
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  [ "$code" -eq 130 ]
  [ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
  [ "$(find "$HOME" | sort)" = "$before" ]
}

@test "a host that hangs and one that is down are reported in time; the others go on" {
  make_host lab1
  make_host lab2 hangs
  make_host lab3 down
  bash "$script" generate
  for host in lab1 lab2 lab3; do let_in $host; done
  printf '%s\n' lab1 lab2 lab3 lab4 >"$hosts"
  started=$SECONDS
  run bash "$script" verify --hosts "$hosts" --timeout 1
  [ "$status" -eq 1 ]
  [ $((SECONDS - started)) -lt 20 ] # the fake would hang for 60
  [ "$(cell lab1 2)$(cell lab2 2)$(cell lab3 2)$(cell lab4 2)" = yesnonono ]
  [[ $(grep '^lab2 ' <<<"$output") == *"no answer in 1 s"* ]]
  [[ $(grep '^lab3 ' <<<"$output") == *sshd* ]]
  [[ $(grep '^lab4 ' <<<"$output") == *"does not resolve"* ]]
}

@test "tcsh as login shell, with a .cshrc that prints" {
  command -v tcsh >/dev/null || skip "no tcsh on this machine"
  make_host lab1
  make_host lab2
  bash "$script" generate
  for host in lab1 lab2; do
    let_in $host
    echo tcsh >"$lab/$host.shell"
    echo 'echo "Welcome to the lab!"' >"$lab/$host/.cshrc"
  done
  printf '%s\n' lab1 lab2 >"$hosts"
  run bash "$script" authorize --mesh --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ $output != *Welcome* ]]
  run bash "$script" verify --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(cell lab1 4)" = 1/1 ]
}

@test "a login shell that ends by itself is distinguished from a host that is down" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  printf '#!/bin/sh\nexit 7\n' >"$fake/brokenshell"
  chmod +x "$fake/brokenshell"
  echo brokenshell >"$lab/lab1.shell"
  echo lab1 >"$hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [ "$(cell lab1 2)" = yes ]
  [[ $output == *"login shell exited with 7"* ]]
}

@test "--config: a file of its own, one Include, and not a line of the user's changed" {
  make_host lab1
  bash "$script" generate
  let_in lab1
  printf 'Host *\n  ForwardX11 no' >"$HOME/.ssh/config"
  chmod 600 "$HOME/.ssh/config"
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/cloud.pem"
  echo me@lab1 >"$hosts"
  for _ in 1 2; do
    run bash "$script" authorize --hosts "$hosts" --config --identity "$BATS_TEST_TMPDIR/cloud.pem"
    [ "$status" -eq 0 ]
  done
  [ "$(cat "$HOME/.ssh/config")" = $'Include "'"$HOME"$'/.ssh/config.hpcboot"\nHost *\n  ForwardX11 no' ]
  [ "$(stat -c %a "$HOME/.ssh/config" "$HOME/.ssh/config.hpcboot" | xargs)" = "600 600" ]
  rm "$fake/ssh" # the real one reads it
  run ssh -G -F "$HOME/.ssh/config" lab1
  [[ $output == *"user me"* ]]
  [[ $output == *"cloud.pem"* ]]
  [[ $output == *"forwardx11 no"* ]]
}

@test "--home works on another home folder, and leaves this one alone" {
  make_host lab1
  other=$BATS_TEST_TMPDIR/other
  mkdir "$other"
  echo lab1 >"$hosts"
  bash "$script" generate --home "$other"
  mkdir -m 700 "$lab/lab1/.ssh"
  cp "$other/.ssh/id_ed25519.pub" "$lab/lab1/.ssh/authorized_keys"
  run bash "$script" authorize --yes --home "$other" --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ -s "$other/.ssh/known_hosts" ]
  [ ! -e "$HOME/.ssh" ]
}
