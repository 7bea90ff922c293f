#!/usr/bin/env bats
# Checkpoints of the trainer: runs that are interrupted, at any moment, continue as if they had not been.
# shellcheck disable=SC2086,SC2154 # $small and $long hold options, meant to be split; see helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
  export small="$small --epochs 2 --no-tensorboard"
  # A run that takes long enough to be interrupted: 4 images a step, and a tiny learning rate.
  export long="$small --batch-size 4 --epochs 5000 --lr 1e-9"
}

# How many runs there are.
runs_in() { find "$1" -mindepth 1 -maxdepth 1 | wc -l; }

# train RANKS RUNS_DIR OPTION…: without mpirun for 1.
train() {
  local n=$1 runs=$2
  shift 2
  if [ "$n" = 1 ]; then
    "$trainer" $small --runs-dir "$runs" "$@"
  else
    ranks "$n" --runs-dir "$runs" "$@"
  fi
}

# Waits until the run in runs/ has a checkpoint from which it can continue.
await_checkpoint() { await compgen -G 'runs/*/checkpoints/epoch_*.safetensors' >/dev/null; }

# The part of metrics.csv without times: epoch, step, loss, learning rate.
curve() { cut -d, -f1-4 "$1"/metrics.csv; }

# What run.json records for each epoch, without times.
epochs() {
  python3 -c '
import json, sys
for epoch in json.load(open(sys.argv[1]))["epochs"]:
    print({key: value for key, value in epoch.items() if "second" not in key})' "$1/run.json"
}

# equal ONE OTHER: both runs have the same losses at each step, bit for bit, the same epochs and the same model.
equal() {
  diff <(curve "$1") <(curve "$2")
  cmp "$1/model.safetensors" "$2/model.safetensors"
  epochs "$1" >epochs.one
  grep -q validation_accuracy epochs.one
  diff epochs.one <(epochs "$2")
}

# Makes a run look as if it had been killed after the checkpoint at STEP: only that checkpoint is left. Rows, epochs and
# files that a killed run would have written afterwards remain.
cut_back_to() {
  local folder=$1 step=$2 file
  for file in "$folder"/checkpoints/epoch_*; do
    [[ $file == *_step_$(printf %08d "$step").safetensors ]] || rm "$file"
  done
  sed -i 's/"exit_reason": "[^"]*"/"exit_reason": "running"/' "$folder/run.json"
  rm -f "$folder/model.safetensors"
}

@test "an interrupted run has the losses of one that was not, bit for bit: every optimizer, 1 rank" {
  for options in "--optimizer adam --schedule cosine --warmup-steps 3" "--optimizer sgd --lr 0.01 --clip-grad-norm 1" \
    "--optimizer adamw --accumulate 2" "--precision bf16 --optimizer sgd --momentum 0"; do
    rm -rf whole parts
    step=$((RANDOM % 39 + 1))
    echo "$options, interrupted after step $step"
    train 1 whole $options --checkpoint-every 0 >/dev/null
    train 1 parts $options --checkpoint-every 1s --keep-checkpoints 100 >/dev/null
    cut_back_to parts/* "$step"
    train 1 parts $options --resume auto >out
    grep -q "^resumed from .*_step_$(printf %08d "$step").safetensors: epoch [12], after step $step\$" out
    equal whole/* parts/*
    [ "$(runs_in parts)" = 1 ]
    [ "$(value parts/* "['resumed'][0]['step']")" = "$step" ]
    # The run had done all 40 steps before it was cut back.
    [ "$(value parts/* "['resumed'][0]['steps_again']")" = $((40 - step)) ]
    grep -q "^at least $((40 - step)) steps\? of the previous start \(are\|is\) lost and will be repeated\$" out
    [ "$(value parts/* "['exit_reason']")" = finished ]
    [ "$(value parts/* "['epochs'].__len__()")" = 2 ]
    [ "$(value parts/* "['totals']['images']")" = 1280 ]
  done
}

@test "TensorBoard shows each step and each epoch of an interrupted run once" {
  options="--data $data $model --epochs 3 --checkpoint-every 15s --keep-checkpoints 9"
  "$trainer" $options --runs-dir runs >/dev/null
  # The lost start had recorded the second and the third epoch, which are now recorded again.
  cut_back_to runs/* 30
  "$trainer" $options --runs-dir runs --resume auto >/dev/null
  read_events runs/*
  diff <(grep '^step/loss ' <<<"$events" | cut -d' ' -f2) <(seq 60)
  diff <(grep '^step/loss ' <<<"$events" | cut -d' ' -f3) <(tail -n +2 runs/*/metrics.csv | cut -d, -f3 | python3 -c '
import struct, sys
for line in sys.stdin: print("%.6g" % struct.unpack("f", struct.pack("f", float(line))))')
  for tag in train_loss validation_loss validation_accuracy; do
    diff <(grep "^epoch/$tag " <<<"$events" | cut -d' ' -f2) <(seq 20 20 60)
    diff <(grep "^epoch/$tag " <<<"$events" | cut -d' ' -f3) <(for i in 0 1 2; do value runs/* "['epochs'][$i]['$tag']"; done |
      python3 -c 'import sys; [print("%.6g" % float(line)) for line in sys.stdin]')
  done
}

@test "2 ranks: bit for bit" {
  need_mpirun
  step=$((RANDOM % 39 + 1))
  echo "interrupted after step $step"
  train 2 whole --checkpoint-every 0 >/dev/null
  train 2 parts --checkpoint-every 1s --keep-checkpoints 100 >/dev/null
  cut_back_to parts/* "$step"
  train 2 parts --resume auto
  equal whole/* parts/*
}

@test "resnet50 with its batch norms, with and without checkpointed activations: bit for bit" {
  resnet="--data $data --image-size 32 --batch-size 8 --limit-samples 32 --threads 1 --epochs 2 --no-tensorboard"
  "$trainer" $resnet --runs-dir whole >/dev/null
  "$trainer" $resnet --runs-dir parts --checkpoint-every 3s --keep-checkpoints 9 >/dev/null
  cut_back_to parts/* 6
  "$trainer" $resnet --runs-dir parts --resume auto --checkpoint-activations >/dev/null
  equal whole/* parts/*
}

@test "3 ranks: within 1e-6, and bit for bit with --deterministic" {
  need_mpirun
  for option in "" --deterministic; do
    rm -rf whole parts
    train 3 whole --batch-size 24 $option >/dev/null
    train 3 parts --batch-size 24 $option --checkpoint-every 10s --keep-checkpoints 9 >/dev/null
    cut_back_to parts/* 10
    train 3 parts --batch-size 24 $option --resume auto >/dev/null
    if [ -n "$option" ]; then
      equal whole/* parts/*
    else
      run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 54 whole/*/metrics.csv parts/*/metrics.csv 1e-6
      echo "$output"
      [ "$status" -eq 0 ]
    fi
  done
}

@test "another number of ranks goes on with the samples that are left" {
  need_mpirun
  train 1 whole --batch-size 24 --limit-samples 600 >/dev/null
  for ranks in "1 2" "2 1" "4 3"; do
    rm -rf parts
    train ${ranks% *} parts --batch-size 24 --limit-samples 600 --checkpoint-every 13s --keep-checkpoints 9 >/dev/null
    cut_back_to parts/* 13
    train ${ranks#* } parts --batch-size 24 --limit-samples 600 --resume auto >/dev/null
    run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 50 whole/*/metrics.csv parts/*/metrics.csv
    echo "$ranks: $output"
    [ "$status" -eq 0 ]
    [ "$(value parts/* "['resumed'][0]['world_size']")" = "${ranks#* }" ]
    [ "$(value parts/* "['ranks'].__len__()")" = "${ranks#* }" ]
  done
}

@test "each signal ends the run cleanly with exit code 46, and it goes on" {
  # The long run is resumed each time; a signal to one rank suffices.
  "$trainer" $long --runs-dir runs --checkpoint-every 0 >out 2>&1 &
  job=$!
  before=0
  for signal in TERM INT USR1 USR2 HUP; do
    await has_line out 'first step done'
    kill -s $signal "$job"
    status=0
    wait "$job" || status=$?
    cat out
    [ "$status" -eq 46 ]
    [ "$(value runs/* "['exit_reason']")" = "signal $signal" ]
    grep -q "^stopped (signal $signal) after step [0-9]*, saved as epoch_.*; to continue: --resume runs/" out
    step=$(sed -n 's/^stopped .* after step \([0-9]*\),.*/\1/p' out)
    [ "$step" -gt "$before" ]
    [ "$(tail -n 1 runs/*/metrics.csv | cut -d, -f2)" = "$step" ]
    before=$step
    # A background job of a shell without job control ignores SIGINT; the trainer catches it all the same.
    rm out
    "$trainer" $long --runs-dir runs --checkpoint-every 0 --resume runs/* >out 2>&1 &
    job=$!
  done
  await has_line out 'first step done'
  kill -KILL "$job"
  wait "$job" || true
  [ "$(value runs/* "['resumed'].__len__()")" = 5 ]
  # A run that ends cleanly loses nothing.
  [ "$(value runs/* "['resumed'][4]['steps_again']")" = 0 ]
  [ "$(cut -d, -f2 runs/*/metrics.csv | tail -n +2 | uniq -d | wc -l)" = 0 ]
}

@test "a signal that comes before the first step is kept until then" {
  mkfifo config
  for signal in USR1 TERM INT USR2 HUP; do
    rm -rf runs
    "$trainer" $long --runs-dir runs --config config >out 2>&1 &
    job=$!
    # Opened once the program reads it, at its very start.
    exec {end}>config
    for _ in 1 2 3; do kill -s $signal "$job"; done
    exec {end}>&-
    status=0
    wait "$job" || status=$?
    cat out
    [ "$status" -eq 46 ]
    grep -q "^stopped (signal $signal) after step 1, " out
    [ "$(value runs/* "['exit_reason']")" = "signal $signal" ]
  done
}

@test "under nohup a run does not end when its session does" {
  nohup "$trainer" $long --runs-dir runs >out 2>&1 &
  job=$!
  await has_line out 'first step done'
  kill -HUP "$job"
  steps() { tail -n 1 runs/*/metrics.csv | cut -d, -f2; }
  before=$(steps)
  goes_on() { [ "$(steps)" -gt "$((before + 10))" ]; }
  await goes_on
  kill -TERM "$job"
  status=0
  wait "$job" || status=$?
  cat out
  [ "$status" -eq 46 ]
  [ "$(value runs/* "['exit_reason']")" = "signal TERM" ]
}

# rank_of_2 N OPTION…: rank N in the background, described by RANK, WORLD_SIZE and the like.
rank_of_2() {
  local rank=$1
  shift
  env RANK="$rank" WORLD_SIZE=2 LOCAL_RANK="$rank" LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" \
    "$trainer" $long --runs-dir runs "$@" &
  job=$!
}

# PID waits for other ranks: it has a socket.
has_socket() { find "/proc/$1/fd" -lname 'socket:*' | grep -q .; }

@test "while ranks wait for each other a warning is kept, and SIGTERM, SIGINT and SIGHUP end them at once" {
  port=$(free_port)
  rank_of_2 0 >out 2>&1
  first=$job
  await has_socket "$first"
  kill -USR1 "$first"
  rank_of_2 1 >out.1 2>&1
  for one in "$first" "$job"; do
    status=0
    wait "$one" || status=$?
    cat out out.1
    [ "$status" -eq 46 ]
  done
  grep -q '^stopped (signal USR1) after step 1, ' out
  for signal in TERM INT HUP; do
    rank_of_2 0 --start-up-timeout 300 >out 2>&1
    await has_socket "$job"
    kill -s $signal "$job"
    begin=$SECONDS
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 46 ]
    [ $((SECONDS - begin)) -lt 60 ]
  done
}

# signal_rank_1: sends SIGUSR1 to rank 1 of the run in runs/, whose job $job writes to out: both ranks stop, with 46.
signal_rank_1() {
  local status=0
  await_first_steps runs
  kill -USR1 "$(value runs/* "['ranks'][1]['pid']")"
  wait "$job" || status=$?
  cat out
  [ "$status" -eq 46 ]
  [ "$(value runs/* "['exit_reason']")" = "signal USR1" ]
}

@test "2 ranks: a signal to one of them stops both after one step, with exit code 46" {
  need_mpirun
  mpirun -np 2 --oversubscribe "$trainer" $long --runs-dir runs >out 2>&1 &
  job=$!
  signal_rank_1
  grep -q 'end: signal USR1' runs/*/rank_01.log
  run -46 mpirun -np 2 --oversubscribe "$trainer" $long --runs-dir runs --resume auto --time-limit 1
  [ "$(value runs/* "['exit_reason']")" = "time limit" ]
}

@test "a run that is stopped in a validation goes on with it: 1 and 2 ranks" {
  need_mpirun
  # 5 steps an epoch, and a validation that takes seconds. The signal goes to the last process of the job.
  local validating="--data synthetic:60000x1x28x28 --data-fraction 0.002 --batch-size 24 --checkpoint-every 0"
  for n in 1 2; do
    rm -rf whole runs
    train $n whole $validating >/dev/null
    for epoch in 1 2; do
      step=$((5 * epoch))
      train $n runs $validating --resume auto >out 2>&1 &
      job=$!
      # The pids are read in the epoch before, so that the signal is sent as soon as the validation has begun.
      await has_line 'runs/*/metrics.csv' "^$epoch,$((step - 4)),"
      mapfile -t all < <(pids)
      await has_line 'runs/*/metrics.csv' "^$epoch,$step,"
      kill -USR1 "${all[-1]}"
      status=0
      wait "$job" || status=$?
      cat out
      [ "$status" -eq 46 ]
      saved=$(printf 'epoch_%04d_step_%08d.safetensors' $((epoch - 1)) $step)
      grep -q "^stopped (signal USR1) after step $step, saved as $saved;" out
      [ "$(value runs/* "['epochs'].__len__()")" = $((epoch - 1)) ]
    done
    grep -q '^resumed from .*epoch_0000_step_00000005.safetensors: epoch 1, after step 5$' out
    train $n runs $validating --resume auto >out
    grep -q '^resumed from .*epoch_0001_step_00000010.safetensors: epoch 2, after step 10$' out
    equal whole/* runs/*
    [ "$(runs_in runs)" = 1 ]
    [ "$(value runs/* "['totals']['images']")" = 240 ]
  done
}

# Sets $slow, a library for LD_PRELOAD with which each sync of a file of tensors takes 8 s, and leaves the file `syncing`.
make_slow_disk() {
  command -v cc >/dev/null || skip "no cc on this machine"
  slow=$PWD/slow_disk.so
  cc -shared -fPIC -o "$slow" -x c - -ldl <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int fsync(int file) {
  char link[64], name[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, ".safetensors")) {
    close(open("syncing", O_CREAT, 0600));
    sleep(8);
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
EOF
}

@test "2 ranks: all wait for a disk that takes longer than the collective timeout" {
  need_mpirun
  make_slow_disk
  on_slow_disk() { LD_PRELOAD=$slow mpirun -np 2 --oversubscribe "$trainer" $long --collective-timeout 5 --runs-dir runs "$@"; }
  # In a save, which waits for the one before; at the end; and for the model.
  on_slow_disk --epochs 1 --limit-samples 32 --checkpoint-every 6s
  [ "$(value runs/* "['exit_reason']")" = finished ]
  [ "$(cd runs/* && ls checkpoints model.safetensors)" = $'model.safetensors\n\ncheckpoints:\nbest.safetensors\nepoch_0000_step_00000006.safetensors\nepoch_0001_step_00000008.safetensors' ]
  for sharded in "" --sharded-checkpoints; do
    rm -rf runs
    on_slow_disk --checkpoint-every 0 $sharded >out 2>&1 &
    job=$!
    signal_rank_1
    [ "$(find runs/*/checkpoints -name 'epoch_*' | wc -l)" -eq 1 ]
  done
}

@test "2 ranks: a rank that is stopped while it writes does not hold the other" {
  need_mpirun
  make_slow_disk
  LD_PRELOAD=$slow mpirun -np 2 --oversubscribe "$trainer" $long --collective-timeout 5 --runs-dir runs --checkpoint-every 0 >out 2>&1 &
  job=$!
  await_first_steps runs
  first=$(value runs/* "['ranks'][0]['pid']")
  kill -USR1 "$first"
  await [ -e syncing ]
  kill -STOP "$first"
  AWAIT_SECONDS=60 await has_line out 'rank 1 of 2 on'
  kill -CONT "$first" 2>/dev/null || true
  status=0
  wait "$job" || status=$?
  cat out
  [ "$status" -ne 0 ]
  [ "$status" -ne 46 ]
  grep -q "rank 0 of 2 on $(hostname) (pid $first) is stopped" out
  grep -q 'error 32 (deadline_exceeded)' out
}

@test "a second signal ends the run at once" {
  # Its step never ends: it waits for a rank that is stopped.
  need_mpirun
  mpirun -np 2 --oversubscribe "$trainer" $long --runs-dir runs >out 2>&1 &
  job=$!
  await_first_steps runs
  first=$(value runs/* "['ranks'][0]['pid']")
  other=$(value runs/* "['ranks'][1]['pid']")
  kill -STOP "$other"
  kill -USR1 "$first"
  end=$((SECONDS + 30))
  while kill -0 "$first" 2>/dev/null; do
    ((SECONDS < end)) || fail "rank 0 is still running" || return
    sleep 1
    kill -USR1 "$first" 2>/dev/null || true
  done
  kill -CONT "$other" 2>/dev/null || true
  status=0
  wait "$job" || status=$?
  [ "$status" -eq 138 ]
}

@test "--time-limit leaves in time, with exit code 46" {
  "$trainer" $long --runs-dir runs --time-limit 0:08 >out 2>&1 &
  job=$!
  # Measured from here: on a busy machine, loading the program may take longer than that.
  await has_line out '^run folder'
  begin=$SECONDS
  status=0
  wait "$job" || status=$?
  [ "$status" -eq 46 ]
  [ $((SECONDS - begin)) -le 9 ]
  [ "$(value runs/* "['exit_reason']")" = "time limit" ]
  [ -n "$(ls runs/*/checkpoints/)" ]
}

@test "--time-limit counts from the start of the process, however long its start takes" {
  # What the process does before it becomes the trainer simulates a slow load of LibTorch.
  # shellcheck disable=SC2016 # for the inner shell
  run -46 bash -c 'sleep 5 && exec "$@"' bash "$trainer" $long --runs-dir runs --time-limit 4
  [[ $output == *"stopped (time limit) after step 1, saved as"* ]]
  [ "$(value runs/* "['totals']['runtime_seconds'] > 5")" = True ]
}

@test "a kill -9 at any moment of a save leaves a checkpoint that can be read: 50 times" {
  # Every step saves, so almost every moment is during a save.
  "$trainer" $long --runs-dir runs --checkpoint-every 1s >out 2>&1 &
  job=$!
  await_checkpoint
  last=0
  for ((kills = 1; kills <= 50; ++kills)); do
    sleep "0.$(printf %03d $((RANDOM % 200)))"
    kill -KILL "$job"
    wait "$job" || true
    rm out
    "$trainer" $long --runs-dir runs --checkpoint-every 1s --resume auto >out 2>&1 &
    job=$!
    await has_line out 'first step done'
    run ! grep -E 'cannot be used|new run' out
    step=$(sed -n 's/^resumed from .* after step \([0-9]*\)$/\1/p' out)
    # The same step if the run was killed before its first save was on disk.
    [ "$step" -ge "$last" ] || fail "kill $kills: resumed after step $step, before that after $last" "$(cat out)"
    last=$step
  done
  [ "$last" -gt 10 ]
  kill -KILL "$job"
  wait "$job" || true
  [ "$(runs_in runs)" = 1 ]
  # The rows are those of a single run: each step once.
  diff <(cut -d, -f2 runs/*/metrics.csv | tail -n +2 | head -n "$last") <(seq "$last")
}

@test "a checkpoint within an epoch is no part of training: the parts of a run are not longer than it" {
  "$trainer" --data synthetic:24x3x32x32 --task cifar --model resnet18 --image-size 32 --batch-size 4 --epochs 1 \
    --checkpoint-every 1s --no-tensorboard --device cpu --runs-dir runs
  python3 - runs/*/run.json <<'END'
import json, sys
totals = json.load(open(sys.argv[1]))["totals"]
parts = [totals[name + "_seconds"] for name in ("start_up", "train", "validation", "checkpoint")]
assert totals["checkpoint_seconds"] > 0, totals
assert sum(parts) <= totals["runtime_seconds"] + 1e-3, totals
END
}

@test "the newest checkpoints and the best one are kept" {
  train 1 runs --epochs 4 --keep-checkpoints 2 >/dev/null
  cd runs/*/checkpoints
  [ "$(ls -A)" = $'best.safetensors\nepoch_0003_step_00000060.safetensors\nepoch_0004_step_00000080.safetensors' ] || fail "$(ls -A)"
  python3 - "$PWD" <<'PY'
import json, struct, sys
folder = sys.argv[1]
raw = open(folder + "/best.safetensors", "rb").read()
meta = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]
state = json.loads(meta["state"])
epochs = json.load(open(folder + "/../run.json"))["epochs"]
best = max(epochs, key=lambda e: (e["validation_accuracy"], -e["validation_loss"]))
assert state["best"]["epoch"] == best["epoch"] == state["epoch"] - 1, (state["best"], best)
PY
}

@test "--resume auto takes the run of the same options, and none that is in use" {
  train 1 runs --resume auto >out
  grep -q '^no unfinished run of this configuration in runs: starting a new run$' out
  cut_back_to runs/* 20
  # Other options, another comment, another number of epochs: a new run each.
  train 1 runs --resume auto --lr 1e-3 >out
  grep -q 'starting a new run' out
  train 1 runs --resume auto --comment other >out
  grep -q 'starting a new run' out
  train 1 runs --resume auto --epochs 3 >out
  grep -q 'starting a new run' out
  [ "$(runs_in runs)" = 4 ]
  # Copied data are the same data.
  cp -r "$data" copy
  train 1 runs --resume auto --data copy >out
  grep -q '^resumed from' out
  [ "$(runs_in runs)" = 4 ]

  "$trainer" $long --runs-dir busy --checkpoint-every 1s >first 2>&1 &
  job=$!
  await_first_steps busy
  run -48 "$trainer" $long --resume busy/*
  [[ $output == *"is in use by process $job on"* ]]
  rm out
  "$trainer" $long --runs-dir busy --resume auto --checkpoint-every 0 >out 2>&1 &
  other=$!
  await has_line out 'first step done'
  kill -KILL "$job" "$other"
  grep -q "is skipped: in use by process $job on" out
  grep -q 'starting a new run' out
  [ "$(runs_in busy)" = 2 ]
}

@test "on a file system without locks runs are trained, with a note, and what a crash leaves is reported" {
  command -v cc >/dev/null || skip "no cc on this machine"
  printf '#include <errno.h>\nint flock(int fd, int how) { errno = ENOLCK; return -1; }\n' | cc -shared -fPIC -o no_locks.so -x c -
  export LD_PRELOAD=$PWD/no_locks.so
  train 1 whole >out
  grep -q '^the file system of whole does not support locks: two jobs ' out
  "$trainer" $long --runs-dir runs --checkpoint-every 1s >first 2>&1 &
  job=$!
  await_first_steps
  await_checkpoint
  run -48 "$trainer" $long --resume runs/*
  [[ $output == *"is in use by process $job on"*"the file system does not support locks: if that process is gone, remove runs/"*/run.lock* ]]
  # On this host, the end of the process can be determined.
  kill -KILL "$job"
  wait "$job" || true
  run -46 "$trainer" $long --runs-dir runs --resume auto --time-limit 1
  [[ $output == *"resumed from "* && $output == *"the file system of runs does not support locks"* ]]
  # On another host it cannot.
  echo '{"host": "elsewhere", "pid": 7, "job_id": "12"}' | tee runs/*/run.lock
  run -46 "$trainer" $long --runs-dir runs --resume auto --time-limit 1
  [[ $output == *"in use by process 7 on elsewhere, job 12; the file system does not support locks: "*"remove runs/"*"starting a new run"* ]]
}

@test "two tasks of a sweep go on with their own run each" {
  for task in 0 1; do train 1 runs --comment "task $task" --checkpoint-every 7s >/dev/null; done
  for task in 0 1; do cut_back_to runs/*task-$task 35; done
  for task in 0 1; do
    train 1 runs --comment "task $task" --resume auto >out
    grep -q "^resumed from runs/.*_task-$task/checkpoints/" out
  done
  [ "$(runs_in runs)" = 2 ]
}

@test "a damaged newest checkpoint: the one before it is taken, and a line says so" {
  train 1 whole >/dev/null
  for damage in 'truncate -s -100' 'dd conv=notrunc bs=1 seek=900000 if=/dev/zero count=1000 status=none of='; do
    rm -rf runs
    train 1 runs --checkpoint-every 15s >/dev/null
    sed -i 's/"finished"/"running"/' runs/*/run.json
    if [[ $damage == dd* ]]; then
      $damage"$(echo runs/*/checkpoints/*_step_00000040.safetensors)"
    else
      $damage runs/*/checkpoints/*_step_00000040.safetensors
    fi
    train 1 runs --resume auto >out
    cat out
    grep -q '^checkpoint epoch_0002_step_00000040.safetensors cannot be used: ' out
    grep -q '^resumed from .*epoch_0001_step_00000030.safetensors' out
    equal whole/* runs/*
  done
  # No checkpoint is left: a named run is an error, auto starts a new run.
  sed -i 's/"finished"/"running"/' runs/*/run.json
  for file in runs/*/checkpoints/*; do echo nothing >"$file"; done
  run -28 train 1 runs --resume runs/*
  [[ $output == *"no usable checkpoint"* ]]
  train 1 runs --resume auto >out
  grep -q 'starting a new run' out
}

# A run of 3 epochs in runs/, killed after the last one; the first is the best. The following epochs must be trained
# again, with the same losses.
killed_after_its_best() {
  train "$1" runs --epochs 3 >/dev/null
  # The best checkpoint is a hard link to a regular one.
  cp --remove-destination runs/*/checkpoints/{epoch_0001_step_00000020,best}.safetensors
  sed -i 's/"finished"/"running"/' runs/*/run.json
}

@test "if all checkpoints but the best are damaged, the message has the option that takes it" {
  train 1 whole --epochs 3 >/dev/null
  killed_after_its_best 1
  for file in runs/*/checkpoints/epoch_*; do truncate -s -100 "$file"; done
  run -28 train 1 runs --epochs 3 --resume runs/*
  echo "$output"
  [[ $output =~ (--resume\ runs/[^\ ]*/checkpoints/best.safetensors)" continues from its best epoch, 1 (step 20)" ]]
  option=${BASH_REMATCH[1]}
  cp -r runs others
  train 1 others --epochs 3 --resume auto >out
  grep -q "^run .* has no other usable checkpoint: --resume others/.*/best.safetensors continues from " out
  grep -q 'starting a new run' out
  train 1 runs --epochs 3 $option >out
  cat out
  grep -q '^resumed from runs/.*/checkpoints/best.safetensors: epoch 2, after step 20$' out
  grep -q '^at least 40 steps of the previous start are lost and will be repeated$' out
  equal whole/* runs/*
  [ "$(value runs/* "['resumed'][0]['checkpoint']")" = best.safetensors ]
}

@test "--resume best goes back, and what came after it goes: 1 and 2 ranks" {
  for n in 1 2; do
    if [ "$n" = 2 ]; then need_mpirun; fi
    rm -rf whole runs
    train "$n" whole --epochs 3 >/dev/null
    killed_after_its_best "$n"
    # Stopped before its first checkpoint: what it went back to is left.
    run -46 train "$n" runs --epochs 3 --resume best --checkpoint-every 0 --time-limit 1
    echo "$output"
    [[ $output == *"resumed from runs/"*"/checkpoints/best.safetensors: epoch 2, after step 20"* ]]
    [ "$(cd runs/*/checkpoints && echo *)" = "best.safetensors epoch_0001_step_00000020.safetensors epoch_0001_step_00000021.safetensors" ]
    [ "$(tail -n 1 runs/*/metrics.csv | cut -d, -f2)" = 21 ]
    train "$n" runs --epochs 3 --resume auto >out
    grep -q '^resumed from .*_step_00000021.safetensors' out
    equal whole/* runs/*
  done
  run -27 train 1 nowhere --resume best
  [[ $output == *"no unfinished run of this configuration in nowhere with a usable best.safetensors"* ]]
}

@test "a run of another configuration is refused, naming each option with both values" {
  train 1 runs >/dev/null
  sed -i 's/"finished"/"running"/' runs/*/run.json
  run -2 train 1 runs --resume runs/* --lr 0.5 --seed 3 --model resnet50 --limit-samples 64
  echo "$output"
  [[ $output == *"--lr is 0.5, but 0.0001 in the run"* ]]
  [[ $output == *"--seed is 3, but 1234 in the run"* ]]
  [[ $output == *"--model is resnet50, but mnistnet in the run"* ]]
  [[ $output == *"--data is 64 images"*"but 640 images"* ]]
  run -2 train 1 runs --resume runs/* --epochs 1
  [[ $output == *"--epochs is 1, but 2 in the run"* ]]
  run -27 train 1 runs --resume nowhere
  for bad in "--checkpoint-every x" "--checkpoint-every -1" "--checkpoint-every 3h" "--keep-checkpoints 0" \
    "--time-limit 0" "--time-limit 1:60" "--time-limit soon"; do
    run -2 "$trainer" --data "$data" $bad
    [[ $output == *"${bad%% *}"* ]]
  done
}

@test "a run of a model with batch norms continues only with passes of the same size, others with any" {
  resnet="--data $data --model resnet18 --image-size 32 --batch-size 8 --limit-samples 16 --threads 1 --no-tensorboard"
  "$trainer" $resnet --runs-dir runs >/dev/null
  run -2 "$trainer" $resnet --epochs 2 --resume runs/* --micro-batch 4
  [[ $output == *"--micro-batch is 4, but a rank's share of the batch in the run"* ]]
  run -2 "$trainer" $resnet --epochs 2 --resume runs/* --accumulate 2
  [[ $output == *"--micro-batch is a rank's share in 2 passes, but a rank's share of the batch in the run"* ]]
  "$trainer" $resnet --epochs 2 --resume runs/* >/dev/null
  "$trainer" $small --epochs 1 --limit-samples 64 --runs-dir other >/dev/null
  "$trainer" $small --epochs 2 --limit-samples 64 --resume other/* --micro-batch 16 >/dev/null
}

@test "data of which any label has changed are refused, and those in another place are not" {
  train 1 runs --epochs 1 >/dev/null
  cp -r "$data" moved
  cp -r "$data" changed
  python3 - changed/train-labels-idx1-ubyte <<'TEXT'
import sys
raw = bytearray(open(sys.argv[1], "rb").read())
raw[8 + 1] ^= 1  # of the second image, which is not one of the eight
open(sys.argv[1], "wb").write(raw)
TEXT
  run -2 train 1 runs --epochs 2 --resume runs/* --data changed
  echo "$output"
  [[ $output == *"the labels' checksum is "*", but "*" in the run"* && $output != *"--data is"* ]]
  train 1 runs --epochs 2 --resume runs/* --data moved >/dev/null
}

@test "a finished run is not resumed, unless more epochs are requested" {
  train 1 runs >/dev/null
  run -2 train 1 runs --resume runs/*
  [[ $output == *"is finished, after 2 epochs"*"larger --epochs"* ]]
  train 1 whole --epochs 3 >/dev/null
  train 1 runs --epochs 3 --resume "$(basename runs/*)" >/dev/null
  equal whole/* runs/*
}
