#!/usr/bin/env bats
# .ci/nightly in a skeleton of the repository: every step runs, and none hides a failure.

setup() {
  repository=$BATS_TEST_TMPDIR/repository
  mkdir -p "$repository/.ci" "$repository/setup/lib" "$repository/tests/cluster"
  cp "$BATS_TEST_DIRNAME/../../.ci/nightly" "$repository/.ci"
  printf '#!/bin/bash\necho "matrix $*"; exit "${FAKE_MATRIX-0}"\n' >"$repository/tests/cluster/matrix"
  printf '#!/bin/bash\necho "fuzz $*"; exit "${FAKE_FUZZ-0}"\n' >"$repository/.ci/fuzz"
  printf '#!/bin/bash\necho "repeat $*"\n' >"$repository/tests/repeat"
  printf '#!/bin/bash\necho toy\n' >"$repository/tests/add-launcher"
  printf '#!/bin/bash\necho "mutants $*"\n' >"$repository/tests/mutants"
  printf '#!/bin/bash\necho secrets\n' >"$repository/tests/measure-secrets"
  printf '# versions\n2.11.0 torch\n2.11.0 nvidia\n2.15.0 torch\n' >"$repository/setup/lib/libtorch.lock"
  printf '#!/bin/bash\necho "trainer with $*"\n' >"$repository/.ci/libtorch-2x"
  chmod +x "$repository"/.ci/{libtorch-2x,fuzz}
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/bash\necho "cmake $*"\n' >"$BATS_TEST_TMPDIR/bin/cmake"
  chmod +x "$repository"/tests/{cluster/matrix,repeat,add-launcher,mutants,measure-secrets} \
    "$BATS_TEST_TMPDIR/bin/cmake"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "every step has its name, its time and its result" {
  run "$repository/.ci/nightly" --quick --repeat
  [ "$status" -eq 0 ]
  [[ $output == *"matrix --table build/matrix.txt"*"mutants --count 10"*"fuzz --seconds 10"*"repeat --jobs $((3 * $(nproc)))"* ]]
  [[ ${lines[-11]} == "### cmake --workflow --preset asan: passed in "*" s" ]]
  [[ ${lines[-10]} == "### cmake --workflow --preset tsan: passed in "*" s" ]]
  [[ ${lines[-9]} == "### cmake --workflow --preset tidy: passed in "*" s" ]]
  [[ ${lines[-8]} == "### LibTorch 2.11.0: passed in "* && ${lines[-7]} == "### LibTorch 2.15.0: passed in "* ]]
  [[ ${lines[-6]} == "### tests/cluster/matrix: passed in "*" s" ]]
  [[ ${lines[-5]} == "### tests/add-launcher: passed in "*" s" ]]
  [[ ${lines[-4]} == "### tests/measure-secrets: passed in "*" s" ]]
  [[ ${lines[-3]} == "### tests/mutants: passed in "*" s" ]]
  [[ ${lines[-2]} == "### fuzz: passed in "* && ${lines[-1]} == "### tests/repeat: passed in "* ]]
}

@test "a failed step fails it at the end, a skipped one does not" {
  FAKE_MATRIX=1 run "$repository/.ci/nightly"
  [ "$status" -eq 1 ]
  [[ $output == *"mutants --count 300"*"fuzz --seconds 120"* ]]
  [[ ${lines[-5]} == "### tests/cluster/matrix: FAILED (exit code 1) in "* && ${lines[-1]} == *"fuzz: passed"* ]]
  FAKE_MATRIX=77 FAKE_FUZZ=1 run "$repository/.ci/nightly"
  [[ ${lines[-5]} == *"matrix: skipped: see above in "* ]]
  [[ ${lines[-1]} == "### fuzz: FAILED (exit code 1) in "* ]]
  [ "$status" -eq 1 ]
}

@test "--long fuzzes for long" {
  run "$repository/.ci/nightly" --long
  [ "$status" -eq 0 ]
  [[ $output == *"fuzz --long"* ]]
}

@test "wrong options are told" {
  run "$repository/.ci/nightly" --other
  [ "$status" -eq 2 ]
  [[ $output == *--quick* ]]
}
