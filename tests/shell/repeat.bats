#!/usr/bin/env bats
# tests/repeat with a small build folder: what it counts, what it keeps, and that its load ends with it.
# shellcheck disable=SC2154 # run sets stderr

bats_require_minimum_version 1.5.0
load ../support/background

setup() {
  repeat=$BATS_TEST_DIRNAME/../repeat
  command -v ctest >/dev/null || skip "no ctest on this machine"
  cd "$BATS_TEST_TMPDIR" || return 1
  export TMPDIR=$BATS_TEST_TMPDIR
  mkdir build
  cat >thirds <<'SH'
#!/bin/bash
echo run >>"$1"
echo "this is run $(wc -l <"$1")"
[ $(($(wc -l <"$1") % 3)) -ne 0 ]
SH
  printf '#!/bin/bash\nprintf "1..2\\nok 1 one # skip nothing here\\n%%s\\n" "$1"\n' >partly
  # One of its processes loses its parent.
  printf '#!/bin/bash\nsleep 50 & echo $! >pids; (sleep 50 & echo $! >>pids); touch runs; wait\n' >long
  chmod +x thirds partly long
  {
    test_of passes timing true
    test_of thirds unit.timing "$PWD/thirds" "$PWD/count"
    test_of absent timing sh -c 'exit 77'
    test_of other unit "$PWD/thirds" "$PWD/count"
    test_of partly bats "$PWD/partly" 'ok 2 two'
    test_of nothing bats "$PWD/partly" 'ok 2 two # skip'
    test_of long slow "$PWD/long"
    test_of prepares - sh -c 'echo prepared >>count'
    test_of prepared fixture sh -c 'echo run >>count'
    echo 'set_tests_properties(prepares PROPERTIES FIXTURES_SETUP f)'
    echo 'set_tests_properties(prepared PROPERTIES FIXTURES_REQUIRED f)'
  } >build/CTestTestfile.cmake
}

teardown() { end_jobs; }

# test_of NAME LABEL COMMAND…: prints a test for ctest's file.
test_of() {
  printf 'add_test(%s' "$1"
  printf ' [=[%s]=]' "${@:3}"
  printf ')\nset_tests_properties(%s PROPERTIES LABELS %s SKIP_RETURN_CODE 77)\n' "$1" "$2"
}

# no_load_of PID: true if no busy loop is left of a run whose PID this was.
no_load_of() { ! pgrep -f "hpcboot-repeat-load $1\$" >/dev/null; }

# Ctrl-C for $job: it says so last, and ends the test `long` with all its processes.
interrupt() {
  local pids pid
  mapfile -t pids <build/pids
  kill -INT "$job"
  code=0
  wait "$job" || code=$?
  cat out
  [ "$code" -eq 130 ] || return
  [ "$(tail -n 1 out)" = "ended by signal INT" ] || return
  for pid in "${pids[@]}"; do [ ! -e "/proc/$pid" ] || return; done
}

@test "a line for each test with runs, failures and skips; the outputs of failures are kept; exit code 1" {
  run -1 "$repeat" --build build --times 7 --no-load
  echo "$output"
  [[ ${lines[0]} == "3 test(s), 7 runs each" ]]
  [[ ${lines[1]} =~ ^test\ +runs\ +failures\ +skipped\ +slowest$ ]]
  [[ ${lines[2]} =~ ^passes\ +7\ +0\ +0\ +[0-9.]+$ ]]
  [[ ${lines[3]} =~ ^thirds\ +7\ +2\ +0\ +[0-9.]+$ ]]
  [[ ${lines[4]} =~ ^absent\ +7\ +0\ +7\ +[0-9.]+$ ]]
  [[ ${lines[5]} == "the output of the failures is in $PWD/build/Testing/repeat."* ]]
  folder=${lines[5]##* }
  [ "$(ls "$folder")" = $'thirds.3\nthirds.6' ]
  grep -q 'this is run 6' "$folder/thirds.6"
}

@test "without a failure the exit code is 0, and no folder is left" {
  run -0 "$repeat" --build build --times 2 --no-load -R 'passes|thirds'
  [ "${#lines[@]}" -eq 4 ]
  run ! compgen -G 'build/Testing/repeat.*'
}

@test "-R and -L choose, --list names, and by default those with the label timing" {
  run -0 "$repeat" --build build --list
  [ "$output" = $'passes\nthirds\nabsent' ]
  run -0 "$repeat" --build build --list -R '^o'
  [ "$output" = other ]
  run -0 "$repeat" --build build --list -L unit -R thirds
  [ "$output" = thirds ]
  run -0 "$repeat" --build build --list -L unit
  [ "$output" = $'thirds\nother' ]
}

@test "what prepares something for a test runs once, before its first run" {
  run -0 "$repeat" --build build --times 3 --no-load -L fixture
  echo "$output"
  [[ ${lines[2]} =~ ^prepared\ +3\ +0\ +0\  ]]
  [ "${#lines[@]}" -eq 3 ]
  [ "$(cat build/count)" = $'prepared\nrun\nrun\nrun' ]
}

@test "tests of a .bats file that are skipped: all of them are a skip, some are told" {
  run -0 "$repeat" --build build --times 2 --no-load -L bats
  echo "$output"
  [[ ${lines[2]} =~ ^partly\ +2\ +0\ +0\  ]]
  [[ ${lines[3]} =~ ^nothing\ +2\ +0\ +2\  ]]
  [ "${lines[4]}" = "partly: 1 of its 2 tests are skipped here" ]
}

@test "--jobs: several at a time, each until it fails or is skipped; the output is kept if one failed" {
  run -1 "$repeat" --build build --times 4 --jobs 2
  echo "$output"
  [[ ${lines[0]} == "3 test(s), 4 runs each, 2 at a time" ]]
  grep -Eq '^passes +4 +0 +0 +[0-9.]+$' <<<"$output"
  grep -Eq '^thirds +3 +1 +0 +[0-9.]+$' <<<"$output"
  grep -Eq '^absent +1 +0 +1 +[0-9.]+$' <<<"$output"
  [[ ${lines[5]} == "the output of the failures is in $PWD/build/Testing/repeat."* ]]
  grep -q 'this is run 3' "${lines[5]##* }/ctest.log"
  run -0 "$repeat" --build build --times 2 --jobs 3 -L 'bats|fixture'
  echo "$output"
  grep -Eq '^partly +2 +0 +0 ' <<<"$output"
  grep -Eq '^nothing +1 +0 +1 ' <<<"$output"
  grep -Eq '^prepared +2 +0 +0 ' <<<"$output"
  [ "${lines[-1]}" = "partly: 1 of its 2 tests are skipped here" ]
  [ "$(cat build/count)" = $'prepared\nrun\nrun' ]
}

@test "--jobs: Ctrl-C ends the tests that were running, and what was counted is told" {
  env --default-signal=INT "$repeat" --build build --times 3 -L 'timing|slow' --jobs 4 >out 3>&- &
  job=$!
  await test -e build/runs
  await grep -q '^passes ' out
  interrupt
  grep -Eq '^passes +3 +0 ' out
}

@test "a command given by the user: its exit code counts, and it gets the programs of the build folder" {
  run -1 "$repeat" --build build --times 3 --no-load -- ./thirds count
  [[ ${lines[2]} =~ ^\./thirds\ count\ +3\ +1\ +0\  ]]
  folder=${lines[3]##* }
  [ "$(cat "$folder/._thirds_count.3")" = "this is run 3" ]
  rm -r "$folder"
  unset HPCBOOT_BIN_DIR
  # shellcheck disable=SC2016 # for the inner shell
  run -0 "$repeat" --build build --times 1 --no-load -- sh -c 'test "$HPCBOOT_BIN_DIR" = "$0"' "$PWD/build/bin"
}

@test "what a test starts ignores no signal" {
  ends='kill "-$0" $$; exit 0' # unless it is ignored
  for signal in INT PIPE; do
    test_of ended - bash -c "$ends" "$signal" >build/CTestTestfile.cmake
    for choice in "-- bash -c" "-R ended" "--jobs 1 -R ended"; do
      read -ra words <<<"$choice"
      [ "${words[0]}" != -- ] || words+=("$ends" "$signal")
      run -1 env --ignore-signal=PIPE "$repeat" --build build --times 1 --no-load "${words[@]}"
    done
  done
}

@test "a busy loop per core runs beside the tests, and is gone afterwards" {
  "$repeat" --build build --times 1 -L slow >out 3>&- &
  job=$!
  await test -e build/runs
  [ "$(pgrep -fc "hpcboot-repeat-load $job\$")" -eq "$(nproc)" ]
  run ! no_load_of "$job"
  kill -TERM "$job"
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 130 ]
  no_load_of "$job"
  # A run that ends normally.
  "$repeat" --build build --times 1 -R passes >out 3>&- &
  job=$!
  wait "$job"
  no_load_of "$job"
  grep -q "beside $(nproc) busy loops" out
}

@test "Ctrl-C ends the test that was running, and what was counted is told" {
  # Otherwise a background job ignores that signal.
  env --default-signal=INT "$repeat" --build build --times 3 -L 'timing|slow' --no-load >out 3>&- &
  job=$!
  await test -e build/runs
  interrupt
  grep -Eq '^thirds +3 +1 ' out
  grep -q '^the output of the failures is in ' out
}

@test "busy loops end by themselves where tests/repeat is killed" {
  "$repeat" --build build --times 1 -L slow >out 3>&- &
  job=$!
  await test -e build/runs
  mapfile -t others < <(descendants "$job")
  kill -KILL "$job"
  await no_load_of "$job"
  kill -KILL "${others[@]}" 2>/dev/null || true
}

@test "usage" {
  run -0 "$repeat" --help
  [[ $output == "usage: tests/repeat"*"exit code: 0"*Examples* ]]
  for words in "--times 0" "--times x" "--build /nowhere" -R "--nonsense" "--build build -R none" "--build ." \
    "--build build --" "--build build -R x -- true" \
    "--jobs 0" "--build build --jobs 2 -- true"; do
    # shellcheck disable=SC2086 # words are words
    run -2 "$repeat" $words
    [[ $output == "repeat: "*"tests/repeat --help" ]]
  done
}
