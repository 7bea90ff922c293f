#!/usr/bin/env bats
# setup/ssh-setup and files of other users: they are named, and never changed.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  [ "$(id -u)" -eq 0 ] || skip "only root gives files away"
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  make_host lab1
  echo lab1 >"$hosts"
}

# A hash of everything in the folders: also owners.
owned_hash() { (find "$@" -printf '%p %m %s %l %u\n' && tree_hash "$@") | sort | sha256sum; }

@test "the home of another user is left alone in every verb, however it is named" {
  other=$BATS_TEST_TMPDIR/other
  mkdir "$other"
  chown 12345 "$other"
  before=$(owned_hash "$other" "$HOME")
  for words in generate "authorize --yes --config" check verify secret; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words --hosts "$hosts" --home "$other"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    the home folder $other belongs to 12345"*"do:       run it as that user: sudo -H -u '#12345' setup/ssh-setup ${words%% *}"* ]]
    # shellcheck disable=SC2086 # words are words
    HOME=$other run bash "$script" $words --hosts "$hosts" # as sudo may leave it
    [ "$status" -eq 1 ]
    [[ $output == *"found:    the home folder $other belongs to 12345"* ]]
    [ "$(owned_hash "$other" "$HOME")" = "$before" ]
  done
}

@test "the configuration of another user's home is not read: it names commands" {
  other=$BATS_TEST_TMPDIR/other
  mkdir -p "$other/.ssh"
  printf 'Host *\n  ProxyCommand touch %s\n' "$BATS_TEST_TMPDIR/ran" >"$other/.ssh/config"
  chown -R 12345 "$other"
  for name in check-hosts login-shell; do
    run bash "${script%/*}/$name" --hosts "$hosts" --home "$other"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    the home folder $other belongs to 12345"*"do:       run it as that user: sudo -H -u '#12345' setup/$name; or name your own: --home DIR"* ]]
  done
  [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "a ~/.ssh of another user is left alone" {
  mkdir -m 755 "$HOME/.ssh"
  chown 12345 "$HOME/.ssh"
  before=$(owned_hash "$HOME")
  for words in generate "authorize --yes"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    $HOME/.ssh belongs to 12345"*"do:       sudo chown"* ]]
    [ "$(owned_hash "$HOME")" = "$before" ]
  done
}

@test "a file of another user is not written, also behind a link, here or on another host" {
  bash "$script" generate
  let_in lab1
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/cloud.pem"
  cat "$BATS_TEST_TMPDIR/cloud.pem.pub" >"$BATS_TEST_TMPDIR/shared"
  chown 12345 "$BATS_TEST_TMPDIR/shared"
  chmod 666 "$BATS_TEST_TMPDIR/shared"
  before=$(owned_hash "$BATS_TEST_TMPDIR/shared")
  ln -s "$BATS_TEST_TMPDIR/shared" "$HOME/.ssh/config"
  run bash "$script" authorize --yes --config --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"$HOME/.ssh/config"*"belongs to 12345"* ]]
  rm "$HOME/.ssh/config"
  ln -sf "$BATS_TEST_TMPDIR/shared" "$lab/lab1/.ssh/authorized_keys"
  run bash "$script" authorize --yes --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem"
  [[ $output == *"lab1: ~/.ssh/authorized_keys cannot be written: "*"belongs to 12345"*"do: "* ]]
  ln -sf "$BATS_TEST_TMPDIR/shared" "$HOME/.ssh/authorized_keys"
  run bash "$script" authorize --yes --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem"
  [ "$status" -eq 1 ]
  [[ $output == *"$HOME/.ssh/authorized_keys"*"belongs to 12345"* ]]
  [ "$(owned_hash "$BATS_TEST_TMPDIR/shared")" = "$before" ]
}

@test "on another host, a file of another user keeps its mode, and is named if others may write to it" {
  bash "$script" generate
  let_in lab1
  chown 12345 "$lab/lab1/.ssh/authorized_keys"
  for mode in 644 664; do
    chmod $mode "$lab/lab1/.ssh/authorized_keys"
    run bash "$script" authorize --yes --hosts "$hosts"
    [ "$status" -eq 0 ]
    [ "$(stat -c %a "$lab/lab1/.ssh/authorized_keys")" = $mode ]
  done
  [[ $output == *"lab1: ~/.ssh/authorized_keys belongs to 12345, and others may write to it (mode 664); do: sudo chmod go-w ~/.ssh/authorized_keys"* ]]
}

@test "a file of root, which others may read: check notes it, and no verb changes its mode or stops at it" {
  bash "$script" generate
  let_in lab1
  cp "$HOME/.ssh/id_ed25519.pub" "$HOME/.ssh/authorized_keys"
  chmod 644 "$HOME"/.ssh/{authorized_keys,known_hosts}
  chown 12345 "$HOME/.ssh/known_hosts"
  # The owner is what the shell and stat see: here, of one file, root instead of this user.
  fake_command stat <<SH
case \$*:\${!#} in *%U*:*/authorized_keys) echo root 0 ;; *%u*:*/authorized_keys) echo 0 ;; *) exec $(command -v stat) "\$@" ;; esac
SH
  chown 54321 "$HOME/.ssh/authorized_keys"
  before=$(owned_hash "$HOME/.ssh")
  run bash "$script" generate
  [ "$status" -eq 0 ]
  [[ $output != *mode* ]]
  run bash "$script" authorize --yes --hosts "$hosts"
  [ "$status" -eq 0 ]
  [ "$(owned_hash "$HOME/.ssh")" = "$before" ]
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"note   $HOME/.ssh/authorized_keys belongs to root: ssh-setup cannot change it"* ]]
  [[ $output == *"wrong  $HOME/.ssh/known_hosts belongs to 12345, with mode 644: "*"do: sudo chown 0 $HOME/.ssh/known_hosts"* ]]
  chown 0 "$HOME/.ssh/known_hosts"
  run bash "$script" check --hosts "$hosts"
  [ "$status" -eq 0 ]
}

@test "a file of another user that others may write to is an error that names its owner" {
  bash "$script" generate
  touch "$HOME/.ssh/authorized_keys"
  chmod 666 "$HOME/.ssh/authorized_keys"
  chown 12345 "$HOME/.ssh/authorized_keys"
  before=$(owned_hash "$HOME/.ssh")
  for words in generate "authorize --yes"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"authorized_keys has mode 666, and belongs to 12345"*"do:       sudo chmod go-w "* ]]
    [ "$(owned_hash "$HOME/.ssh")" = "$before" ]
  done
}
