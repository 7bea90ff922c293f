#!/usr/bin/env bats
# Complete runs of the trainer on each kind of data, and its verbs for data files.
# shellcheck disable=SC2154 # $trainer and $model are set in helper.bash

load helper

setup_file() { use_programs; }

losses() { cut -d, -f3 "$1"/metrics.csv; }

@test "synthetic images are learnt, of three channels by two ranks as well" {
  need_mpirun
  # shellcheck disable=SC2086 # options, meant to be split
  mpirun -np 2 --oversubscribe "$trainer" $model --data synthetic:640x3x28x28 --lr 1e-3 --epochs 2
  python3 - runs/*/run.json <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert (run["train_samples"], run["validation_samples"]) == (640, 106), run
assert run["epochs"][-1]["validation_accuracy"] > 0.9, run["epochs"]
PY
}

@test "data of an unknown kind is reported, with the kinds that are accepted" {
  echo hello >notes.txt
  # shellcheck disable=SC2086
  run "$trainer" $model --data notes.txt
  [ "$status" -eq 40 ]
  [[ $output == *"notes.txt' identifies its format"*"synthetic:NxCxHxW"* ]]
}

@test "a run on any format has the losses of MNIST's files" {
  "$trainer" digits mnist --train 320 --test 60 >/dev/null
  "$trainer" convert mnist a.h5
  "$trainer" convert a.h5 b.h5 --chunk 7 --compress 4
  "$trainer" convert b.h5 c.safetensors
  "$trainer" convert c.safetensors d.pt
  "$trainer" convert d.pt e
  for data in mnist b.h5 c.safetensors d.pt e; do
    rm -rf runs
    # shellcheck disable=SC2086
    "$trainer" $model --data $data >/dev/null
    losses runs/* >"losses.$data"
    cmp "losses.mnist" "losses.$data"
  done
  [ "$(wc -l <losses.mnist)" -eq 11 ]
}

@test "floats that are not from 0 to 1 are trained on, with a warning" {
  for scale in 1 255; do
    python3 - "$scale" <<'PY'
import array, json, struct, sys
header, blob = {}, b""
for name, kind, shape, data in (
    ("images", "F32", [32, 1, 8, 8], array.array("f", [i % 97 / 96 * int(sys.argv[1]) for i in range(2048)])),
    ("labels", "U8", [32], bytes(i % 10 for i in range(32)))):
    for half in ("train", "test"):
        header[f"{half}/{name}"] = {"dtype": kind, "shape": shape, "data_offsets": [len(blob), len(blob) + len(bytes(data))]}
        blob += bytes(data)
text = json.dumps(header).encode()
open(f"{sys.argv[1]}.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + blob)
PY
    # shellcheck disable=SC2086
    "$trainer" $model --data $scale.safetensors --epochs 1 >out.$scale
  done
  run ! grep -q warning: out.1
  grep -q "^warning: the pixels of '255.safetensors' are from 0 to 255, but floats are expected from 0 to 1: --task mnist" out.255
}

@test "convert overwrites nothing without --force, and names the accepted formats" {
  "$trainer" convert synthetic:20x1x8x8 a.safetensors
  run "$trainer" convert synthetic:20x1x8x8 a.safetensors
  [ "$status" -eq 42 ]
  [[ $output == *"a.safetensors' already exists"*--force* ]]
  "$trainer" convert synthetic:24x1x8x8 a.safetensors --force
  run "$trainer" convert a.safetensors b.txt
  [ "$status" -eq 42 ]
  [[ $output == *"b.txt"*"a name ending in .h5"* ]]
  for bad in "" "a.safetensors" "a b c" "a b.h5 --compress 10" "a b.h5 --chunk -1"; do
    # shellcheck disable=SC2086
    run "$trainer" convert $bad
    echo "$bad: $status $output"
    [ "$status" -eq 2 ]
  done
}

@test "the progress of convert stays on one line of a narrow terminal" {
  command -v script >/dev/null || skip "no script(1) on this machine"
  script -qec "stty cols 40 rows 24; $trainer convert synthetic:20x1x8x8 a.safetensors" /dev/null | tr '\r' '\n' >shown
  grep -a '^converting \[#' shown | tee lines
  [ "$(wc -L <lines)" -le 39 ]
}

@test "under a launcher rank 0 converts, and all ranks end with its exit code" {
  need_mpirun
  run mpirun -np 2 --oversubscribe "$trainer" convert synthetic:20x1x8x8 a.safetensors
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"23 images in a.safetensors"* ]]
  # shellcheck disable=SC2016 # for the ranks' shell
  run mpirun -np 2 --oversubscribe sh -c '"$0" convert synthetic:20x1x8x8 a.safetensors; echo "code $?"' "$trainer"
  echo "$output"
  [ "$(grep -o 'code 42' <<<"$output" | wc -l)" -eq 2 ]
  [ "$(grep -o 'already exists' <<<"$output" | wc -l)" -eq 1 ]
}

@test "inspect shows the contents of a file" {
  "$trainer" convert synthetic:20x1x8x8 a.h5 --compress 1
  run "$trainer" inspect a.h5
  [ "$status" -eq 0 ]
  [[ $output == *"train/images  uint8  20 x 1 x 8 x 8  20 x 1 x 8 x 8  gzip 1, fletcher32"* ]]
  [[ $output == *"train: 20 images of 1x8x8 (uint8)"*"label "*░* ]]
  "$trainer" inspect a.h5 --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["arrays"]) == 4'
  run "$trainer" inspect none.h5
  [ "$status" -eq 40 ]
}

@test "pictures are drawn in CIFAR's format, and convert keeps their 100 classes" {
  "$trainer" pictures ten --train 50 --test 10 >out
  grep -qx "50 + 10 images of 10 classes in ten" out
  [ "$(find ten -name 'data_batch_*.bin' -size +0 | wc -l)" -eq 5 ]
  "$trainer" pictures hundred --train 300 --test 200 --classes 100 >/dev/null
  [ "$(stat -c %s hundred/test.bin)" -eq $((200 * 3074)) ]
  "$trainer" convert hundred a.safetensors
  for set in hundred a.safetensors; do
    run "$trainer" inspect $set
    [[ $output == *"train: 300 images of 3x32x32 (uint8), 100 classes"* ]]
  done
  mkdir named
  echo mine >named/batches.meta.txt
  for bad in "" "ten --train 10" "named --train 10 --test 5" "more --classes 20" "more --train 0" "more --test 10000001"; do
    # shellcheck disable=SC2086
    run "$trainer" pictures $bad
    echo "$bad: $status $output"
    [ "$status" -eq "$([[ $bad == ten* || $bad == named* ]] && echo 42 || echo 2)" ]
  done
  [ "$(ls -A named)" = batches.meta.txt ]
  [ "$(cat named/batches.meta.txt)" = mine ]
  run "$trainer" digits more --train 3000000000
  [ "$status" -eq 2 ]
  [[ $output == *"from 1 to 10000000"* ]]
}

@test "inspect --json is JSON whatever the names in a file are" {
  "$trainer" convert synthetic:20x1x8x8 a.pt
  LC_ALL=C sed -i 's,test/labels,test/label\xff,' a.pt
  "$trainer" inspect a.pt --json >out
  python3 - <<'PY'
import json
found = json.loads(open("out", encoding="utf-8").read())
assert "test/label\ufffd" in [array["name"] for array in found["arrays"]], found
assert "has no array 'test/labels'" in found["remark"], found
PY
}

@test "a run leaves events that TensorBoard reads, unless disabled" {
  # shellcheck disable=SC2086
  "$trainer" $model --data synthetic:64x1x28x28 --epochs 2
  # shellcheck disable=SC2086
  "$trainer" $model --data synthetic:64x1x28x28 --no-tensorboard --comment none
  [ "$(find runs -name 'events.out.tfevents.*' | wc -l)" -eq 1 ]
  read_events runs/*1x1
  [ "$(grep -c '^step/loss ' <<<"$events")" -eq 4 ]
  [ "$(grep -c '^epoch/validation_accuracy ' <<<"$events")" -eq 2 ]
  [[ $events == *"config text "* ]]
}

@test "every rank is reported in a line at the start" {
  need_mpirun
  # shellcheck disable=SC2086
  run mpirun -np 2 --oversubscribe "$trainer" $model --data synthetic:64x1x28x28
  echo "$output"
  [ "$status" -eq 0 ]
  host=$(hostname)
  for rank in 0 1; do
    grep -qE "^rank $rank of 2: host $host, pid [0-9]+, local rank $rank, device cpu, gloo over [a-z0-9]+$" <<<"$output"
  done
  # shellcheck disable=SC2086
  "$trainer" $model --data synthetic:64x1x28x28 >out
  grep -qE "^rank 0 of 1: host $host, pid [0-9]+, local rank 0, device cpu, alone$" out
}
