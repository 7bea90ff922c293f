#!/usr/bin/env bats
# runtable export: which runs are the same. What it writes is read in tests/trainer/export.bats.

bats_require_minimum_version 1.5.0

setup() {
  load made_runs
  RUNTABLE=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/runtable
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  export RUNS
  RUNS=$(realpath "$BATS_TEST_DIRNAME/../golden/runtable/runs")
  cd "$BATS_TEST_TMPDIR" || return
  formats=(mlflow)
  "$RUNTABLE" export --help | grep -q wandb-offline && formats+=(wandb-offline tensorboard-hparams)
}

# run_in FOLDER CHANGE: FOLDER/r1, a run of the same name and second as every other of these; CHANGE is Python that changes `run`.
run_in() {
  make_run r1 single 1 110 "" "$2"
  mkdir -p "$1"
  mv made/r1 "$1"
}

# exported FORMAT WRITTEN THERE FOLDER…: so many runs of these folders are written to ./FORMAT, and so many are there.
exported() {
  local format=$1 said="$2 written to $1"
  [ "$3" = 0 ] || said+=", $3 already there"
  run -0 "$RUNTABLE" export --to "$format" -o "$format" "${@:4}"
  [ "${lines[0]}" = "runtable: $said" ]
}

# older_id: what an older version took for the id of these runs.
older_id() {
  python3 - <<'TEXT'
import json
run, digits = json.load(open("x/r1/run.json")), ""
for value in (14695981039346656037, 1099511628211):
    for byte in (run["run"] + run["started"]).encode(): value = (value ^ byte) * 1099511628211 % 2**64
    digits += f"{value:016x}"
print(digits)
TEXT
}

@test "runs of one name and second that other jobs or processes started are all exported, each once" {
  run_in x ''
  run_in y 'run["totals"]["runtime_seconds"] = 120.0; run["ranks"][0]["pid"] = 4001'
  run_in z 'run["ranks"][0]["host"] = "node02"; run["finished"] = "2026-11-20T21:00:00Z"'
  run_in w 'run["job_id"] = "1234_2"'
  for format in "${formats[@]}"; do
    exported "$format" "4 runs" 0 x y z w
    exported "$format" "0 runs" 4 w z y x
    exported "$format" "0 runs" 1 y
    cp -r x copy
    exported "$format" "0 runs" 1 copy
    rm -r copy
  done
}

@test "runs whose first process is not known are told apart by their folders" {
  local unknown='run["resumed"] = [dict(time="2026-11-20T19:00:00Z", checkpoint="c", epoch=1, step=1)]'
  run_in x "$unknown"
  run_in y 'run["ranks"] = []'
  run_in z 'run["ranks"] = []'
  for format in "${formats[@]}"; do
    exported "$format" "3 runs" 0 x y z
    exported "$format" "0 runs" 3 ./x/r1 "$PWD/y" z/../z
  done
}

@test "a run that went on in another job is found by its origin" {
  run_in x ''
  run_in y 'run["origin"] = " node01 4000"; run["ranks"][0].update(host="node09", pid=1); run["job_id"] = "7"
run["resumed"] = [dict(time="2026-11-20T20:30:00Z", checkpoint="c", epoch=2, step=20)]; run["finished"] = "2026-11-20T21:00:00Z"'
  for format in "${formats[@]}"; do
    exported "$format" "1 run" 0 x
    run -1 "$RUNTABLE" export --to "$format" -o "$format" y
    [[ $output == *"0 runs written to $format, 1 already there"*"went on after it was written"* ]]
  done
}

@test "what an older version exported is found, and is one run" {
  run_in x ''
  run_in y 'run["ranks"][0]["pid"] = 4001'
  exported mlflow "1 run" 0 x
  mv mlflow/*/*/ "$(dirname mlflow/*/*/)/$(older_id)"
  exported mlflow "0 runs" 1 x
  cp -r x copy
  exported mlflow "0 runs" 2 x copy
  exported mlflow "1 run" 1 x y
  exported mlflow "0 runs" 2 y x
  if [ ${#formats[@]} -gt 1 ]; then
    for format in wandb-offline tensorboard-hparams; do
      exported "$format" "1 run" 0 x
      local folder
      folder=$(echo "$format"/*)
      mv "$folder" "${folder%-*}-$(older_id | cut -c1-8)"
      exported "$format" "0 runs" 1 x
      exported "$format" "1 run" 1 x y
    done
  fi
}
