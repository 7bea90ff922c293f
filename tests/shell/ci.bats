#!/usr/bin/env bats
# .ci/run in a skeleton of the repository: it summarises its stages, and none hides a failure.

setup() {
  repository=$BATS_TEST_TMPDIR/repository
  mkdir -p "$repository/.ci" "$repository/setup" "$BATS_TEST_TMPDIR/bin"
  cp "$BATS_TEST_DIRNAME/../../.ci/run" "$repository/.ci/run"
  printf 'mkdir -p build/Testing/Temporary; printf "%%s" "${FAKE_FAILED_TESTS-}" >build/Testing/Temporary/LastTestsFailed.log\n' \
    >"$repository/setup/test.sh"
  printf 'echo "100%% tests passed, 0 tests failed out of 12"; exit "${FAKE_TEST_CODE-0}"\n' \
    >>"$repository/setup/test.sh"
  printf '#!/bin/bash\necho "ctest $*"; exit "${FAKE_SECOND_TRY-1}"\n' >"$BATS_TEST_TMPDIR/bin/ctest"
  printf 'exit "${FAKE_INSTALL_CODE-0}"\n' >"$repository/setup/install.sh"
  printf '#!/bin/bash\necho "98%% tests passed, 1 tests failed out of 50"; [ "$3" != "${FAKE_FAILED_PRESET-}" ]\n' \
    >"$BATS_TEST_TMPDIR/bin/cmake"
  printf '#!/bin/bash\necho "99%% tests passed, 0 tests failed out of 7 with $1"; exit "${FAKE_2X_CODE-0}"\n' \
    >"$repository/.ci/libtorch-2x"
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
  unset CCACHE_DIR # that of a run that these tests are part of
  chmod +x "$repository/.ci/libtorch-2x" "$BATS_TEST_TMPDIR/bin/cmake" "$BATS_TEST_TMPDIR/bin/ctest"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "passes where all stages pass, and ends with their counts" {
  run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ ${lines[-4]} == "### bash setup/install.sh --for all: passed in "* ]]
  [[ ${lines[-3]} == "### bash setup/test.sh: passed in "*"out of 12" ]]
  [[ ${lines[-2]} == "### cmake --workflow --preset fuzz: passed in "*"out of 50" ]]
}

@test "LibTorch 2.x: from the cache or .deps/, and a line that says so where it is not there" {
  run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ ${lines[-1]} == "### LibTorch 2.x: skipped: there is none in .deps/ or $XDG_CACHE_HOME/hpcboot; .ci/run --libtorch "* ]]
  mkdir -p "$XDG_CACHE_HOME/hpcboot/libtorch-2.9.1-cuda/torch" "$XDG_CACHE_HOME/hpcboot/libtorch-2.11.0-cuda/torch"
  run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ ${lines[-1]} == *"passed in "*"out of 7 with $XDG_CACHE_HOME/hpcboot/libtorch-2.11.0-cuda/torch" ]]
  mkdir -p "$repository/.deps/libtorch-2.7.1-cpu/torch"
  FAKE_2X_CODE=8 run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ ${lines[-1]} == "### LibTorch 2.x "*"FAILED (exit code 8)"*"/.deps/libtorch-2.7.1-cpu/torch" ]]
}

@test "a LibTorch that is asked for is a stage of its own, which fails if it cannot be downloaded" {
  run "$repository/.ci/run" --libtorch 2.11.0 --libtorch 2.15.0
  [ "$status" -eq 0 ]
  [[ ${lines[-2]} == "### LibTorch 2.11.0: passed in "*"out of 7 with 2.11.0" ]]
  [[ ${lines[-1]} == "### LibTorch 2.15.0: passed in "*"out of 7 with 2.15.0" ]]
  FAKE_2X_CODE=1 run "$repository/.ci/run" --libtorch 2.15.0
  [ "$status" -ne 0 ]
  [[ ${lines[-1]} == "### LibTorch 2.15.0: FAILED (exit code 1)"* ]]
  for wrong in --libtorch --other; do
    run "$repository/.ci/run" "$wrong"
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "Usage: .ci/run [--libtorch VERSION]..."* ]]
  done
}

@test "fails where the first stage fails, and runs the others all the same" {
  FAKE_TEST_CODE=8 run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ ${lines[-3]} == *"FAILED (exit code 8)"* ]]
  [[ ${lines[-2]} == *"passed in"* ]]
}

@test "fails where a later stage fails" {
  FAKE_FAILED_PRESET=fuzz run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ ${lines[-2]} == *"FAILED (exit code 1)"* ]]
  FAKE_INSTALL_CODE=1 run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ ${lines[-4]} == *"FAILED (exit code 1)"* ]]
}

@test "up to three failed tests run once more, and what passes only then is named" {
  FAKE_TEST_CODE=8 FAKE_FAILED_TESTS=$'7:cluster.tool\n9:shell.exec\n' FAKE_SECOND_TRY=0 run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ $output == *"ctest --test-dir build --rerun-failed"* ]]
  [[ $output == *"test.sh: passed, but only at the second try: cluster.tool shell.exec; in "*"out of 12"* ]]
  # Each run is counted, so that the rate is known.
  run "$repository/.ci/run"
  FAKE_TEST_CODE=8 FAKE_FAILED_TESTS=$'9:shell.exec\n' FAKE_SECOND_TRY=0 run "$repository/.ci/run"
  [ "$(wc -l <"$XDG_CACHE_HOME/hpcboot/second-tries")" = 3 ]
  [[ ${lines[-2]} == "### second tries: cluster.tool in 1 of 3 runs ($XDG_CACHE_HOME/hpcboot/second-tries)" ]]
  [[ ${lines[-1]} == "### second tries: shell.exec in 2 of 3 runs ($XDG_CACHE_HOME/hpcboot/second-tries)" ]]
}

@test "what earlier runs compiled is not compiled again, in whatever folder the checkout is" {
  cat >"$BATS_TEST_TMPDIR/bin/ccache" <<'TEXT'
#!/bin/bash
case $1 in
  --zero-stats) : >zeroed ;;
  --print-stats) printf 'direct_cache_hit\t70\npreprocessed_cache_hit\t2\ncache_miss\t8\ndirect_cache_miss\t10\n' ;;
esac
TEXT
  chmod +x "$BATS_TEST_TMPDIR/bin/ccache"
  sed -i '1i env | grep -E "^(CCACHE|CMAKE)_" | sort' "$repository/setup/test.sh"
  run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ $output == *"CCACHE_BASEDIR=$repository"*"CCACHE_DIR=$XDG_CACHE_HOME/hpcboot/ccache"*"CMAKE_CXX_COMPILER_LAUNCHER=ccache"* ]]
  [ -e "$repository/zeroed" ]
  [[ $output == *"### compiler cache: 72 of 80 files were in $XDG_CACHE_HOME/hpcboot/ccache"* ]]
}

@test "without ccache everything is compiled, and the summary says so" {
  local tool
  for tool in bash sh awk basename cat cut date dirname git grep head mkdir mktemp nice paste renice rm sed sort tail tee tr wc; do
    ln -sf "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin/$tool"
  done
  PATH=$BATS_TEST_TMPDIR/bin run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ $output == *"### compiler cache: none: ccache is not installed"* ]]
}

@test "what later stages build is built beside the tests" {
  cat >"$repository/setup/test.sh" <<'TEXT'
    for ((i = 0; i < 600; ++i)); do
      if [ "$(wc -l <built)" = 4 ]; then break; fi
      sleep 0.1
    done 2>/dev/null
    cat built
    exit 0
TEXT
  # shellcheck disable=SC2016 # for the inner shell
  printf '#!/bin/bash\necho "$*" >>built; nice >>built\n' >"$BATS_TEST_TMPDIR/bin/cmake"
  run "$repository/.ci/run"
  [ "$status" -eq 0 ]
  [[ $output == *$'### bash setup/test.sh\n--preset asan\n19\n--build --preset fuzz\n19\n'* ]]
}

@test "a test that fails twice is a failure, and so are four, and a build that fails after an earlier run's failures" {
  FAKE_TEST_CODE=8 FAKE_FAILED_TESTS=$'7:cluster.tool\n' run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ $output == *--rerun-failed* && ${lines[-3]} == *"FAILED (exit code 8)"* ]]
  FAKE_TEST_CODE=8 FAKE_FAILED_TESTS=$'1:a\n2:b\n3:c\n4:d\n' FAKE_SECOND_TRY=0 run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ $output != *--rerun-failed* ]]
  mkdir -p "$repository/build-asan/Testing/Temporary"
  echo 1:old >"$repository/build-asan/Testing/Temporary/LastTestsFailed.log"
  FAKE_FAILED_PRESET=fuzz FAKE_SECOND_TRY=0 run "$repository/.ci/run"
  [ "$status" -ne 0 ]
  [[ $output != *--rerun-failed* ]]
}
