#!/usr/bin/env bats
# runtable watch in terminals of every size, with a recorded run; tests/trainer/watch.bats follows runs in progress.

bats_require_minimum_version 1.5.0
load ../support/background

setup() {
  load made_runs
  RUNTABLE=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/runtable
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  RUNS=$(realpath "$BATS_TEST_DIRNAME/../golden/runtable/runs")
  SCREEN=$(realpath "$BATS_TEST_DIRNAME/../support/show_screen.py")
  export RUNS
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() { end_jobs; }

need_script() { command -v script >/dev/null || skip "no script(1) on this machine"; }

# make_watched: a run in progress with 12 monitored ranks, made/watched.
make_watched() {
  make_run watched ddp 12 10 "" 'run.update(exit_reason="running", finished=None)'
  {
    echo seconds,rank,host,device,gpu_load_percent,gpu_memory_bytes,step_seconds,own_seconds
    for rank in {0..11}; do echo "1,$rank,a-long-name-of-host-$rank,cuda:0,50,1000000000,0.2,0.1"; done
  } >made/watched/monitor.csv
}

# watch_in COLUMNS ROWS: watches in a terminal of this size, in the background; `shown` has what it gets.
watch_in() {
  script -qec "stty cols $1 rows $2; tty >terminal; '$RUNTABLE' watch --interval 0.05 made/watched" /dev/null >shown &
}

# has_drawn N TEXT: it has been sent that often.
has_drawn() { [ "$(grep -oF -- "$2" shown | wc -l)" -ge "$1" ]; }

# end_watched: the run has ended, so the command ends, too.
end_watched() {
  sed 's/"exit_reason": "running"/"exit_reason": "finished"/' made/watched/run.json >ended
  mv ended made/watched/run.json
  wait $!
}

@test "each view takes the place of the one before, in small terminals, too" {
  need_script
  for size in "100 24" "100 12" "60 40" "30 3"; do
    make_watched
    # shellcheck disable=SC2086 # two words
    watch_in $size
    await has_drawn 4 $'\e[J'
    end_watched
    # shellcheck disable=SC2086
    python3 "$SCREEN" $size <shown >screen
    cat screen
    [ "$(grep -c '^watched  ' screen)" -eq 1 ]
    [[ $(head -n 1 screen) == "watched  finished" ]]
    [ "$(wc -L <screen)" -lt "${size% *}" ]
    rm -r made
  done
  [[ $(sed -n 2p screen) == *… ]] # there are more lines
}

@test "if the size of the terminal changes, the view is drawn on an empty screen, in that size" {
  need_script
  make_watched
  watch_in 100 24
  await has_drawn 2 $'\e[J'
  stty -F "$(<terminal)" cols 50 rows 10
  await has_drawn 1 $'\e[H\e[J'
  await has_drawn 2 $'\e[9F\e[J'
  end_watched
  [ "$(sed 's/.*\x1b\[H\x1b\[J//; s/\x1b\[[0-9;]*[mFJ]//g; s/\r//' <<<"$(sed -n '/\x1b\[H/,$p' shown)" | wc -L)" -le 49 ]
}

@test "a run of the job compare is found in its folder" {
  make_watched
  mkdir -p runs/compare_4711
  mv made/watched runs/compare_4711/
  run -0 "$RUNTABLE" watch --once
  [[ $output == "watched  running"* ]]
}
