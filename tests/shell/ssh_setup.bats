#!/usr/bin/env bats
# setup/ssh-setup with a separate home folder and hosts that are folders (fake_ssh.bash). The same
# against real sshd's: tests/cluster/ssh_setup.bats. authorize and verify: ssh_authorize.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh
load ../support/background

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
}

teardown() { end_jobs; }

@test "generate: an ed25519 key of mode 600 in a folder of mode 700, and its private half is not shown" {
  run bash "$script" generate
  [ "$status" -eq 0 ]
  [ "$(stat -c %a "$HOME/.ssh" "$HOME/.ssh/id_ed25519" | xargs)" = "700 600" ]
  [[ $output == *SHA256:*ED25519* ]]
  [[ $output != *PRIVATE* ]]
}

@test "generate leaves a key that is there as it is, of any kind" {
  for kind in ed25519 rsa; do
    rm -rf "$HOME/.ssh"
    mkdir -m 700 "$HOME/.ssh"
    ssh-keygen -q -t $kind -N '' -f "$HOME/.ssh/id_$kind"
    before=$(tree_hash "$HOME")
    run bash "$script" generate
    [ "$status" -eq 0 ]
    [[ $output == *"id_$kind exists"* ]]
    [ "$(tree_hash "$HOME")" = "$before" ]
  done
  run bash "$script" generate --new-key # beside the RSA key
  [ "$status" -eq 0 ]
  [ -f "$HOME/.ssh/id_ed25519" ]
  before=$(tree_hash "$HOME")
  bash "$script" generate --new-key
  [ "$(tree_hash "$HOME")" = "$before" ]
}

@test "generate makes no key beside one in the agent, and --new-key does" {
  mkdir -m 700 "$HOME/.ssh"
  ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/elsewhere"
  ssh-agent -D -s >"$BATS_TEST_TMPDIR/agent" 3>&- &
  await grep -q '^SSH_AUTH_SOCK=.*;' "$BATS_TEST_TMPDIR/agent"
  eval "$(grep '^SSH_AUTH_SOCK=' "$BATS_TEST_TMPDIR/agent")"
  ssh-add -q "$BATS_TEST_TMPDIR/elsewhere"
  run bash "$script" generate
  bash "$script" generate --new-key
  [ "$status" -eq 0 ]
  [[ $output == *"the agent has a key"*--new-key* ]]
  [ -f "$HOME/.ssh/id_ed25519" ]
}

@test "an agent that does not answer is named within --timeout, in every verb" {
  echo lab1 >"$hosts"
  python3 -c 'import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(9)
time.sleep(600)' "$BATS_TEST_TMPDIR/agent" 3>&- &
  await test -S "$BATS_TEST_TMPDIR/agent"
  for verb in check generate authorize verify; do
    SSH_AUTH_SOCK=$BATS_TEST_TMPDIR/agent run timeout 60 bash "$script" "$verb" --timeout 1 --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    the ssh agent does not answer within 1 s (SSH_AUTH_SOCK=$BATS_TEST_TMPDIR/agent)"*"unset SSH_AUTH_SOCK"* ]]
  done
  [ ! -e "$HOME/.ssh" ]
  [ ! -e "$lab/calls" ]
}

@test "a public key whose private one is gone is not overwritten" {
  mkdir -m 700 "$HOME/.ssh"
  echo precious >"$HOME/.ssh/id_ed25519.pub"
  run bash "$script" generate
  [ "$status" -eq 1 ]
  [[ $output == *"without its private key"* ]]
  [ "$(cat "$HOME/.ssh/id_ed25519.pub")" = precious ]
}

@test "wrong modes are corrected, and named" {
  bash "$script" generate
  chmod 755 "$HOME/.ssh"
  chmod 644 "$HOME/.ssh/id_ed25519"
  chmod 775 "$HOME"
  run bash "$script" generate
  [ "$status" -eq 0 ]
  [[ $output == *"mode of $HOME/.ssh to 700 (it was 755)"* ]]
  [[ $output == *"id_ed25519 to 600 (it was 644)"* ]]
  [[ $output == *"chmod go-w $HOME"* ]]
  [ "$(stat -c %a "$HOME" "$HOME/.ssh" "$HOME/.ssh/id_ed25519" | xargs)" = "775 700 600" ]
}

@test "--dry-run changes nothing, in any verb" {
  make_host lab1
  make_host lab2
  bash "$script" generate
  let_in lab1
  chmod 755 "$HOME/.ssh"
  printf '%s\n' lab1 lab2 >"$hosts"
  before=$(tree_hash "$HOME" "$lab"/lab?)
  for words in "generate --new-key" "authorize --yes --mesh --config" check verify; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words --hosts "$hosts" --dry-run
    [ "$(tree_hash "$HOME" "$lab"/lab?)" = "$before" ]
  done
  run bash "$script" authorize --yes --config --hosts "$hosts" --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"would set the mode of $HOME/.ssh to 700"* ]]
  [[ $output == *"would ensure that lab1 has the key"* ]]
  [[ $output == *"would put the line 'Include"* ]]
  rm -rf "$HOME/.ssh"
  run bash "$script" generate --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"would create the key"* ]]
  [ ! -e "$HOME/.ssh" ]
}

@test "check tells modes, keys and an encrypted key without agent, and changes nothing" {
  make_host lab1
  mkdir -m 755 "$HOME/.ssh"
  ssh-keygen -q -t ed25519 -N secretphrase -f "$HOME/.ssh/id_ed25519"
  let_in lab1
  chmod 666 "$lab/lab1/.ssh/authorized_keys"
  cp "$lab/lab1/.ssh/authorized_keys" "$HOME/.ssh/authorized_keys"
  chmod 664 "$HOME/.ssh/authorized_keys"
  echo lab1 >"$hosts"
  before=$(tree_hash "$HOME" "$lab"/lab?)
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"wrong  $HOME/.ssh has mode 755, not 700"* ]]
  [[ $output == *"authorized_keys has mode 664, not 600"* ]]
  [[ $output == *"passphrase, not in the agent: ssh-add $HOME/.ssh/id_ed25519"* ]]
  [ "$(tree_hash "$HOME" "$lab"/lab?)" = "$before" ]
}

@test "a file that is no key is named in every verb, is not overwritten, and can be moved away" {
  make_host lab1
  echo lab1 >"$hosts"
  key=$HOME/.ssh/id_ed25519
  for kind in garbage cut empty; do
    rm -rf "$HOME/.ssh"
    mkdir -m 700 "$HOME/.ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$key"
    case $kind in
      garbage) echo garbage >"$key" && rm "$key.pub" ;;
      cut) truncate -s 200 "$key" ;;
      empty) truncate -s 0 "$key" ;;
    esac
    before=$(sha256sum "$key")
    run bash "$script" check --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"wrong  $key cannot be read as a key: move it away"* ]]
    [[ $output != *passphrase* ]]
    [[ $output == *"lab1"*"move $key away, then ssh-setup generate and authorize"* ]]
    for words in generate "generate --new-key" "authorize --yes"; do
      # shellcheck disable=SC2086 # words are words
      run bash "$script" $words --hosts "$hosts"
      [ "$status" -eq 1 ]
      [[ $output == *"$key cannot be read as a key"*"move it away: mv $key "* ]]
    done
    [ "$(sha256sum "$key")" = "$before" ]
    bash -c "$(sed -n 's/^  do: *move it away: \(.*\); then .*/\1/p' <<<"$output")"
    bash "$script" generate
    [ "$(sha256sum <"$key.damaged")" = "${before%% *}  -" ]
    ssh-keygen -y -P '' -f "$key"
  done
}

@test "a damaged key beside a good one: the good one is used, and check tells of the other" {
  make_host lab1
  echo lab1 >"$hosts"
  mkdir -m 700 "$HOME/.ssh"
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$HOME/.ssh/id_rsa"
  (umask 077 && echo garbage >"$HOME/.ssh/id_ed25519")
  run bash "$script" generate
  [ "$status" -eq 0 ]
  [[ $output == *"id_rsa exists and is used"* ]]
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"id_ed25519 cannot be read as a key"*"key    $HOME/.ssh/id_rsa"* ]]
}

@test "a key that others can read, without its public half: check says what to do, and that does it" {
  make_host lab1
  echo lab1 >"$hosts"
  bash "$script" generate
  let_in lab1
  mv "$HOME/.ssh/id_ed25519.pub" "$BATS_TEST_TMPDIR"
  chmod 644 "$HOME/.ssh/id_ed25519"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"id_ed25519 has mode 644, not 600; do: ssh-setup generate"* ]]
  [[ $output == *"id_ed25519  not used by ssh with mode 644: ssh-setup generate"* ]]
  [[ $output != *passphrase* && $output != *"no key"* ]]
  bash "$script" generate
  run bash "$script" check --hosts "$hosts" # not its exit code: the fake ssh needs the public half
  [[ $output == *"key    $HOME/.ssh/id_ed25519  256 SHA256:"* && $output != *wrong* ]]
  chmod 644 "$HOME/.ssh/id_ed25519"
  run bash "$script" authorize --yes --hosts "$hosts"
  [[ $output != *"error"* ]]
  [ "$(stat -c %a "$HOME/.ssh/id_ed25519")" = 600 ]
}

@test "authorized_keys and config that others may read are right, and those that they may write are set to 600" {
  make_host lab1
  echo lab1 >"$hosts"
  bash "$script" generate
  let_in lab1
  touch "$HOME"/.ssh/{authorized_keys,config}
  chmod 644 "$HOME"/.ssh/{authorized_keys,config}
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ $output != *wrong* ]]
  chmod 664 "$HOME"/.ssh/{authorized_keys,config}
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"authorized_keys has mode 664, not 600; do: ssh-setup generate"* ]]
  [[ $output == *"config has mode 664, not 600; do: ssh-setup generate"* ]]
  bash "$script" generate
  [ "$(stat -c %a "$HOME"/.ssh/{authorized_keys,config} | xargs)" = "600 600" ]
}

@test "a ~/.ssh that is not a folder is named, and left alone" {
  echo lab1 >"$hosts"
  for kind in file link; do
    rm -rf "$HOME/.ssh"
    if [ $kind = file ]; then echo mine >"$HOME/.ssh"; else ln -s /nowhere/at/all "$HOME/.ssh"; fi
    before=$(tree_hash "$HOME")
    for words in generate "authorize --yes"; do
      # shellcheck disable=SC2086 # words are words
      run bash "$script" $words --hosts "$hosts"
      [ "$status" -eq 1 ]
      [[ $output == *"$HOME/.ssh exists and is not a folder"*"mv $HOME/.ssh"* ]]
      [[ $output != *mkdir* ]]
    done
    run bash "$script" check --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"wrong  $HOME/.ssh is not a folder: move it away"* ]]
    [ "$(tree_hash "$HOME")" = "$before" ]
  done
}

@test "without HOME the user data base says where home is, and without that --home is asked for" {
  run env -u HOME bash "$script" generate
  [ "$status" -eq 1 ]
  [[ $output == *"HOME is not set"*--home* ]]
  [[ $output != *unbound* ]]
  fake_command getent <<<"echo user:x:$(id -u):1000::$HOME:/bin/bash"
  run env -u HOME bash "$script" generate
  [ "$status" -eq 0 ]
  [ -f "$HOME/.ssh/id_ed25519" ]
}

@test "localhost needs no ssh: hosts.txt as it ships is fine" {
  bash "$script" generate
  run bash "$script" verify --hosts "$BATS_TEST_DIRNAME/../../setup/hosts.txt"
  [ "$status" -eq 0 ]
  [ "$(cell localhost 2)" = here ]
  [ ! -e "$lab/calls" ]
}

@test "a missing ssh-keygen is named with its package" {
  for command in bash dirname cat mktemp realpath ssh ssh-keyscan ssh-add timeout; do
    ln -sf "$(command -v $command)" "$BATS_TEST_TMPDIR/few-$command"
  done
  mkdir "$BATS_TEST_TMPDIR/few"
  for file in "$BATS_TEST_TMPDIR"/few-*; do mv "$file" "$BATS_TEST_TMPDIR/few/${file##*few-}"; done
  PATH=$BATS_TEST_TMPDIR/few run bash "$script" generate
  [ "$status" -eq 1 ]
  [[ $output == *"no ssh-keygen"*openssh-client* ]]
}

@test "an identity that others can read is refused, as ssh would" {
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/cloud.pem"
  chmod 644 "$BATS_TEST_TMPDIR/cloud.pem"
  echo lab1 >"$hosts"
  run bash "$script" verify --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem"
  [ "$status" -eq 1 ]
  [[ $output == *"chmod 600"* ]]
}

@test "usage" {
  run bash "$script" --help
  [ "$status" -eq 0 ]
  [[ $output == *"Example: "* ]]
  echo lab1 >"$hosts"
  for words in "" "frobnicate" "check" "check generate" "check --hosts /nowhere" "check --timeout 0 --hosts $hosts" \
    "check --hosts $hosts --jump -x" "check --hosts $hosts --home /nowhere" "verify --hosts"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words
    [ "$status" -eq 2 ]
  done
}
