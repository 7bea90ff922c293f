#!/usr/bin/env bats
# A scaling study of the trainer, from one line to the plots.
# shellcheck disable=SC2154 # $trainer and others are set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

@test "a strong and a weak study, whose report draws both plots" {
  need_mpirun
  command -v gnuplot >/dev/null || skip "no gnuplot on this machine"
  local hpcboot=${trainer%/*}/hpcboot
  # shellcheck disable=SC2086 # $model is meant to be split
  "$hpcboot" run --oversubscribe --study strong --ranks 1,2 --repeat 3 -- "$trainer" --data "$data" $model --epochs 1 >/dev/null 2>said.strong
  cat said.strong
  grep -q "^next:$" said.strong
  grep -q "^  runtable plot strong-scaling runs$" said.strong
  grep -q "^  runtable report -o report.html runs$" said.strong
  # shellcheck disable=SC2086
  "$hpcboot" run --oversubscribe --study weak --ranks 1,2 --repeat 1 -- "$trainer" --data "$data" $model --epochs 1 --limit-samples '{300*ranks}' >/dev/null 2>said.weak
  "$runtable" plot strong-scaling -o strong.svg runs
  "$runtable" plot weak-scaling -o weak.svg runs
  "$runtable" report -o report.html runs
  python3 - <<'TEXT'
import html, re, urllib.parse
page = open("report.html").read()
titles = [html.unescape(alt) for alt in re.findall(r'<img alt="(.*?)"', page)]
for title in "Strong scaling: ", "Weak scaling: ": assert any(one.startswith(title) for one in titles), titles
TEXT
  python3 - <<'TEXT'
import glob, json
samples = sorted((len(r["ranks"]), r["train_samples"]) for r in (json.load(open(f)) for f in glob.glob("runs/*/run.json")))
assert samples == [(1, 300)] + [(1, 640)] * 3 + [(2, 600)] + [(2, 640)] * 3, samples
TEXT
}
