#!/usr/bin/env bats
# trainer --monitor: what ranks, hosts and GPUs do while a run trains.
# shellcheck disable=SC2154 # $trainer and others are set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

# rows CODE: runs Python code that sees the rows of the run's monitor.csv as `rows`.
rows() {
  python3 - runs/*/monitor.csv <<TEXT
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
$1
TEXT
}

@test "every rank has rows at the interval, in every epoch, with all that a CPU has" {
  need_mpirun
  ranks 2 --epochs 20 --monitor 0.2 >/dev/null
  rows "
for rank in '0', '1':
    own = [r for r in rows if r['rank'] == rank]
    assert len(own) >= 5, (rank, len(own))
    times = [float(r['seconds']) for r in own]
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    assert gaps[0] >= 0 and 0.15 < gaps[len(gaps) // 2] < 0.4, gaps
    assert [int(r['step']) for r in own] == sorted(int(r['step']) for r in own)
    assert int(own[-1]['step']) == 400 and own[-1]['epoch'] == '20', own[-1]
    for r in own[:-1]:
        assert r['device'] == 'cpu' and r['host'], r
        assert 0 <= float(r['cpu_load_percent']) <= 100, r
        assert float(r['resident_bytes']) > 5e7, r
        assert not r['gpu_load_percent'], r
    # On a busy machine no step may end within an interval.
    stepped = [r for r in own if r['step_seconds']]
    middle = stepped[len(stepped) // 2]
    assert 0 < float(middle['own_seconds']) <= float(middle['step_seconds']), middle
    assert float(middle['rank_cpu_percent']) > 5, middle
assert all(float(r['epoch_seconds']) <= float(r['seconds']) for r in rows)"
}

@test "TensorBoard has a curve for each value of each rank" {
  need_mpirun
  ranks 2 --epochs 10 --monitor 0.2 >/dev/null
  read_events runs/*
  [[ $events == *"monitor/rank_0/resident_bytes "* ]]
  [[ $events == *"monitor/rank_1/cpu_load_percent "* ]]
  [[ $events != *"gpu_load"* ]]
}

@test "a rank that holds up the others is named, with its host" {
  need_mpirun
  ranks 2 --epochs 1000 --monitor 0.5 >output 2>&1 &
  await grep -q "first step done" output
  local slow
  slow=$(pids | tail -n 1)
  # It runs for a third of the time.
  while kill -STOP "$slow" && sleep 0.04 && kill -CONT "$slow" && sleep 0.02; do :; done 2>/dev/null &
  await grep -q "^rank 1 on .* is slow: it computes for .* ms a step, the median of 2 ranks is .* ms" output
  kill $!
  kill -CONT "$slow"
  await grep -q "^rank 1 on .* is no longer slow" output
  grep -q 'rank 1 on .* is slow' runs/*/rank_00.log
}

@test "a resumed run continues the file and its times" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 30 --monitor 0.2 --time-limit 2s >/dev/null && return 1
  local before
  before=$(wc -l <runs/*/monitor.csv)
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 30 --monitor 0.2 --resume auto >/dev/null
  [ "$(find runs -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
  rows "
assert len(rows) > $before, len(rows)
times = [float(r['seconds']) for r in rows]
assert times == sorted(times), times
steps = [int(r['step']) for r in rows]
assert steps == sorted(steps) and steps[-1] == 600, steps"
}

@test "without GPUs nothing is monitored unless asked for" {
  # shellcheck disable=SC2086
  "$trainer" $small >/dev/null
  ls runs/*
  [ ! -e "$(echo runs/*)/monitor.csv" ]
}

@test "the ranks also report through TCPStore" {
  need_mpirun
  ranks 2 --epochs 5 --store tcp --monitor 0.2 >/dev/null
  rows "assert {r['rank'] for r in rows} == {'0', '1'}"
}

@test "a killed rank ends a monitored run at once, and is named" {
  need_mpirun
  ranks 2 --epochs 1000 --monitor 0.1 --collective-timeout 20 >output 2>&1 &
  await grep -q "first step done" output
  kill -KILL "$(pids | tail -n 1)"
  await_end $!
  cat output
  grep -q "rank 1" output
  rows "assert rows"
}

@test "a file that cannot be written ends the run, and is named" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 30 --time-limit 1s >/dev/null && return 1
  mkdir "$(echo runs/*)/monitor.csv"
  # shellcheck disable=SC2086
  run -42 "$trainer" $small --epochs 30 --monitor 1 --resume auto
  [[ $output == *"monitor.csv"* ]]
}

@test "an interval that makes no sense is a usage error" {
  run -2 "$trainer" --monitor -1
  run -2 "$trainer" --monitor 0.01
  run -2 "$trainer" --monitor nan
  run -2 "$trainer" --monitor soon
  [ ! -e runs ]
}
