#!/usr/bin/env bats
# .ci/fuzz in a skeleton of the repository, with programs that look like fuzzers.

load ../support/background

setup() {
  repository=$BATS_TEST_TMPDIR/repository
  fuzz=$repository/build-asan/fuzz
  mkdir -p "$repository/.ci" "$repository/tests/fuzz" "$fuzz"/corpus/{one,two}
  cp "$BATS_TEST_DIRNAME/../../.ci/fuzz" "$repository/.ci"
  # Each has as many runs as it may, at most 4 million, and says with which arguments it was started.
  for name in one two; do
    cat >"$fuzz/$name" <<'SH'
#!/bin/sh
echo "$*" >>"${0##*/}.started"
runs=4000000
for word; do case $word in -runs=*) [ "${word#*=}" -gt "$runs" ] || runs=${word#*=} ;; esac; done
if [ -n "$FAKE_STOPS" ]; then
  trap 'echo "stat::number_of_executed_units: 5"; exit 0' USR1
  echo $$ >pid
  while :; do sleep 0.1; done
fi
[ -z "$FAKE_SLEEP" ] || { echo $$ >pid; exec sleep 100; }
[ "${0##*/}" != "$FAKE_FINDING" ] || { echo "a crash"; exit 77; }
echo "stat::number_of_executed_units: $runs"
SH
    chmod +x "$fuzz/$name"
  done
}

teardown() { end_jobs; }

@test "every fuzzer runs for its time, from its seeds, and the runs are added up" {
  touch "$repository/tests/fuzz/two.dict"
  "$repository/.ci/fuzz" --seconds 9
  run "$repository/.ci/fuzz" --seconds 9
  [ "$status" -eq 0 ]
  [[ $output == *$'\n'"one "*" 8000000 "*$'\n'"two "*" 8000000 "* ]]
  [ "$(wc -l <"$fuzz/one.started")" -eq 2 ]
  [[ $(cat "$fuzz/one.started") == *"-max_total_time=9 "*" corpus/one ../../tests/fuzz/corpus/one"* ]]
  [[ $(cat "$fuzz/one.started") != *-runs=* && $(cat "$fuzz/one.started") != *-dict=* ]]
  [[ $(cat "$fuzz/two.started") == *" -dict=../../tests/fuzz/two.dict "* ]]
}

@test "--long goes on to ten million runs or two hours" {
  mkdir "$fuzz/totals"
  echo "100 7200" >"$fuzz/totals/two"
  run "$repository/.ci/fuzz" --long
  [ "$status" -eq 0 ]
  [[ ${lines[1]} == "one "*" 10000000 "* && ${lines[2]} == "two "*" 100 "*" 7200" ]]
  [ "$(grep -o -e '-runs=[0-9]*' "$fuzz/one.started")" = $'-runs=10000000\n-runs=6000000\n-runs=2000000' ]
  [ ! -e "$fuzz/two.started" ]
}

@test "a finding fails it, and stops no other fuzzer" {
  FAKE_FINDING=one run "$repository/.ci/fuzz" --long
  [ "$status" -eq 1 ]
  [[ $output == *"a crash"* ]]
  [[ ${lines[-2]} == "one "*"a finding, see above" && ${lines[-1]} == "two "*" 10000000 "* ]]
}

@test "fuzzers end with it" {
  FAKE_SLEEP=1 "$repository/.ci/fuzz" one >/dev/null 2>&1 3>&- &
  job=$!
  await test -s "$fuzz/pid"
  pid=$(cat "$fuzz/pid")
  kill "$job"
  status=0
  wait "$job" || status=$?
  [ "$status" -eq 130 ]
  gone() { ! kill -0 "$pid" 2>/dev/null; }
  await gone
}

@test "runs until it was interrupted are counted" {
  FAKE_STOPS=1 "$repository/.ci/fuzz" --long one >/dev/null 2>&1 3>&- &
  job=$!
  await test -s "$fuzz/pid"
  kill "$job"
  wait "$job" || true
  [[ $(cat "$fuzz/totals/one") == "5 "* ]]
}

@test "wrong calls are told" {
  run "$repository/.ci/fuzz" three
  [ "$status" -eq 2 ]
  [[ $output == "fuzz: no fuzzer 'three'; there are: one two" ]]
  run "$repository/.ci/fuzz" --seconds soon
  [ "$status" -eq 2 ]
  run "$repository/.ci/fuzz" --other
  [ "$status" -eq 2 ]
  [[ $output == *--long* ]]
  rm -r "$repository/build-asan"
  run "$repository/.ci/fuzz"
  [ "$status" -eq 77 ]
  [[ $output == *"cmake --workflow --preset fuzz creates it" ]]
}
