#!/usr/bin/env bats
# runtable plot: pictures and text that gnuplot draws of recorded runs.

bats_require_minimum_version 1.5.0

setup() {
  load made_runs
  RUNTABLE=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/runtable
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  command -v gnuplot >/dev/null || skip "no gnuplot on this machine"
  export RUNS
  RUNS=$(realpath "$BATS_TEST_DIRNAME/../golden/runtable/runs")
  cd "$BATS_TEST_TMPDIR" || return
}

# is_svg FILE: it is well-formed, and has all these texts.
is_svg() {
  python3 - "$@" <<'TEXT'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag.endswith("svg"), root.tag
texts = " ".join("".join(one.itertext()) for one in root.iter() if one.tag.endswith("text"))
for text in sys.argv[2:]:
    assert text in texts, (text, texts)
TEXT
}

@test "every kind of plot is a well-formed SVG with title, source and units, and a PNG" {
  for i in 1 2 3; do make_run "a$i" single 1 "10$i"; done
  for i in 1 2 3; do make_run "b$i" ddp 2 "5$i"; done
  make_run c1 ddp 4 30
  local samples
  samples=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["train_samples"])' made/a1/run.json)
  make_run w2 ddp 2 105 $((2 * samples))
  make_monitor made/a1
  "$RUNTABLE" plot runtime -o runtime.svg made
  is_svg runtime.svg "Runtime: " "runs of 2026-11-20 in made" "runtime, s" "samples per second" "DDP 1x4"
  "$RUNTABLE" plot strong-scaling -o strong.svg made
  is_svg strong.svg "Strong scaling: " "speed-up (ideal on the fewest devices)" "efficiency, %" ideal devices
  "$RUNTABLE" plot weak-scaling -o weak.svg made
  is_svg weak.svg "Weak scaling: " "runtime, s" "efficiency, %" ideal
  "$RUNTABLE" plot curves -o curves.svg made
  is_svg curves.svg "Loss and measures: " loss epoch "accuracy, %"
  "$RUNTABLE" plot monitor -o monitor.svg made/a1
  is_svg monitor.svg "GPU load, %" "GPU memory, GiB" "GPU temperature, °C" "time, s" "rank 1 (n2, cuda:0)"
  "$RUNTABLE" plot correlation -o correlation.svg made/a1
  is_svg correlation.svg "GPU memory" "+1.00"
  for kind in runtime strong-scaling weak-scaling curves; do
    "$RUNTABLE" plot "$kind" -o "$kind.png" made
    [ "$(head -c 4 "$kind.png" | tail -c 3)" = PNG ]
  done
  [ -z "$(find . -name '.*.tmp')" ]
}

@test "what a step consists of is stacked" {
  make_run s single 1 10
  "$RUNTABLE" plot steps -o steps.svg made
  is_svg steps.svg data forward backward "exposed communication" optimizer other "mean time of a step on rank 0, ms"
  "$RUNTABLE" plot steps made >text
  cat text
  grep -q '^ *10  *20  *40  *10  *10  *10  single 1x1 (1)\|^single 1x1 (1)  *10  *20  *40  *10  *10  *10' text
}

@test "in the terminal plots are text of 80 columns" {
  for i in 1 2 3; do make_run "a$i" single 1 "10$i" && make_run "b$i" ddp 2 "5$i"; done
  make_monitor made/a1
  for kind in runtime strong-scaling curves steps; do
    "$RUNTABLE" plot "$kind" made >text
    cat text
    [ "$(wc -L <text)" -le 80 ]
    [ "$(wc -l <text)" -gt 5 ]
  done
  "$RUNTABLE" plot correlation made/a1 >text
  grep -q 'GPU load *+1.00' text
  "$RUNTABLE" plot monitor made/a1 | grep -q 'GPU load, %'
}

@test "texts of records run no commands, and stay texts" {
  make_run '`touch pwned`' single 1 10
  make_run "'; system('touch pwned'); '" single 1 20
  make_run $'x\nsystem("touch pwned")\e[31m' single 1 30
  for kind in runtime curves; do
    "$RUNTABLE" plot "$kind" -o "$kind.svg" made
    is_svg "$kind.svg"
    "$RUNTABLE" plot "$kind" made >text
    run -1 grep -q $'\e' text
  done
  [ ! -e pwned ]
}

@test "no name of a file or a folder is a command, and the user's own settings of gnuplot do not count" {
  for i in 1 2 3; do make_run "a$i" single 1 "10$i"; done
  mkdir '|touch pwned;' home
  "$RUNTABLE" plot runtime -o '|touch pwned;/x.svg' made
  is_svg '|touch pwned;/x.svg' "Runtime: "
  "$RUNTABLE" plot runtime -o $'ctl\x01~.svg' made
  is_svg $'ctl\x01~.svg' "Runtime: "
  [ ! -e pwned ]
  echo 'set datafile separator ","; print "mine"' >home/.gnuplot
  HOME=$PWD/home "$RUNTABLE" plot curves made >text
  run -1 grep -q mine text
  [ -z "$(find . -name '.*.tmp')" ]
}

@test "the monitor of a run that is not finished is shown" {
  make_run a1 single 1 10
  make_monitor made/a1
  sed -i 's/"exit_reason": "finished"/"exit_reason": "signal TERM"/' made/a1/run.json
  "$RUNTABLE" plot monitor -o m.svg made/a1
  is_svg m.svg "GPU load, %"
  run -1 "$RUNTABLE" plot runtime made/a1
}

@test "without enough runs the plot says what is missing" {
  make_run a1 single 1 10
  run -1 "$RUNTABLE" plot strong-scaling made
  [[ $output == *"nothing to plot: no work was done on two different numbers of devices"* ]]
  run -1 "$RUNTABLE" plot weak-scaling -o w.svg made
  [ ! -e w.svg ]
  run -27 "$RUNTABLE" plot monitor made/a1
  [[ $output == *"monitor.csv"*"--monitor"* ]]
  mkdir empty
  run -1 "$RUNTABLE" plot runtime empty
  [[ $output == *"there is no finished run"* ]]
}

@test "wrong arguments are usage errors" {
  run -2 "$RUNTABLE" plot
  run -2 "$RUNTABLE" plot pie
  [[ $output == *"strong-scaling"* ]]
  run -2 "$RUNTABLE" plot runtime -o x.gif
  [[ $output == *".svg or .png"* ]]
  run -27 "$RUNTABLE" plot runtime nowhere
  make_run a1 single 1 10
  run -42 "$RUNTABLE" plot runtime -o nowhere/x.svg made
}

@test "without gnuplot the error says how to get it, and a broken one is named" {
  for i in 1 2 3; do make_run "a$i" single 1 "10$i"; done
  mkdir path
  run -30 env PATH="$PWD/path" "$RUNTABLE" plot runtime -o x.svg made
  [[ $output == *"gnuplot-nox"* ]]
  printf '#!/bin/sh\necho broken >&2\nexit 3\n' >path/gnuplot
  chmod +x path/gnuplot
  run -30 env PATH="$PWD/path:/bin" "$RUNTABLE" plot runtime -o x.svg made
  [[ $output == *"broken"* ]]
  [ ! -e x.svg ]
}
