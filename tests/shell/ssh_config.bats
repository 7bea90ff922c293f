#!/usr/bin/env bats
# setup/ssh-setup authorize --config: the real ssh reads what it writes. Files and links: ssh_authorize.bats,
# ssh_disk.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  real_ssh=$(command -v ssh)
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
  make_host lab1
  bash "$script" generate
  let_in lab1
  # The hosts are fakes; the configuration is read by the real ssh.
  mv "$fake/ssh" "$fake/ssh.lab"
  fake_command ssh <<SH
case \$* in "-G -F"*) exec $real_ssh "\$@" ;; *) exec ssh.lab "\$@" ;; esac
SH
}

# setting HOST KEYWORD: as the real ssh reads it.
setting() { "$real_ssh" -G -F "$HOME/.ssh/config" "$1" | sed -n "s/^$2 //p"; }

@test "--config with a jump host of any form: ssh reads it, and still serves other hosts" {
  printf '%s\n' 2001:db8::7 inside >"$hosts"
  for jump in gate.example me@gate.example 192.0.2.1 2001:db8::1 me@2001:db8::1; do
    rm -f "$HOME"/.ssh/config*
    run bash "$script" authorize --yes --config --timeout 1 --jump "$jump" --hosts "$hosts"
    "$real_ssh" -G -F "$HOME/.ssh/config" another.host >"$BATS_TEST_TMPDIR/read"
    run grep proxyjump "$BATS_TEST_TMPDIR/read"
    [ "$status" -eq 1 ]
    for host in inside 2001:db8::7; do
      [ "$(setting $host proxyjump | tr -d '[]')" = "$jump" ]
    done
  done
}

@test "--config: the jump host is not reached through itself, whoever the user is" {
  printf '%s\n' other@gate lab1 >"$hosts"
  bash "$script" authorize --yes --config --timeout 1 --jump me@gate --hosts "$hosts" || true
  [ "$(setting lab1 proxyjump)" = me@gate ]
  [ "$(setting gate user)" = other ]
  [ -z "$(setting gate proxyjump)" ]
}

@test "--config: what ssh would reject is not put in place, and nothing else is done" {
  echo lab1 >"$hosts"
  printf 'IgnoreUnknown Mine\nMine yes\nHost *\n  Bogus yes\n' >"$HOME/.ssh/config"
  before=$(tree_hash "$HOME" "$lab"/lab?)
  run bash "$script" authorize --yes --config --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"found:    ssh rejects $HOME/.ssh/config"*": Bad configuration option: bogus"*"expected: "*"do: "* ]]
  [[ $output != *hpcboot-ssh* ]]
  [ "$(tree_hash "$HOME" "$lab"/lab?)" = "$before" ]
  sed -i 's/Bogus yes/ForwardX11 no/' "$HOME/.ssh/config"
  bash "$script" authorize --yes --config --hosts "$hosts"
}

@test "--config mends a file of its own that ssh rejects" {
  echo lab1 >"$hosts"
  bash "$script" authorize --yes --config --hosts "$hosts"
  before=$(cat "$HOME/.ssh/config.hpcboot")
  printf '  ProxyJump 2001:db8::1\n' >>"$HOME/.ssh/config.hpcboot"
  run "$real_ssh" -G -F "$HOME/.ssh/config" lab1
  [ "$status" -eq 255 ]
  bash "$script" authorize --yes --config --hosts "$hosts"
  [ "$(cat "$HOME/.ssh/config.hpcboot")" = "$before" ]
}
