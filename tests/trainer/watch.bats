#!/usr/bin/env bats
# runtable watch: runs in progress, followed by another process.
# shellcheck disable=SC2154,SC2086 # $trainer and others are set in helper.bash; $small is meant to be split

load helper

setup_file() {
  use_programs
  draw_digits
}

# in_terminal COMMAND: what it shows in a terminal of 80 columns, one view below the other.
in_terminal() {
  script -qec "stty cols 80 rows 24; $1" /dev/null | sed 's/\x1b\[[0-9;]*[mFJK]//g' | tr -d '\r'
}

@test "a run is followed to its end, in a terminal of 80 columns" {
  need_mpirun
  command -v script >/dev/null || skip "no script(1) on this machine"
  ranks 2 --epochs 60 --monitor 0.2 >/dev/null &
  await_first_steps
  in_terminal "$runtable watch --interval 0.2" >shown
  wait $!
  tail -n 30 shown
  [ "$(wc -L <shown)" -le 80 ]
  [ "$(grep -c ' running$' shown)" -ge 2 ]
  grep -q '^20.*ddp_1x2  finished$' shown
  grep -q 'epoch [0-9]*/60  step [0-9]*/1200  █.* [0-9:.]* s* *left$' shown
  grep -q 'epoch 60/60  step 1200/1200  █* 100%$' shown
  grep -q '^loss  *[0-9.]*  *[▁▂▃▄▅▆▇█]' shown
  grep -q '^ *1  .* cpu  *[0-9.]*  *[0-9.]* ' shown
  grep -q '^validation of epoch 60:  loss [0-9.]*  accuracy ' shown
}

@test "without a terminal there is a line for each change; the exit code is that of the run" {
  "$trainer" $small --epochs 1000 >/dev/null 2>&1 &
  local run=$!
  await_first_steps
  "$runtable" watch --interval 0.2 runs >shown &
  local watch=$! status=0
  two_lines() { [ "$(wc -l <shown)" -ge 2 ]; }
  await two_lines
  kill -TERM "$run"
  wait "$run" || true
  wait "$watch" || status=$?
  [ "$status" -eq 1 ]
  mapfile -t lines <shown
  [ "${#lines[@]}" -ge 3 ]
  [[ ${lines[0]} =~ ^epoch\ [0-9]+/1000,\ step\ [0-9]+/20000,\ loss\ [0-9.]+,\ [0-9.]+\ images/s,\ .*\ left$ ]]
  [[ ${lines[-1]} == *"_single_1x1: signal TERM" ]]
}

@test "the time that is left is that of the steps and validations that are left" {
  mkdir -p runs/one
  "$trainer" $small --epochs 1 --runs-dir made >/dev/null
  python3 - made/*/run.json <<'TEXT'
import json, sys
run = json.load(open(sys.argv[1]))
run.update(exit_reason="running", finished=None)
run["config"]["epochs"] = 4
run["epochs"][0].update(steps=20, validation_seconds=3.0)
json.dump(run, open("runs/one/run.json", "w"))
with open("runs/one/metrics.csv", "w") as out:
    print("epoch,step,loss,step_seconds", file=out)
    for step in range(1, 31): print(f"{1 + step // 20},{step},0.5,0.5", file=out)
    out.write("2,31,0.4")  # the trainer is about to finish this line
TEXT
  run -0 "$runtable" watch --once
  echo "$output"
  # 50 steps of half a second, and three validations.
  [[ $output == *"epoch 2/4  step 30/80 "*" 38%  34.0 s left"* ]]
}

@test "of several runs the one in progress is followed, also if it was resumed, then the newest" {
  "$trainer" $small --epochs 1 --runs-dir made >/dev/null
  python3 - made/*/run.json <<'TEXT'
import json, os, sys
def write(name, started, reason="finished", resumed=(), kind="images of 1x28x28"):
    run = json.load(open(sys.argv[1]))
    run.update(run=name, started=started, exit_reason=reason, finished=None if reason == "running" else started)
    run["config"]["sample"] = kind
    run["resumed"] = [{"time": time, "checkpoint": "x", "epoch": 1, "step": 1, "world_size": 1} for time in resumed]
    os.makedirs("runs/" + name)
    json.dump(run, open(f"runs/{name}/run.json", "w"))
    with open(f"runs/{name}/metrics.csv", "w") as out: print("epoch,step,loss,images_per_second\n1,1,0.5,7", file=out)
write("first", "2026-01-01T00:00:00Z")
write("newest", "2026-03-03T00:00:00Z")
write("again", "2026-02-02T00:00:00Z", resumed=["2026-04-04T00:00:00Z"])
write("ongoing", "2026-01-02T00:00:00Z", "running", kind="sequences of 1x8 to 1x8")
write("lost", "2026-01-03T00:00:00Z", "running")  # on another host, long ago
for file in ("run.json", "metrics.csv"): os.utime("runs/lost/" + file, (1.7e9, 1.7e9))
TEXT
  run -0 "$runtable" watch --once
  [[ $output == ongoing* && $output == *"sequences/s 7"* && $output != *images* ]]
  rm -r runs/ongoing
  run -0 "$runtable" watch --once
  [[ $output == again* && $output == *"images/s  7"* ]]
  rm -r runs/again
  run -0 "$runtable" watch --once
  [[ $output == newest* ]]
}

@test "a rank that holds up the others is marked, and of many ranks the slowest are shown" {
  "$trainer" $small --epochs 1 --runs-dir runs >/dev/null
  python3 - runs/*/run.json <<'TEXT'
import copy, json, os, sys
run = json.load(open(sys.argv[1]))
run.update(exit_reason="running", finished=None)
run["ranks"] = [copy.deepcopy(run["ranks"][0]) for _ in range(12)]
json.dump(run, open(sys.argv[1], "w"))
with open(os.path.dirname(sys.argv[1]) + "/monitor.csv", "w") as out:
    print("seconds,rank,host,device,gpu_load_percent,step_seconds,own_seconds", file=out)
    for look in range(5):
        for rank in range(12): print(f"{look},{rank},n{rank},cuda:0,{50 + rank},0.2,{0.15 if rank == 7 else 0.1}", file=out)
TEXT
  run -0 "$runtable" watch --once
  echo "$output"
  [[ $output == *$'\n'"   7  n7    cuda:0    200.0   150.0"*"57"*"slow"* ]]
  [ "$(grep -c '  slow$' <<<"$output")" -eq 1 ]
  [[ $output == *"the 10 slowest of 12"* ]]
}

@test "a run that was killed is named as such on its host, and ends the watch" {
  need_mpirun
  ranks 2 --epochs 1000 >/dev/null 2>&1 &
  await_first_steps
  local pid
  for pid in $(pids); do kill -9 "$pid"; done
  wait $! || true
  run -1 "$runtable" watch
  echo "$output"
  [[ $output == *"killed: its process is gone" ]]
  # Another host does not know.
  unshare --uts true 2>/dev/null || skip "no namespace for another host name"
  run -0 unshare --uts bash -c 'hostname elsewhere && "$1" watch --once' bash "$runtable"
  [[ $output == *" running"* ]]
}

@test "damaged and hostile files do not end the watch, and lines stay lines" {
  command -v script >/dev/null || skip "no script(1) on this machine"
  "$trainer" $small --epochs 1 --runs-dir runs >/dev/null
  python3 - runs/*/run.json <<'TEXT'
import json, os, sys
run = json.load(open(sys.argv[1]))
run.update(exit_reason="running", finished=None, run="20261120_" + "x" * 180)
run["config"].update(batch_size=2**63 - 1, epochs=3)
run["epochs"] = []
json.dump(run, open(sys.argv[1], "w"))
folder = os.path.dirname(sys.argv[1])
with open(folder + "/metrics.csv", "w") as out:
    print("epoch,step,loss,step_seconds", file=out)
    for loss in ("1.7e308", "-1.7e308"): print(f"1,1,{loss},1e300", file=out)
    for step in (-2**63, 0, 1, 2**62): print(f"1,{step},1e300,1e300", file=out)
with open(folder + "/monitor.csv", "w") as out:
    print("seconds,rank,host,device,own_seconds", file=out)
    for look in range(3):
        for rank in (0, 1, 7): print(f"{look},{rank},{'h' * 90},cpu,0.1", file=out)
TEXT
  in_terminal "$runtable watch --once" >shown
  cat shown
  [ "$(wc -L <shown)" -le 80 ]
  run ! grep -E -- '-[0-9]{5}|inf| left' shown
  run ! grep '^loss.*▁' shown  # there is no curve of numbers whose difference is infinite
  grep -q '^ *0  hhhh' shown
  run ! grep -q '^ *7  hhhh' shown  # the run has one rank now
  echo 'other,columns' >"$(echo runs/*)/monitor.csv"
  run -0 "$runtable" watch --once
  [[ $output == *"each rank: unknown; "*"has no column"* ]]
}

@test "no run, damage and wrong options are named" {
  mkdir empty damaged
  run -27 "$runtable" watch empty
  [[ $output == *"there is no run in 'empty'"* ]]
  run -27 "$runtable" watch
  echo '{' >damaged/run.json
  run -28 "$runtable" watch damaged
  [[ $output == *"damaged/run.json"* ]]
  "$trainer" $small --epochs 1 --runs-dir fine >/dev/null
  (cd fine/* && run -0 "$runtable" watch run.json && run -0 "$runtable" export --to mlflow run.json)
  for interval in 0 -1 x 1e9 nan; do
    run -2 "$runtable" watch --interval "$interval" empty
  done
}
