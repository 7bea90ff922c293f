#!/usr/bin/env bats
# setup/install.sh against fake dpkg and apt commands: nothing on this machine is queried or changed.

setup() {
  script=$BATS_TEST_DIRNAME/../../setup/install.sh
  fake=$BATS_TEST_TMPDIR/bin
  calls=$BATS_TEST_TMPDIR/calls     # what the script ran that would change the machine
  state=$BATS_TEST_TMPDIR/installed # "name version" lines
  mkdir "$fake"
  touch "$calls" "$state"
  export calls state BATS_TEST_TMPDIR TMPDIR=$BATS_TEST_TMPDIR

  fake_command dpkg-query <<'EOF'
while read -r name version; do echo "$name installed $version"; done <"$state"
EOF
  fake_command dpkg <<'EOF'
first=$(printf '%s\n' "$2" "$4" | sort -V | head -n 1) # dpkg --compare-versions $2 lt|ge $4
if [ "$2" != "$4" ] && [ "$first" = "$2" ]; then [ "$3" = lt ]; else [ "$3" = ge ]; fi
EOF
  fake_command apt-cache <<'EOF'
if grep -qx "$2" "$BATS_TEST_TMPDIR/unoffered" 2>/dev/null; then candidate='(none)'; fi
echo "  Candidate: ${candidate-99.0}"
EOF
  fake_command apt-get <<'EOF'
echo "apt-get $*" >>"$calls"
for word in "$@"; do
  case $word in -* | *=* | update | install) ;; *) echo "$word 99.0" >>"$state" ;; esac
done
EOF
  fake_command systemctl <<'EOF'
echo "systemctl $*" >>"$calls"
EOF
  fake_command id <<<'echo 1000'
  fake_command sudo <<'EOF'
if [ "$1" = -n ]; then shift; fi
case $1 in true) ;; install | rm) echo "$*" >>"$calls" ;; *) "$@" ;; esac
EOF
  PATH=$fake:$PATH
}

# fake_command NAME: creates a command of that name, whose body is read from standard input.
fake_command() {
  { echo '#!/bin/bash'; cat; } >"$fake/$1"
  chmod +x "$fake/$1"
}

never_ran() {
  if grep -e "$1" "$calls"; then return 1; fi
}

@test "installs what is missing, once" {
  run bash "$script" --for run
  [ "$status" -eq 0 ]
  grep -q '^apt-get -q update$' "$calls"
  grep -q '^apt-get .*--no-install-recommends --no-remove install g++ cmake .* libtorch-dev' "$calls"
  : >"$calls"
  run bash "$script" --for run
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ ${lines[0]} == *"nothing is missing"* ]]
  [ ! -s "$calls" ]
}

@test "asks apt for the missing package only" {
  bash "$script" --for run
  : >"$calls"
  sed -i '/^libfmt-dev /d' "$state"
  run bash "$script"
  [ "$status" -eq 0 ]
  grep -q 'install libfmt-dev$' "$calls"
}

@test "a version that is too old counts as missing" {
  bash "$script" --for run
  sed -i 's/^cmake .*/cmake 3.18.4-2/' "$state"
  run bash "$script" --dry-run
  [[ ${lines[-1]} == *"install --no-install-recommends cmake" ]]
}

@test "--dry-run changes nothing" {
  run bash "$script" --for all --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"sudo -n apt-get update"* ]]
  [[ $output == *"clang-tidy"* ]]
  [ ! -s "$calls" ]
}

@test "without root and sudo: the administrator's command, the recipe, exit code 1" {
  fake_command sudo <<<'exit 1'
  run bash "$script" --for run
  [ "$status" -eq 1 ]
  [[ $output == *"sudo apt-get update && sudo apt-get install --no-install-recommends g++ cmake"* ]]
  [[ $output == *"CMAKE_PREFIX_PATH"* ]]
  [ ! -s "$calls" ]
}

# A sudo that asks for a password first, and says whom it lets in by its exit code.
sudo_that_asks() {
  fake_command sudo <<EOF
case \$1 in
  -n) exit 1 ;;
  -v) echo "sudo -v" >>"\$calls"; exit $1 ;;
  *) "\$@" ;;
esac
EOF
}

@test "sudo may ask for the password in a terminal, also if standard input is none, as in test.sh" {
  for input in '' '</dev/null'; do
    sudo_that_asks 0
    : >"$calls"
    : >"$state"
    run script -qec "bash '$script' --for run $input" /dev/null
    [ "$status" -eq 0 ]
    [ "$(head -n 2 "$calls")" = $'sudo -v\napt-get -q update' ]
    grep -q '^apt-get .* install g++ cmake ' "$calls"
  done
  sudo_that_asks 1
  : >"$calls"
  : >"$state"
  run script -qec "bash '$script' --for run" /dev/null
  [ "$status" -eq 1 ]
  [[ $output == *"this account cannot install them"* ]]
  [ "$(cat "$calls")" = "sudo -v" ]
}

@test "without a terminal, and in a dry run, sudo does not ask: the output says how to let it" {
  sudo_that_asks 0
  run bash "$script" --for run
  [ "$status" -eq 1 ]
  [[ $output == *"sudo would ask for a password: run sudo -v first"* ]]
  run script -qec "bash '$script' --for run --dry-run" /dev/null
  [ "$status" -eq 0 ]
  [[ $output == *"sudo would ask for a password: run sudo -v first"* ]]
  [ ! -s "$calls" ]
}

@test "the printed command has only packages that the release offers" {
  fake_command sudo <<<'exit 1'
  echo libmstch-dev >"$BATS_TEST_TMPDIR/unoffered"
  run bash "$script" --for run
  [ "$status" -eq 1 ]
  [[ $output == *"apt-get update && "*" libtomlplusplus-dev libprotozero-dev "* ]]
  [[ $output == *"not offered by this release in a suitable version: libmstch-dev"* ]]
  fake_command id <<<'echo 0'
  run bash "$script" --for run --dry-run
  [ "$status" -eq 0 ]
  [[ $output == *"    apt-get update && "*" libtomlplusplus-dev libprotozero-dev "* ]]
  # Before the first apt-get update nothing is offered.
  fake_command apt-cache <<<'exit 0'
  run bash "$script" --for run --dry-run
  [[ $output == *" libtomlplusplus-dev libmstch-dev "* && $output != *"not offered"* ]]
}

@test "without root where nothing is missing: exit code 0" {
  bash "$script" --for run
  fake_command sudo <<<'exit 1'
  run bash "$script" --for run
  [ "$status" -eq 0 ]
}

@test "services of the tests' packages are neither started nor enabled" {
  run bash "$script" --for test
  [ "$status" -eq 0 ]
  for service in ssh.service munge.service slurmctld.service slurmd.service; do
    grep -qx "systemctl --quiet disable $service" "$calls"
  done
  # An administrator's policy is kept; ours is removed.
  if [ -e /usr/sbin/policy-rc.d ]; then
    never_ran policy-rc.d
  else
    grep -qx 'install -m 755 /dev/stdin /usr/sbin/policy-rc.d' "$calls"
    [ "$(tail -n 1 "$calls")" = 'rm -f /usr/sbin/policy-rc.d' ]
  fi
}

@test "a service that was there before is left alone" {
  echo "openssh-server 1:9.2" >>"$state"
  run bash "$script" --for test
  [ "$status" -eq 0 ]
  never_ran ssh.service
}

@test "a package that the release does not offer is named; to run, it is needed" {
  echo slurm-client >"$BATS_TEST_TMPDIR/unoffered"
  run bash "$script" --for test
  [ "$status" -eq 0 ]
  [[ $output == *"not offered by this release in a suitable version: slurm-client"* ]]
  never_ran 'install.*slurm-client'

  sed -i '/^libtorch-dev /d' "$state"
  echo libtorch-dev >"$BATS_TEST_TMPDIR/unoffered"
  run bash "$script" --for run
  [ "$status" -eq 1 ]
  [[ $output == *"still missing to build and run: libtorch-dev"* ]]
}

@test "apt's failure is shown with its last lines" {
  fake_command apt-get <<<'echo "E: no network" >&2; exit 100'
  run bash "$script"
  [ "$status" -eq 1 ]
  [[ $output == *"E: no network"* ]]
  [[ $output == *"do: "* ]]
}

@test "another system gets upstream's names of all packages" {
  tools=$BATS_TEST_TMPDIR/tools
  mkdir "$tools"
  ln -s "$(command -v bash)" "$(command -v cat)" "$tools"
  PATH=$tools run bash "$script"
  echo "$output"
  [ "$status" -eq 1 ]
  local run_packages test_packages cluster_packages package names part
  local -A upstream_name
  eval "$(sed -n '/^declare -A upstream_name=(/,/^)/{s/^declare -A //;p}
    /^\(run\|test\|cluster\)_packages=(/,/^)/p' "$script")"
  [ "${#run_packages[@]}" -gt 25 ]
  for part in run test; do
    if [ $part = run ]; then
      set -- "${run_packages[@]}"
      names=$(sed -n '/^  to build and run:/,/^  to test/{/:$/d;p}' <<<"$output")
    else
      set -- "${test_packages[@]}" "${cluster_packages[@]}"
      names=$(sed -n '/^  to test/,/^[^ ]/{/:$/d;/^ /p}' <<<"$output")
    fi
    names=", $(paste -sd ' ' <<<"$names" | tr -s ' '), "
    names=${names/,  /, }
    for package in "$@"; do
      [[ $package != lib*-dev || -n ${upstream_name[$package]-} ]]
      [[ $names == *", ${upstream_name[$package]-$package}, "* ]]
    done
  done
  [[ $names != *OpenSSL* && $output == *OpenSSL*MUNGE*OpenBLAS* ]]
  run grep -E '.{81}' <<<"$(sed -n '/^  to/,/^[^ ]/{/^ /p}' <<<"$output")"
  [ "$status" -eq 1 ]
}

# What CMake names as the remedy for a missing library is what this script installs.
@test "the packages that CMake's summary names are installed" {
  bash "$script" --for run
  local package named
  named=$(grep -oE '[a-z0-9_-]+-dev' "$BATS_TEST_DIRNAME/../../cmake/HpcbootDependencies.cmake" |
    grep -vE 'libnccl|libgtest|libgmock|libbenchmark' | sort -u)
  [ "$(wc -l <<<"$named")" -gt 10 ]
  for package in $named; do
    echo "$package"
    grep -q "^$package " "$state"
  done
}

@test "usage" {
  run bash "$script" --help
  [ "$status" -eq 0 ]
  run bash "$script" --for nothing
  [ "$status" -eq 2 ]
  run bash "$script" --for
  [ "$status" -eq 2 ]
  run bash "$script" --nonsense
  [ "$status" -eq 2 ]
}
