#!/usr/bin/env bats
# setup/ssh-setup: only what ssh-keygen reads as a public key is authorized, and only a line in force counts as there.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  key=$HOME/.ssh/id_ed25519
  mkdir -m 700 "$HOME/.ssh"
  make_host lab1
  echo lab1 >"$hosts"
  # lab1 accepts another key.
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/cloud.pem"
  mkdir -m 700 "$lab/lab1/.ssh"
  cp "$BATS_TEST_TMPDIR/cloud.pem.pub" "$lab/lab1/.ssh/authorized_keys"
  words=(authorize --yes --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem")
}

# body_of FILE: the second word of its first line.
body_of() { cut -d ' ' -f 2 "$1"; }

# other_form NAME: writes KEY.pub in a form that is not one line of OpenSSH.
other_form() {
  case $1 in
    rfc4716) ssh-keygen -e -f "$key" >"$BATS_TEST_TMPDIR/form" ;;
    pem) ssh-keygen -e -m PKCS8 -f "$key" >"$BATS_TEST_TMPDIR/form" ;;
    empty) : >"$BATS_TEST_TMPDIR/form" ;;
    cut) cut -c 1-40 "$key.pub" >"$BATS_TEST_TMPDIR/form" ;;
    words) echo 'this is no key' >"$BATS_TEST_TMPDIR/form" ;;
  esac
  cat "$BATS_TEST_TMPDIR/form" >"$key.pub"
}

@test "a public half that is not a line of OpenSSH is derived from a key without a passphrase" {
  for form in rfc4716 pem empty cut words; do
    rm -f "$HOME"/.ssh/*
    ssh-keygen -q -t rsa -b 2048 -N '' -C me@here -f "$key"
    body=$(body_of "$key.pub")
    other_form $form
    cp "$key.pub" "$BATS_TEST_TMPDIR/before"
    run bash "$script" "${words[@]}"
    [ "$(body_of "$HOME/.ssh/authorized_keys")" = "$body" ]
    [ "$(tail -n 1 "$lab/lab1/.ssh/authorized_keys" | body_of -)" = "$body" ]
    cmp "$key.pub" "$BATS_TEST_TMPDIR/before"
    run bash "$script" check --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/cloud.pem"
    [[ $output == *"key    $key  "*SHA256:* ]]
  done
}

@test "such a public half of a key with a passphrase is an error that says how to derive it" {
  for form in rfc4716 pem empty cut words; do
    rm -f "$HOME"/.ssh/*
    ssh-keygen -q -t rsa -b 2048 -N secretphrase -f "$key"
    body=$(body_of "$key.pub")
    other_form $form
    before=$(tree_hash "$HOME" "$lab/lab1")
    run bash "$script" "${words[@]}"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    the public half of $key cannot be read"*"expected: "*"do:       mv $key.pub $key.pub.old; ssh-keygen -y -f $key >$key.pub "* ]]
    [ "$(tree_hash "$HOME" "$lab/lab1")" = "$before" ]
    run bash "$script" check --hosts "$hosts"
    [ "$status" -eq 1 ]
    [[ $output == *"key    $key  passphrase, no public half in $key.pub: mv "*"ssh-keygen -y -f $key >$key.pub"* ]]
    [[ $(grep '^lab1 ' <<<"$output") == *"ssh-keygen -y -f $key >$key.pub"*"then ssh-setup authorize"* ]]
    mv "$key.pub" "$key.pub.old"
    ssh-keygen -y -P secretphrase -f "$key" >"$key.pub"
    run bash "$script" "${words[@]}"
    [ "$(body_of "$HOME/.ssh/authorized_keys")" = "$body" ]
  done
}

@test "comments, empty lines and the ends of lines of another system do not hide a public half" {
  ssh-keygen -q -t ed25519 -N secretphrase -C me@here -f "$key"
  line=$(cat "$key.pub")
  printf '# my key\r\n\r\n%s\r\n' "$line" >"$key.pub"
  run bash "$script" "${words[@]}"
  [ "$(cat "$HOME/.ssh/authorized_keys")" = "$line" ]
}

@test "a key in a comment is not there, and one with options is" {
  ssh-keygen -q -t ed25519 -N '' -C me@here -f "$key"
  line=$(cat "$key.pub")
  printf '#%s\n # %s\n' "$line" "$line" >"$HOME/.ssh/authorized_keys"
  cat "$HOME/.ssh/authorized_keys" >>"$lab/lab1/.ssh/authorized_keys"
  chmod 600 "$HOME/.ssh/authorized_keys"
  run bash "$script" "${words[@]}"
  for place in "$HOME" "$lab/lab1"; do
    [ "$(tail -n 1 "$place/.ssh/authorized_keys")" = "$line" ]
    printf 'from="*.lab",environment="A=AAAAB3" %s\n' "$line" >"$place/.ssh/authorized_keys"
  done
  cat "$BATS_TEST_TMPDIR/cloud.pem.pub" >>"$lab/lab1/.ssh/authorized_keys"
  before=$(tree_hash "$HOME" "$lab/lab1")
  run bash "$script" "${words[@]}"
  [ "$(tree_hash "$HOME" "$lab/lab1")" = "$before" ]
}

@test "--mesh: a host's public half in another form is derived there, or named" {
  ssh-keygen -q -t ed25519 -N '' -f "$key"
  for host in lab2 lab3; do
    make_host $host
    cp -r "$lab/lab1/.ssh" "$lab/$host"
    echo $host >>"$hosts"
  done
  ssh-keygen -q -t rsa -b 2048 -N '' -f "$lab/lab2/.ssh/id_rsa"
  ssh-keygen -q -t rsa -b 2048 -N secretphrase -f "$lab/lab3/.ssh/id_rsa"
  body=$(body_of "$lab/lab2/.ssh/id_rsa.pub")
  for host in lab2 lab3; do
    ssh-keygen -e -f "$lab/$host/.ssh/id_rsa.pub" >"$BATS_TEST_TMPDIR/form"
    cat "$BATS_TEST_TMPDIR/form" >"$lab/$host/.ssh/id_rsa.pub"
  done
  run bash "$script" "${words[@]}" --mesh
  grep -qF "$body" "$lab/lab1/.ssh/authorized_keys"
  [[ $output == *"lab3: the public half of ~/.ssh/id_rsa cannot be read; do: ssh-keygen -y "* ]]
  [ "$(grep -c . "$lab/lab1/.ssh/authorized_keys")" -eq 4 ] # cloud.pem's, this user's, those of lab1 and lab2
}
