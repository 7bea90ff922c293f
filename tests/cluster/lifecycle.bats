#!/usr/bin/env bats
# up, status, down: idempotent, and without leftovers, whatever happens in between.

load helper

setup() {
  export HPCBOOT_CLUSTER_DIR=$HPCBOOT_CLUSTER_DIR-$BATS_TEST_NUMBER
  "$CLUSTER" down
}

teardown() {
  end_jobs
  "$CLUSTER" down
}

# Everything on this machine that a cluster might change.
machine() {
  find /etc/hosts /etc/hostname /etc/passwd /etc/group /etc/shadow /etc/slurm /etc/munge /etc/ssh /root/.ssh \
    /var/log/munge /var/lib/munge /var/log/slurm /var/spool/slurmctld -type f -exec sha256sum {} + 2> /dev/null | sort
  hostname
  ip -o link | cut -d' ' -f2
  ip route
  ls /run/netns 2> /dev/null || true
  cut -d' ' -f1,2,3 /proc/self/mounts
}

# Fails if a process, or a mount namespace, still belongs to the cluster.
nothing_is_left() {
  local file left=()
  [[ ! -e $HPCBOOT_CLUSTER_DIR ]] || fail "$HPCBOOT_CLUSTER_DIR still exists"
  # The list is complete, and grep (which has the name on its own command line) has ended, before it is read.
  # shellcheck disable=SC2013 # such names have no blanks
  for file in $(grep -l --text -F "$HPCBOOT_CLUSTER_DIR" /proc/[0-9]*/{cmdline,mountinfo} 2> /dev/null); do
    [[ ! -e $file ]] || left+=("$file")
  done
  ((${#left[@]} == 0)) || fail "left over: ${left[*]}"
}

@test "up and down twice, status in between, and the machine is as before" {
  before=$(machine)
  run "$CLUSTER" status
  [[ $status -eq 3 && $output == down:* ]]
  "$CLUSTER" up -n 2
  run "$CLUSTER" up -n 2
  [[ $status -eq 0 && $output == "already up"* ]]
  run "$CLUSTER" status
  [[ $status -eq 0 && $output == *"n2 "*10.77.0.12* && $output == *idle* ]]
  [[ $(machine) == "$before" ]]
  "$CLUSTER" on n1 bash -c '! touch /etc/hosts.new'
  "$CLUSTER" down
  nothing_is_left
  "$CLUSTER" down
  [[ $(machine) == "$before" ]]
}

@test "up with other options than those that are up is refused" {
  "$CLUSTER" up -n 1
  run "$CLUSTER" up -n 2
  [[ $status -eq 1 && $output == *"first: cluster down"* ]]
}

@test "up killed at any moment: down leaves no process, no mount, no interface" {
  before=$(machine)
  for delay in 0.02 0.05 0.1 0.15 0.2 0.3; do
    "$CLUSTER" up -n 3 3>&- &
    sleep "$delay"
    kill -KILL $! || true # on a fast machine the cluster may be up by then, which is also tested
    wait $! || true
    "$CLUSTER" down
    nothing_is_left
  done
  [[ $(machine) == "$before" ]]
}

@test "up interrupted by a signal cleans up by itself" {
  # At its start, and as the hosts boot.
  for begun in '' /hosts; do
    "$CLUSTER" up -n 3 3>&- &
    await test -e "$HPCBOOT_CLUSTER_DIR$begun"
    kill -TERM $!
    ! wait $! || fail "an interrupted up must not succeed"
    nothing_is_left
  done
}

@test "the whole cluster ends with its machine room" {
  "$CLUSTER" up -n 1
  pid=$("$CLUSTER" status | awk '$1 == "n1" { print $3 }')
  room=$(awk '/^PPid:/ { print $2 }' "/proc/$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")/status")
  kill -KILL "$room"
  timeout 10 bash -c 'while [[ -e /proc/$0/ns/pid && -s /proc/$0/cmdline ]]; do sleep 0.05; done' "$pid"
  run "$CLUSTER" status
  [[ $status -eq 3 ]]
  "$CLUSTER" up -n 1
}

@test "a folder that is not a cluster's is not touched" {
  mkdir -p "$HPCBOOT_CLUSTER_DIR"
  echo precious > "$HPCBOOT_CLUSTER_DIR/file"
  run "$CLUSTER" down
  [[ $status -eq 1 && $output == *"nothing is removed"* ]]
  run "$CLUSTER" up
  [[ $status -eq 1 && $(< "$HPCBOOT_CLUSTER_DIR/file") == precious ]]
  rm -r "$HPCBOOT_CLUSTER_DIR"
}

@test "two clusters side by side, one with a decoy interface and loop-back names" {
  "$CLUSTER" up -n 2
  HPCBOOT_CLUSTER_DIR=$HPCBOOT_CLUSTER_DIR-b "$CLUSTER" up -n 2 --decoy-docker0 --loopback-name
  on_b() { HPCBOOT_CLUSTER_DIR=$HPCBOOT_CLUSTER_DIR-b "$CLUSTER" on "$@"; }
  [[ $(on_b n1 ip -o -4 addr show docker0) == *172.17.0.1/16* ]]
  [[ $(on_b n1 getent ahostsv4 n1) == 127.0.1.1* ]]
  [[ $(on_b n1 getent ahostsv4 n2) == 10.77.0.12* ]]
  [[ $(on_b n0 srun -N2 hostname | sort | tr '\n' ' ') == "n1 n2 " ]]
  [[ $("$CLUSTER" on n1 getent ahostsv4 n1) == 10.77.0.11* ]]
  run "$CLUSTER" on n1 ip link show docker0
  [[ $status -ne 0 ]]
  HPCBOOT_CLUSTER_DIR=$HPCBOOT_CLUSTER_DIR-b "$CLUSTER" down
  [[ $("$CLUSTER" on n0 srun -N2 hostname | sort | tr '\n' ' ') == "n1 n2 " ]]
}

@test "wrong usage is exit code 2, a host that is not up is 3, and both say what to do" {
  for words in "" "upp" "up -n" "up -n 65" "up -n 0" "up --bind /nowhere" "on" "as tester" "as nobody n0 true" "on h1 true"; do
    # shellcheck disable=SC2086 # words are words
    run "$CLUSTER" $words
    [[ $status -eq 2 ]] || fail "cluster $words: exit code $status"
  done
  run "$CLUSTER" on n1 true
  [[ $status -eq 3 && $output == *"cluster status"* ]]
  run "$CLUSTER" --help
  [[ $status -eq 0 && $output == *Examples* ]]
}

@test "check names the packages that are missing" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  for command in bash env dirname readlink realpath sort tr; do
    ln -s "$(command -v $command)" "$BATS_TEST_TMPDIR/bin/"
  done
  mount_free_path=$BATS_TEST_TMPDIR/bin
  run env PATH="$mount_free_path" bash "$CLUSTER" check
  [[ $status -eq 77 ]]
  [[ $output == *"apt-get install --no-install-recommends"*mpich*openmpi-bin*openssh-client* ]]
}
