#!/usr/bin/env bats
# runtable report: one page about recorded runs, looked at in a real browser.

bats_require_minimum_version 1.5.0

setup() {
  load made_runs
  RUNTABLE=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/runtable
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  export RUNS
  RUNS=$(realpath "$BATS_TEST_DIRNAME/../golden/runtable/runs")
  LOOK=$(realpath "$BATS_TEST_DIRNAME/../support/look_at_page.py")
  cd "$BATS_TEST_TMPDIR" || return
}

need_gnuplot() { command -v gnuplot >/dev/null || skip "no gnuplot on this machine"; }

need_browser() {
  /usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "no python3-selenium on this machine"
  command -v chromedriver >/dev/null || skip "no chromedriver on this machine"
}

# Runs of every kind that the page shows in its own way.
make_runs() {
  for i in 1 2 3; do
    make_run "single_$i" single 1 "10$i" "" 'run["started"] = f"2026-11-20T0{name[-1]}:00:00Z"'
    make_run "ddp_$i" ddp 2 "5$i" "" 'run["config"]["lr"] = 0.5; run["ranks"][1]["rank"] = 1; run["ranks"][1]["host"] = "node02"'
  done
  make_run dp dp 2 70 "" 'run["config"]["batch_size"] = 77; run["started"] = "2026-11-21T00:00:00Z"'
  make_run fast ddp 4 10
  make_run beside single 1 110 "" 'run["ranks"][0]["host"] = "crowded"; run["hosts"] = [dict(host="crowded", processors=4, others=2.5, busy=True)]'
  make_run failed single 1 5 "" 'run["exit_reason"] = "error: out of <memory>"'
  make_run again single 1 120 "" 'run["resumed"] = [dict(time="2026-11-20T09:00:00Z", checkpoint="c", epoch=1, step=1, world_size=1)] * 2'
  mkdir -p made/broken && echo '{"schema": ' >made/broken/run.json
  make_monitor made/ddp_1
}

# page_text FILE: its words, without tags.
page_text() {
  python3 - "$1" <<'TEXT'
import html.parser, sys
class Text(html.parser.HTMLParser):
    skipped = 0
    def handle_starttag(self, tag, attrs): self.skipped += tag in ("style", "script")
    def handle_endtag(self, tag): self.skipped -= tag in ("style", "script")
    def handle_data(self, data):
        if not self.skipped and data.strip(): print(data.strip())
Text().feed(open(sys.argv[1]).read())
TEXT
}

@test "the page has the table, warnings, every plot, differences, placement and provenance" {
  need_gnuplot
  make_runs
  run --separate-stderr -0 "$RUNTABLE" report -o report.html made
  # shellcheck disable=SC2154 # set by run
  [[ $stderr == *"skipped: 'made/broken/run.json' is not valid JSON"* ]]
  page_text report.html >text
  for words in "Report of 10 finished runs" "10 runs of 2026-11-20 to 2026-11-21 in made" \
    "beside: crowded" "fast: 300%" "failed: error: out of <memory>" "again: 2 times" "made/broken/run.json" \
    "4 processors, other programs used 2.5, kept busy by other programs (*)" "weak-scaling: no two runs"; do
    grep -F -- "$words" text
  done
  [ "$(grep -c '<img' report.html)" -eq 6 ]
  [ "$(grep -o '<mark>0.5</mark>' report.html | wc -l)" -eq 3 ]
  [ "$(grep -o '<mark>77</mark>' report.html | wc -l)" -eq 1 ]
}

@test "of a record with thousands of origins and ranks, a part is drawn" {
  need_gnuplot
  make_run many ddp 2000 50 "" '
for number, rank in enumerate(run["ranks"]): rank.update(rank=number, provenance={"f1": dict(source="t", variable="v")})
run["ranks"][0]["provenance"] = {f"f{i}": dict(source="s", variable="v") for i in range(2000)}'
  run --separate-stderr -0 "$RUNTABLE" report -o report.html made
  page_text report.html >text
  grep -qF "and 1900 more values" text
  [ "$(grep -cF "differs on ranks 1, 2, 3, 4 and 1995 more" text)" -eq 100 ]
}

@test "ranks are drawn on their hosts, and values of another origin are named" {
  make_run two ddp 3 50 "" '
for i, rank in enumerate(run["ranks"]):
    rank.update(rank=i, world_size=3, local_rank=i // 2, host=["node01", "node02", "node01"][i], device=f"cuda:{i}",
                provenance=dict(rank=dict(source="slurm", variable="SLURM_PROCID"),
                                local_rank=dict(source=["slurm", "rule"][i == 2], variable="SLURM_LOCALID")))'
  "$RUNTABLE" report --no-plots -o report.html made
  python3 - <<'TEXT'
import re
page = open("report.html").read()
hosts = dict(re.findall(r'<div class="host"><h4>(.*?)</h4>(.*?)</div>', page, re.S))
ranks = {host: re.findall(r"<b>(\d+)</b> ([^<]*)", text) for host, text in hosts.items()}
assert ranks == {"node01": [("0", "cuda:0"), ("2", "cuda:2")], "node02": [("1", "cuda:1")]}, ranks
rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
assert ["rank", "0", "slurm", "SLURM_PROCID", "the same"] in rows, rows
assert ["local_rank", "0", "slurm", "SLURM_LOCALID", "differs on rank 2"] in rows, rows
TEXT
}

@test "in a browser at 1280 and 400 px, light and dark, no text is cut and nothing is requested" {
  need_gnuplot
  need_browser
  make_runs
  make_run "20261120_150000_ddp_1x2_123456_a-comment-that-is-as-long-as-comments-can-be-which-is-80-characters-at-most" \
    ddp 2 54 "" 'run["config"]["data"] = "/scratch/" + "a_long_folder_name/" * 12; run["site"] = "a-site-with-a-long-name"'
  # A key of sixteen names that fit two beside each other only just.
  for i in 1 2 3 4 5 6 7 8; do
    make_run "20261121_15000${i}_ddp_1x2_abcd" ddp 2 50 "6000$i" "
run['started'] = '2026-11-22T0$i:00:00Z'
run['epochs'].append(dict(run['epochs'][1], epoch=3))"
  done
  "$RUNTABLE" report --reference -o report.html made
  run -0 /usr/bin/python3 "$LOOK" report.html
  echo "$output"
  python3 - "$output" <<'TEXT'
import json, sys
seen = json.loads(sys.argv[1])
assert seen["found"] == [] and seen["requests"] == [] and seen["messages"] == [], seen
assert seen["pictures"] >= 7, seen
TEXT
}

@test "the look in the browser finds text that is cut, covered, beyond the window or without contrast, and requests" {
  need_browser
  cat >bad.html <<'TEXT'
<!DOCTYPE html><meta charset="utf-8"><body style="background: #fff">
<div style="width: 3em; overflow: hidden; white-space: nowrap">cut by its box</div>
<div style="width: 6em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap">shortened by an ellipsis</div>
<div style="position: absolute; left: 380px; white-space: nowrap">beyond the narrow window</div>
<p style="position: absolute; top: 200px">below</p><p style="position: absolute; top: 200px">above</p>
<p style="color: #ccc">pale</p>
<img src="http://127.0.0.1:9/picture.png">
<img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='100' height='20'%3E%3Ctext x='50' y='15'%3Ebeyond the picture%3C/text%3E%3C/svg%3E">
TEXT
  run -0 /usr/bin/python3 "$LOOK" bad.html
  echo "$output"
  python3 - "$output" <<'TEXT'
import json, sys
seen = json.loads(sys.argv[1])
found = {(problem, text) for _, problem, text in seen["found"]}
for expected in [("cut", "cut by its box"), ("cut", "shortened by an ellipsis"), ("beyond the window", "beyond the narrow window"),
                 ("on other text", "below / above"), ("cut", "beyond the picture")]:
    assert expected in found, (expected, found)
assert any(problem.startswith("contrast") and text == "pale" for problem, text in found), found
assert seen["requests"], seen
TEXT
}

@test "the table sorts by any column, filters by words, and leads to the details of a run" {
  need_browser
  make_run slow single 1 1000
  make_run 'ddp_2x4_<b>x' ddp 2 90 "" 'run["nodes"] = 2; run["devices_per_node"] = 4'
  make_run unknown ddp 2 50 "" 'run["totals"]["runtime_seconds"] = None'
  make_run quick ddp 2 9.5
  "$RUNTABLE" report --no-plots -o report.html made
  run -0 /usr/bin/python3 "$LOOK" --use report.html
  echo "$output"
  python3 - "$output" <<'TEXT'
import json, sys
seen = json.loads(sys.argv[1])
assert seen["ascending"] == ["9.5 s", "0:01:30", "0:16:40", "–"], seen
assert seen["descending"] == ["0:16:40", "0:01:30", "9.5 s", "–"], seen
assert seen["filtered"] == ["ddp_2x4_<b>x"] and seen["count"] == "1 of 4 runs", seen
assert "Provenance" in seen["opened"] and "Placement" in seen["opened"], seen
TEXT
}

@test "published figures are shown with own runs of the same work, marked as published" {
  need_gnuplot
  local work='run["config"].update(model="resnet50", image_size=128, epochs=5, precision="fp32")'
  for i in 1 2 3; do make_run "s$i" single 1 "72$i" 60000 "$work"; done
  make_run d4 ddp 4 200 60000 "$work"
  make_run other single 1 9 60000 "$work; run['config']['epochs'] = 6"
  "$RUNTABLE" report -o without.html made
  run -1 grep -q Published without.html
  "$RUNTABLE" report --reference -o report.html made
  python3 - <<'TEXT'
import re
page = open("report.html").read()
section = re.search(r'<section id="published".*?</section>', page, re.S).group(0)
assert "Published, not measured by hpcboot" in section and "4 runs here did the same work" in section, section[:500]
rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", section)]
by = {(row[0], row[4], row[2] + "x" + row[3], row[5]): row[6:] for row in rows if row}
assert len(by) == 14, by
assert by["Sockeye", "single", "1x1", "–"] == ["363.4 s", "1.00", "100%", "0:12:02 (3)", "0.50"], by
assert by["CC", "DDP", "1x4", "–"] == ["85.2 s", "3.63", "91%", "0:03:20 (1)", "0.43"], by
assert by["CC", "DDP", "2x4", "srun"] == ["47.4 s", "6.53", "82%", "–", "–"], by
assert by["Sockeye", "DP", "1x4", "–"][0] == "103.5 s" and by["CC", "DP", "1x4", "–"][0] == "114.2 s", by
assert by["Sockeye", "DDP", "2x4", "mpirun"][0] == "55.7 s" and by["CC", "DDP", "2x4", "mpirun"][0] == "47.0 s", by
TEXT
}

@test "texts of records are texts on the page, and its script is the only one that a browser runs" {
  need_browser
  make_run '<script>document.title="pwned"</script>' single 1 10 "" '
run["config"]["model"] = "<img src=x onerror=\"document.title=1\">"
run["config"]["comment"] = "\"><svg onload=alert(1)>"
run["ranks"][0]["host"] = "</section><a href=javascript:alert(1)>\u202e\x1b[31m"'
  make_run plain single 1 11
  "$RUNTABLE" report -o report.html made
  [ "$(grep -c '<script' report.html)" -eq 1 ]
  run -1 grep -q '<svg\|<img src=x\|<a href=javascript\|'$'\e' report.html
  run -0 /usr/bin/python3 "$LOOK" report.html
  python3 - "$output" <<'TEXT'
import json, sys
seen = json.loads(sys.argv[1])
assert seen["found"] == [] and seen["requests"] == [] and seen["messages"] == [], seen
TEXT
  # A script that got into the page would not run.
  sed -i 's|</body>|<script>document.body.append("pwned")</script></body>|' report.html
  run -0 /usr/bin/python3 "$LOOK" report.html
  [[ $output == *"Content Security Policy"* ]]
}

@test "a damaged monitor.csv is not in the way of the other plots" {
  need_gnuplot
  make_run a single 1 10
  make_run b single 1 11
  printf 'seconds,epoch\n1,x,y\n' >made/b/monitor.csv
  "$RUNTABLE" report -o report.html made
  page_text report.html | grep -q 'monitor: .*monitor.csv'
  [ "$(grep -c '<img' report.html)" -ge 2 ]
  # Numbers that gnuplot cannot draw.
  { echo seconds,rank,host,device,cpu_load_percent
    for row in -1.7e308,0,h,cpu,5 1.7e308,0,h,cpu,5 {0..9},0,h,cpu,{5..6} 10,0,h,cpu,{,-}1.7e308; do echo "$row"; done
  } >made/b/monitor.csv
  "$RUNTABLE" report -o report.html made
  grep -q '<img alt="Monitor of b' report.html
}

@test "runs of one name in two folders are two runs, each with its details" {
  make_run one single 1 10
  mv made first
  make_run one single 1 20
  "$RUNTABLE" report --no-plots -o report.html first made
  [ "$(grep -o 'href="#run-[12]">one' report.html | sort -u | wc -l)" -ge 2 ]
}

@test "devices, pipes and links that a user names are written to, not replaced" {
  make_run a single 1 10
  mkfifo pipe
  timeout 10 cat pipe >received &
  "$RUNTABLE" report --no-plots -o pipe made
  wait $!
  [ -p pipe ]
  grep -q '</html>' received
  ln -s target link
  "$RUNTABLE" report --no-plots -o link made
  [ -L link ]
  grep -q '</html>' target
  "$RUNTABLE" report --no-plots -o link made
  [ -L link ]
  # What else goes to the same place stays.
  { echo before; "$RUNTABLE" report --no-plots -o /proc/self/fd/1 made; echo after; } >all
  [ "$(head -n 1 all)" = before ]
  [ "$(tail -n 1 all)" = after ]
  grep -q '</html>' all
  ln -s loop_b loop_a && ln -s loop_a loop_b
  run -42 "$RUNTABLE" report --no-plots -o loop_a made
  [[ $output == *"'loop_a'"* ]]
  # A device of our own that is full, as /dev/full is.
  if mknod full c 1 7 2>/dev/null; then
    run -42 "$RUNTABLE" report --no-plots -o full made
    [ -c full ]
    run -42 "$RUNTABLE" export --to csv -o full made
    [ -c full ]
  fi
}

@test "pipes in place of a run's files do not hang" {
  make_run a single 1 10
  mkfifo made/a/monitor.csv made/a/metrics.csv
  timeout 20 "$RUNTABLE" report --no-plots -o report.html made
  timeout 20 "$RUNTABLE" watch --once made
  run timeout 20 "$RUNTABLE" plot monitor made/a
  [ "$status" -eq 27 ]
  run timeout 20 "$RUNTABLE" export --to mlflow made
  [ "$status" -eq 1 ]
  [[ $output == *"made/a/metrics.csv' cannot be read"* ]]
  [ -z "$(find mlruns -type f 2>/dev/null)" ]
}

@test "no run, no gnuplot, a wrong option, a folder that is missing or cannot be written: named, with their exit codes" {
  mkdir none path
  run -1 "$RUNTABLE" report -o x.html none
  [[ $output == *"report: there is no run"* ]]
  run -27 "$RUNTABLE" report -o x.html nowhere
  run -2 "$RUNTABLE" raport
  [ "$output" = "runtable: unknown verb 'raport'; did you mean report? runtable --help lists the verbs" ]
  mkdir raport
  run -0 "$RUNTABLE" raport
  run -2 "$RUNTABLE" report --plots
  make_run a single 1 10
  run -42 "$RUNTABLE" report --no-plots -o nowhere/x.html made
  run -30 env PATH="$PWD/path" "$RUNTABLE" report -o x.html made
  [[ $output == *"--no-plots"* ]]
  [ ! -e x.html ]
  env PATH="$PWD/path" "$RUNTABLE" report --no-plots made >page.html
  grep -q '</html>' page.html
  run -1 bash -c '"$1" report --no-plots made >/dev/full' bash "$RUNTABLE"
}
