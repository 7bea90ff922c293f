#!/usr/bin/env bats
# runtable diff: two recorded runs.

bats_require_minimum_version 1.5.0

setup() {
  load made_runs
  RUNTABLE=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/runtable
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  RUNS=$(realpath "$BATS_TEST_DIRNAME/../golden/runtable/runs")
  export RUNS
  cd "$BATS_TEST_TMPDIR" || return
  make_run slow single 1 10 "" '
run["totals"].update(start_up_seconds=1.0, train_seconds=8.0, validation_seconds=0.5, checkpoint_seconds=0.1, images_per_second=100.0)
run["epochs"] = [dict(epoch=1, steps=10, train_loss=1.0, validation_accuracy=0.5, data_wait_seconds=0.5, forward_seconds=2.0,
                      backward_seconds=4.5, communication_seconds=0.0, optimizer_seconds=0.5)]'
  make_run fast ddp 2 5 "" '
run["config"]["lr"] = 0.5
run["totals"].update(start_up_seconds=1.0, train_seconds=3.0, validation_seconds=0.5, checkpoint_seconds=0.1, images_per_second=266.0)
run["epochs"] = [dict(epoch=1, steps=10, train_loss=0.25, validation_accuracy=0.75, data_wait_seconds=0.1, forward_seconds=1.0,
                      backward_seconds=1.5, communication_seconds=0.2, optimizer_seconds=0.2)]'
}

# has PATTERN: a line of the output.
has() { grep -E -- "$1" <<<"$output" || { echo "no: $1" && echo "$output" && return 1; }; }

@test "settings that differ, every phase, and what made the difference" {
  run -0 "$RUNTABLE" diff made/slow made/fast/run.json
  has '^A  slow, single 1x1$'
  has '^B  fast, DDP 1x2$'
  has '^lr +0.0001 +0.5$'
  run ! grep -E '^(model|epochs|seed) ' <<<"$output"
  run -0 "$RUNTABLE" diff made/slow made/fast
  has '^runtime +10.000 +5.000 +-5.000 +0.50$'
  has '^    backward +4.500 +1.500 +-3.000 +0.33$'
  has '^    exposed communication +0.000 +0.200 +\+0.200 +–$'
  has '^    other training +0.500 +0.000 '
  has '^  other +0.400 +0.400 '
  has '^images/s +100 +266 +\+166 +2.66$'
  has '^accuracy +0.5 +0.75 '
  has '^B is 2 times as fast as A, by 5 s; most of it is backward, which takes 3 s less.$'
  [ "$(wc -L <<<"$output")" -le 80 ]
}

@test "the other way round, equal runs, and different work" {
  run -0 "$RUNTABLE" diff made/fast made/slow
  has '^A is 2 times as fast as B, by 5 s; most of it is backward, which takes 3 s less.$'
  run -0 "$RUNTABLE" diff made/slow made/slow
  has '^The settings are equal.$'
  has '^A and B took about the same time.$'
  make_run other single 1 20 "" 'run["config"]["epochs"] = 9'
  run -0 "$RUNTABLE" diff made/slow made/other
  has '^A and B did different work: compare images/s, not times.$'
}

@test "what a run does not record is not blamed" {
  make_run partly single 1 20 "" 'run["totals"].update(start_up_seconds=1.0, train_seconds=18.0, validation_seconds=0.5, checkpoint_seconds=0.1)
run["epochs"] = [dict(epoch=1, steps=10)]'
  run -0 "$RUNTABLE" diff made/slow made/partly
  has '^A is 2 times as fast as B, by 10 s; most of it is training, which takes 10 s$'
  make_run without single 1 20 "" 'run["totals"].update(start_up_seconds=1.0)'
  run -0 "$RUNTABLE" diff made/slow made/without
  run ! grep '^  other .*[0-9]$' <<<"$output"
  has_verdict=$("$RUNTABLE" diff made/slow made/without | tail -n 1)
  [ "$has_verdict" = "A is 2 times as fast as B, by 10 s." ]
  make_run none single 1 0
  run -0 "$RUNTABLE" diff made/slow made/none
  has '^At least one of the runs has no runtime to compare.$'
}

@test "hostile figures stay figures" {
  make_run huge single 1 10 "" '
run["epochs"] = [dict(epoch=e, steps=2**40, train_loss=1e38, validation_accuracy=0.5) for e in range(1, 1200)]
run["totals"]["images_per_second"] = 1e-300'
  run -0 "$RUNTABLE" diff made/slow made/huge
  [ "$(wc -L <<<"$output")" -le 80 ]
  has '^steps +10 +1.318e.15 '
  run -0 "$RUNTABLE" diff made/huge made/slow
  run ! grep -E 'inf|-[0-9]{10}' <<<"$output"
}

@test "as JSON, for programs" {
  "$RUNTABLE" diff --format json made/slow made/fast >diff.json
  python3 - <<'TEXT'
import json
diff = json.load(open("diff.json"))
assert diff["settings"]["lr"] == {"a": "0.0001", "b": "0.5"}, diff
assert diff["phases"]["training/backward"] == {"a": 4.5, "b": 1.5}, diff
assert diff["phases"]["runtime"] == {"a": 10.0, "b": 5.0} and diff["results"]["accuracy"]["b"] == 0.75, diff
assert diff["phases"]["launch"] == {"a": None, "b": None} and diff["verdict"].startswith("B is 2 times"), diff
TEXT
}

@test "long and hostile settings stay within the lines of a terminal" {
  command -v script >/dev/null || skip "no script(1) on this machine"
  make_run long single 1 10 "" 'run["config"]["data"] = "/scratch/" + "folder/" * 30 + "\x1b[31m\nforged"'
  script -qec "stty cols 80; $RUNTABLE diff made/slow made/long" /dev/null >shown
  run -1 grep -q $'\e\\[31m' shown
  run -1 grep -q '^forged' shown
  tr -d '\r' <shown | sed 's/\x1b\[[0-9;]*m//g' >plain
  grep -A2 '^data$' plain | grep -q '^  A *–$'
}

@test "one run, none, or a damaged one" {
  run -2 "$RUNTABLE" diff made/slow
  run -2 "$RUNTABLE" diff made/slow made/fast made/slow
  run -27 "$RUNTABLE" diff made/slow nowhere
  mkdir damaged && echo '{' >damaged/run.json
  run ! "$RUNTABLE" diff made/slow damaged
  [[ $output == *"damaged/run.json"* ]]
  run -1 bash -c '"$1" diff made/slow made/fast >/dev/full' bash "$RUNTABLE"
}
