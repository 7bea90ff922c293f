#!/usr/bin/env bats
# setup/ssh-setup as an ordinary user against the sshd's of three hosts.

load helper

setup() {
  "$CLUSTER" down
  "$CLUSTER" up -n 2
  home=$HPCBOOT_CLUSTER_DIR/home/tester
  script=$BATS_TEST_DIRNAME/../../setup/ssh-setup
  # A new user: no key, no known host, and no site configuration that would help.
  mv "$home/.ssh" "$HPCBOOT_CLUSTER_DIR/shared/administrator"
  : >"$HPCBOOT_CLUSTER_DIR/etc/ssh/ssh_known_hosts"
  : >"$HPCBOOT_CLUSTER_DIR/etc/ssh/ssh_config"
  enter_shared_folder
  printf '%s slots=2\n' n0 n1 n2 >hosts
}

teardown() {
  "$CLUSTER" down
}

# homes_of_their_own: every host gets an empty home for tester, which accepts the administrator's key.
homes_of_their_own() {
  local host
  for host in n0 n1 n2; do
    "$CLUSTER" on "$host" mount -t tmpfs -o mode=700,uid=4242,gid=4242 tmpfs "$home"
    "$CLUSTER" as tester "$host" sh -c 'umask 077; mkdir ~/.ssh'
    "$CLUSTER" on "$host" install -m 600 -o tester "$HPCBOOT_CLUSTER_DIR/shared/administrator/authorized_keys" "$home/.ssh/"
  done
  install -m 600 -o 4242 "$HPCBOOT_CLUSTER_DIR/shared/administrator/id_ed25519" cloud.pem
}

login_shell() {
  sed "s|^\(tester:.*:\)/bin/bash\$|\1$1|" "$HPCBOOT_CLUSTER_DIR/etc/passwd" >passwd
  cat passwd >"$HPCBOOT_CLUSTER_DIR/etc/passwd" # in place: the hosts see this same file
}

# Reloads the configuration of the sshd's: each writes its pid file again once it listens.
sshds_read_anew() {
  local host
  for host in n0 n1 n2; do
    "$CLUSTER" on "$host" sh -c 'pid=$(cat /run/sshd.pid) && rm /run/sshd.pid && kill -HUP "$pid"'
    await "$CLUSTER" on "$host" test -s /run/sshd.pid
  done
}

# line HOST: its line in the last table.
line() { grep -E "^$1 +(yes|no|here) " <<<"$output"; }

@test "a shared home: from nothing to mpirun in three commands" {
  run -0 as_tester "$script" generate
  run as_tester "$script" verify --hosts hosts
  [[ $status == 1 && $(line n1) == *"ssh-setup authorize"* ]] || fail "$output"
  run -0 as_tester "$script" authorize --yes --hosts hosts
  [[ $output == *"SHA256:"*"home folder is shared with n0 n1 n2"* ]] || fail "$output"
  run -0 as_tester "$script" verify --hosts hosts
  [[ $output == *"n1         ok  -   ok"* && $(line n2) == *" 2/2 "* ]] || fail "$output"
  echo "# ${output//$'\n'/$'\n'# }" >&3
  [[ $(stat -c %a "$home"/.ssh "$home"/.ssh/{id_ed25519,authorized_keys,known_hosts} | xargs) == "700 600 600 600" ]]
  [[ $(wc -l <"$home/.ssh/authorized_keys") == 1 ]]
  run -0 --separate-stderr as_tester timeout 60 mpirun --hostfile hosts -np 6 hostname
  [[ $(sort <<<"$output" | uniq -c | xargs) == "2 n0 2 n1 2 n2" ]] || fail "$output"
}

@test "homes of their own, opened by a password that is typed once for each" {
  homes_of_their_own
  for host in n0 n1 n2; do "$CLUSTER" as tester "$host" rm "$home/.ssh/authorized_keys"; done
  awk -F: -v OFS=: -v hash="$(openssl passwd -6 open-sesame)" '$1 == "tester" { $2 = hash } { print }' \
    "$HPCBOOT_CLUSTER_DIR/etc/shadow" >shadow
  cat shadow >"$HPCBOOT_CLUSTER_DIR/etc/shadow"
  sed -i 's/^PasswordAuthentication no/PasswordAuthentication yes/' "$HPCBOOT_CLUSTER_DIR/etc/ssh/sshd_config"
  sshds_read_anew
  run -0 as_tester "$script" generate
  run -0 as_tester timeout 60 python3 "$BATS_TEST_DIRNAME/lib/type_password.py" open-sesame \
    "$script" authorize --yes --hosts hosts
  [[ $output == *"n2 does not accept the key yet"* && $(line n2) == *" yes "*" yes "* ]] || fail "$output"
  run as_tester "$script" verify --hosts hosts
  [[ $status == 1 && $(line n1) == *" 0/2 "*"cannot reach n0 n2: ssh-setup authorize --mesh"* ]] || fail "$output"
  # Passwords and --mesh in one go.
  for host in n0 n1 n2; do "$CLUSTER" as tester "$host" rm "$home/.ssh/authorized_keys"; done
  run -0 as_tester timeout 60 python3 "$BATS_TEST_DIRNAME/lib/type_password.py" open-sesame \
    "$script" authorize --yes --mesh --hosts hosts
  run -0 as_tester "$script" verify --hosts hosts
}

@test "tcsh as login shell, homes of their own, opened by a cloud key" {
  command -v tcsh >/dev/null || skip "no tcsh on this machine"
  login_shell /bin/tcsh
  homes_of_their_own
  for host in n0 n1 n2; do "$CLUSTER" as tester "$host" sh -c 'echo "echo Welcome, do not log in too often\!" > ~/.cshrc'; done
  run -0 as_tester "$script" generate
  run as_tester "$script" authorize --yes --hosts hosts
  [[ $status == 1 && $(line n1) == *" no "*"accepts keys only: use --identity"* ]] || fail "$output"
  run -0 as_tester "$script" authorize --yes --mesh --identity cloud.pem --hosts hosts
  [[ $output == *"n1: created the key"* && $output != *Welcome* ]] || fail "$output"
  run -0 as_tester "$script" verify --hosts hosts
  [[ $(line n0) == *" 2/2 "* && $(line n1) == *" 2/2 "* && $(line n2) == *" 2/2 "* ]] || fail "$output"
  run -0 as_tester "$BATS_TEST_DIRNAME/../../setup/login-shell" --hosts hosts
  [[ $output == *"n2    tester  /bin/tcsh  local"* ]] || fail "$output"
  [[ $("$CLUSTER" as tester n1 sh -c 'sort ~/.ssh/authorized_keys | uniq -d | wc -l') == 0 ]]
  run -0 as_tester timeout 60 mpirun --hostfile hosts -np 6 hostname
}

@test "through a jump host, and --config for mpirun's ssh" {
  "$CLUSTER" on n0 ip route add unreachable 10.77.0.12/32
  printf '%s\n' n2 >far
  run -0 as_tester "$script" generate
  run as_tester "$script" authorize --yes --hosts far --timeout 5
  [[ $status == 1 && $(line n2) == "n2"*" no "* ]] || fail "$output"
  run -0 as_tester "$script" authorize --yes --hosts far --jump n1 --config
  run -0 as_tester "$script" verify --hosts far --jump n1
  [[ $(line n2) == "n2"*" yes "*" yes "* ]] || fail "$output"
  [[ $(as_tester ssh -o BatchMode=yes n2 hostname) == n2 ]]
}

@test "a jump host with a home of its own is authorized first" {
  "$CLUSTER" on n0 ip route add unreachable 10.77.0.12/32
  homes_of_their_own
  printf '%s\n' n2 >far
  run -0 as_tester "$script" generate
  run -0 as_tester "$script" authorize --yes --hosts far --jump tester@n1 --identity cloud.pem
  [[ $output == *"n1: added a line"*"n2: added a line"* ]] || fail "$output"
  run -0 as_tester "$script" verify --hosts far --jump tester@n1
}

@test "--home: keys and known hosts of another folder" {
  as_tester mkdir other
  homes_of_their_own
  run -0 as_tester "$script" generate --home other
  run -0 as_tester "$script" authorize --yes --home other --identity cloud.pem --hosts hosts
  run -0 as_tester "$script" check --home other --hosts hosts
  [[ $(line n2) == *" yes "*" yes "* ]] || fail "$output"
  run as_tester "$script" check --hosts hosts
  [[ $status == 1 ]] || fail "$output"
  as_tester test ! -e "$home/.ssh/known_hosts"
  as_tester test ! -e "$home/.ssh/id_ed25519"
}

@test "one host that is down and one whose sshd hangs: reported in time, the others go on" {
  run -0 as_tester "$script" generate
  run -0 as_tester "$script" authorize --yes --hosts hosts
  "$CLUSTER" on n2 sh -c 'kill -STOP $(cat /run/sshd.pid)'
  printf '%s\n' n9 10.77.0.99 >>hosts
  started=$SECONDS
  run as_tester "$script" verify --hosts hosts --timeout 3
  ((SECONDS - started < 40)) || fail "took $((SECONDS - started)) s"
  [[ $status == 1 && $(line n2) == *" no "*"no answer in 3 s"* ]] || fail "$output"
  [[ $(line n9) == *"does not resolve"* && $(line 10.77.0.99) == *" no "* ]] || fail "$output"
  [[ $(line n0) == *" 1/1 "* && $(line n1) == *" 1/1 "* ]] || fail "$output"
}

@test "a host that was reinstalled is refused, and its key not replaced" {
  run -0 as_tester "$script" generate
  run -0 as_tester "$script" authorize --yes --hosts hosts
  ssh-keygen -q -t ed25519 -N '' -f other
  awk -v key="$(cut -d ' ' -f 1,2 other.pub)" '$1 == "n1" { print "n1", key; next } { print }' "$home/.ssh/known_hosts" >known
  cat known >"$home/.ssh/known_hosts"
  run as_tester "$script" authorize --yes --hosts hosts
  [[ $status == 1 && $(line n1) == *"host key changed"* ]] || fail "$output"
  cmp known "$home/.ssh/known_hosts"
}
