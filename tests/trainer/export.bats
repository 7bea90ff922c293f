#!/usr/bin/env bats
# runtable export, read by the tools that it is for.
# shellcheck disable=SC2154,SC2086 # $trainer and others are set in helper.bash; $small is meant to be split

load helper

setup_file() {
  use_programs
  draw_digits
  export runs=$BATS_FILE_TMPDIR/runs
  "$trainer" $small --epochs 2 --lr 0.001 --comment 'a=b, "c"' --runs-dir "$runs" >/dev/null
  sleep 1
  "$trainer" $small --epochs 1 --lr 0.002 --runs-dir "$runs" >/dev/null
  set -- "$runs"/*
  export first=$1
  # One that is not finished.
  "$trainer" $small --epochs 1000 --time-limit 2s --runs-dir "$runs" >/dev/null || true
}

# seen_by TOOL FOLDER: what it reads, in seen.json.
seen_by() {
  use_pypi
  "$pypi" "$BATS_TEST_DIRNAME/../support/read_exports.py" "$@" >seen.json
}

# check CODE: Python that sees what was read as `seen`, the records as `records`, and the rows of metrics.csv as `rows`.
check() {
  python3 - "$runs" <<TEXT
import csv, glob, json, math, os, sys
seen = json.load(open("seen.json")) if os.path.exists("seen.json") else None
records, rows = {}, {}
for file in sorted(glob.glob(sys.argv[1] + "/*/run.json")):
    run = json.load(open(file))
    if run["exit_reason"] != "finished": continue
    records[run["run"]] = run
    rows[run["run"]] = list(csv.DictReader(open(os.path.dirname(file) + "/metrics.csv")))
assert len(records) == 2
$1
TEXT
}

@test "csv: a row for each finished run, columns as in run.json" {
  run --separate-stderr -0 "$runtable" export --to csv "$runs"
  [[ $stderr == *"ended with 'time limit'"* ]]
  "$runtable" export --to csv -o runs.csv "$runs" 2>/dev/null
  [ "$output" = "$(cat runs.csv)" ]
  check '
table = {row["run"]: row for row in csv.DictReader(open("runs.csv"))}
assert set(table) == set(records), table
for name, run in records.items():
    row = table[name]
    assert float(row["config.lr"]) == run["config"]["lr"] and row["config.comment"] == run["config"]["comment"]
    assert float(row["totals.runtime_seconds"]) == run["totals"]["runtime_seconds"]
    assert float(row["last_epoch.validation_accuracy"]) == run["epochs"][-1]["validation_accuracy"]
    assert row["ranks"] == "1" and row["config.resume"] == "" and row["versions.libtorch"] == run["versions"]["libtorch"]'
}

@test "mlflow: an experiment with a run for each, settings, curves and results, and the run folder as artifacts" {
  "$runtable" export --to mlflow -o "ml runs" --name "digits: first" "$runs"
  seen_by mlflow "ml runs"
  check '
assert set(seen) == set(records), seen
for name, run in seen.items():
    record = records[name]
    assert run["experiment"] == "digits: first" and run["status"] == "FINISHED", run
    assert float(run["params"]["lr"]) == record["config"]["lr"] and run["params"]["comment"] == record["config"]["comment"]
    assert "resume" not in run["params"] and "time_limit" not in run["params"]
    assert run["history"] == [[int(row["step"]), float(row["loss"])] for row in rows[name]], run["history"][:3]
    assert run["metrics"]["epoch/validation_accuracy"] == record["epochs"][-1]["validation_accuracy"]
    assert run["metrics"]["totals/runtime_seconds"] == record["totals"]["runtime_seconds"]
    assert run["artifacts"] == "file://" + os.path.realpath(sys.argv[1]) + "/" + name, run["artifacts"]'
}

@test "wandb-offline: the reader of W&B finds configuration, history and summary" {
  "$runtable" export --to wandb-offline --name digits "$runs"
  seen_by wandb wandb
  check '
assert set(seen) == set(records), seen
for name, run in seen.items():
    record = records[name]
    assert run["project"] == "digits" and run["kinds"] == ["header", "run", "summary", "exit", "final"], run["kinds"]
    assert run["params"]["lr"] == record["config"]["lr"] and run["params"]["time_limit"] is None
    assert run["params"]["layout"] == "1x1" and run["params"]["launcher"] == "single", run["params"]
    assert run["params"]["comment"] == record["config"]["comment"]
    assert run["history"] == [[int(row["step"]), float(row["loss"])] for row in rows[name]], run["history"][:3]
    assert run["metrics"]["epoch/train_loss"] == record["epochs"][-1]["train_loss"]
    assert run["summary"]["totals/runtime_seconds"] == record["totals"]["runtime_seconds"]
    assert run["metrics"]["_timestamp"] > 1.5e9 and run["metrics"]["_runtime"] > 0'
}

@test "wandb-offline: a long run fills many blocks of the log" {
  mkdir long
  cp -r "$first" long/run
  python3 - long/run <<'TEXT'
import json, sys
run = json.load(open(sys.argv[1] + "/run.json"))
run["config"]["comment"] = "x" * 100_000  # one record over several blocks
json.dump(run, open(sys.argv[1] + "/run.json", "w"))
with open(sys.argv[1] + "/metrics.csv", "w") as out:
    print("epoch,step,loss,step_seconds", file=out)
    for step in range(1, 20001): print(f"1,{step},{1 / step},0.01", file=out)
TEXT
  "$runtable" export --to wandb-offline long
  seen_by wandb wandb
  python3 - <<'TEXT'
import json
(run,) = json.load(open("seen.json")).values()
assert run["params"]["comment"] == "x" * 100_000
assert run["history"] == [[step, 1 / step] for step in range(1, 20001)], run["history"][:3]
TEXT
}

@test "tensorboard-hparams: the tab HParams lists the runs with their options and results" {
  "$runtable" export --to tensorboard-hparams "$runs"
  seen_by hparams hparams
  check '
seen = {name.rsplit("-", 1)[0]: run for name, run in seen.items()}
assert set(seen) == set(records), seen
for name, run in seen.items():
    record = records[name]
    assert run["params"]["lr"] == record["config"]["lr"] and run["params"]["model"] == "mnistnet", run
    assert run["params"]["layout"] == "1x1" and run["params"]["version of libtorch"] == record["versions"]["libtorch"], run
    assert run["params"]["sync_bn"] is False and run["status"] == "STATUS_SUCCESS", run
    assert math.isclose(run["metrics"]["epoch/validation_accuracy"], record["epochs"][-1]["validation_accuracy"], rel_tol=1e-6)
    assert math.isclose(run["metrics"]["totals/runtime_seconds"], record["totals"]["runtime_seconds"], rel_tol=1e-6)'
}

@test "the runs themselves are in the tab HParams, with their curves" {
  seen_by hparams "$runs"
  check '
for name, record in records.items():
    assert seen[name]["params"]["lr"] == record["config"]["lr"] and seen[name]["status"] == "STATUS_SUCCESS", seen[name]
    assert math.isclose(seen[name]["metrics"]["epoch/train_loss"], record["epochs"][-1]["train_loss"], rel_tol=1e-6)
(other,) = set(seen) - set(records)
assert seen[other]["status"] != "STATUS_SUCCESS", seen[other]'
}

@test "an export that exists stays as it is, and new runs are added" {
  mkdir some
  cp -r "$first" some
  for format in mlflow wandb-offline tensorboard-hparams; do
    run -0 "$runtable" export --to $format -o out some
    [[ $output == *"1 run written to out"* ]]
    find out -type f -exec md5sum {} + | sort >before
    run -0 "$runtable" export --to $format -o out "$runs"
    [[ $output == *"1 run written to out, 1 already there"* ]]
    md5sum -c --quiet before
    [ -z "$(find out -name '.*')" ]
    rm -r out
  done
}

@test "a run that went on since it was written is named, and stays until it is removed" {
  mkdir some
  cp -r "$first" some
  for format in mlflow wandb-offline tensorboard-hparams; do "$runtable" export --to $format -o $format some; done
  "$trainer" $small --epochs 3 --lr 0.001 --comment 'a=b, "c"' --resume some/* >/dev/null
  for format in mlflow wandb-offline tensorboard-hparams; do
    find $format -type f -exec md5sum {} + >before
    run -1 "$runtable" export --to $format -o $format some
    [[ $output == *"0 runs written to $format, 1 already there"* ]]
    [[ $output == *"the run in '$format/"*"' went on after it was written; remove that folder"* ]]
    md5sum -c --quiet before
    old=$(sed -n "s/.*the run in '\(.*\)' went on .*/\1/p" <<<"$output")
    rm -r "$old"
    run -0 "$runtable" export --to $format -o $format some
    [[ $output == *"1 run written to $format"* ]]
    run -0 "$runtable" export --to $format -o $format some
    [[ $output == *"1 already there"* && $output != *"went on"* ]]
  done
  # By a version that did not note the end.
  rm mlflow/*/*/hpcboot.json
  run -0 "$runtable" export --to mlflow -o mlflow some
  [[ $output == *"1 already there"* ]]
}

@test "hostile names stay within the output" {
  mkdir -p evil/run
  python3 - "$first/run.json" <<'TEXT'
import json, sys
run = json.load(open(sys.argv[1]))
run["run"] = "../../../outside\n\x1b[31m"
run["config"]["../../../up"] = "$(touch pwned)"
run["config"]["=cmd()"] = "=1+1"
run["versions"]["../../x"] = "y"
run["epochs"][0]["validation_../../z"] = 1.0
json.dump(run, open("evil/run/run.json", "w"))
TEXT
  mkdir -p deep/er/still
  for format in csv mlflow wandb-offline tensorboard-hparams; do
    "$runtable" export --to $format -o deep/er/still/$format evil
  done
  find . -path ./evil -prune -o -path ./deep/er/still -prune -o -type f -print >strays
  [ "$(cat strays)" = ./strays ]
  run -1 grep -q $'\e' deep/er/still/csv
  python3 -c 'import csv; [row] = csv.DictReader(open("deep/er/still/csv")); assert not any(v[:1] == "=" for v in row.values())'
}

@test "wrong formats, no run, and an output that cannot be written are named" {
  run -2 "$runtable" export "$runs"
  [[ $output == *"wandb-offline"* ]]
  run -2 "$runtable" export --to excel "$runs"
  mkdir none
  run -1 "$runtable" export --to csv none
  touch file
  for format in csv mlflow wandb-offline tensorboard-hparams; do
    run -42 "$runtable" export --to $format -o file/x "$runs"
  done
}
