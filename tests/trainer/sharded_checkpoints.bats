#!/usr/bin/env bats
# --sharded-checkpoints: all ranks write, and any ranks read.
# shellcheck disable=SC2154 # $trainer is set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

@test "a checkpoint continues with other things divided, on other numbers of ranks" {
  need_mpirun
  ranks 2 --epochs 2 --comment whole
  for zero in 0 1 2 3; do
    ranks 2 --epochs 1 --comment parts --zero "$zero" --sharded-checkpoints
    part=$(echo runs/*parts)
    [ "$(ls "$part/checkpoints")" = $'best.json\nepoch_0001_step_00000020' ]
    rm -rf saved saved4
    cp -r "$part" saved
    cp -r "$part" saved4
    # Divided in another way, and with files of rank 0.
    ranks 2 --epochs 2 --comment parts --zero $((3 - zero)) --resume "$part"
    cmp runs/*whole/model.safetensors "$part/model.safetensors"
    [ "$(ls "$part/checkpoints")" = $'best.safetensors\nepoch_0001_step_00000020\nepoch_0002_step_00000040.safetensors' ]
    rm -r "$part"
    # The reverse.
    ranks 2 --epochs 1 --comment parts
    part=$(echo runs/*parts)
    ranks 2 --epochs 2 --comment parts --zero "$zero" --sharded-checkpoints --resume "$part"
    cmp runs/*whole/model.safetensors "$part/model.safetensors"
    rm -r "$part"
    # shellcheck disable=SC2086 # options, meant to be split
    "$trainer" $small --epochs 2 --comment parts --resume saved
    [ "$(value saved "['epochs'][1]['steps']")" = 20 ]
    ranks 4 --epochs 2 --comment parts --zero "$zero" --sharded-checkpoints --resume saved4/checkpoints/epoch_0001_step_00000020/
    [ -f saved4/checkpoints/epoch_0002_step_00000040/model-00004-of-00004.safetensors ]
  done
}

@test "Python's safetensors reads the files under the names of the index" {
  need_mpirun
  use_pypi
  ranks 2 --zero 3 --sharded-checkpoints
  "$pypi" - runs/*/checkpoints/epoch_* runs/*/model.safetensors <<'PY'
import json, sys
from safetensors.numpy import load_file
folder, whole = sys.argv[1:]
index = json.load(open(f"{folder}/model.safetensors.index.json"))["weight_map"]
files = {name: load_file(f"{folder}/{name}") for name in set(index.values())}
assert len(files) == 2, files.keys()
assert {name: file for file, tensors in files.items() for name in tensors} == index
model = load_file(whole)
assert sorted(index) == sorted(model)
for name, file in index.items():
    assert (files[file][name] == model[name]).all(), name
PY
}

@test "a kill -9 of a rank at any moment of a save leaves a checkpoint that can be read: 15 times" {
  need_mpirun
  start() {
    rm -f out # what the run before has written is not waited for
    ranks 2 --epochs 100000 --zero 3 --sharded-checkpoints --checkpoint-every 1s --resume auto >out 2>&1 3>&- &
    job=$!
  }
  start
  # shellcheck disable=SC2086 # a pattern
  has_checkpoint() { compgen -G "runs/*/checkpoints/epoch_*" >/dev/null; }
  await has_checkpoint
  last=0
  for ((kills = 1; kills <= 15; ++kills)); do
    sleep "0.$(printf %03d $((RANDOM % 300)))"
    rank=$((RANDOM % 2 + 1))
    mapfile -t both < <(pids)
    kill -KILL "${both[rank - 1]}"
    await_end "$job"
    start
    await has_line out 'first step done'
    run ! grep -E 'cannot be used|new run' out
    step=$(sed -n 's/^.*resumed from .* after step \([0-9]*\)$/\1/p' out)
    [ "$step" -ge "$last" ] || fail "kill $kills: resumed after step $step, before that after $last" "$(cat out)"
    last=$step
  done
  [ "$last" -gt 10 ]
  mapfile -t both < <(pids)
  kill -KILL "${both[@]}"
  await_end "$job"
  # Of one that was being written and one that was being removed.
  [ "$(find runs/*/checkpoints -maxdepth 1 -name '.*.tmp' | wc -l)" -le 2 ]
  left=$(echo runs/*/checkpoints)/.epoch_9999_step_99999999.tmp
  mkdir "$left"
  touch "$left/model-00001-of-00002.safetensors"
  start
  await has_line out 'first step done'
  mapfile -t both < <(pids)
  kill -KILL "${both[@]}"
  await_end "$job"
  [ ! -e "$left" ]
}

@test "the best one is kept and found, and a damaged one is left out" {
  need_mpirun
  ranks 2 --epochs 3 --keep-checkpoints 1 --lr 0.002 --sharded-checkpoints --comment all
  folder=$(echo runs/*all/checkpoints)
  best=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["checkpoint"])' "$folder/best.json")
  [ -d "$folder/$best" ]
  [ "$(find "$folder" -mindepth 1 -maxdepth 1 -name 'epoch_*' ! -name "$best" | wc -l)" -le 1 ]
  [ -d "$folder/epoch_0003_step_00000060" ]

  rm -r runs
  ranks 2 --epochs 2 --sharded-checkpoints --comment part
  folder=$(echo runs/*part/checkpoints)
  run ranks 2 --epochs 3 --sharded-checkpoints --comment part --resume "$folder/best.safetensors"
  [ "$status" -eq 0 ]
  [[ $output == *"resumed from $folder/epoch_0002_step_00000040: epoch 3, after step 40"* ]]
  python3 - "$folder/epoch_0003_step_00000060/optimizer-00002-of-00002.safetensors" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-1, 2)
    byte = file.read(1)
    file.seek(-1, 2)
    file.write(bytes([byte[0] ^ 1]))
PY
  run ranks 2 --epochs 4 --sharded-checkpoints --comment part --resume runs/*part
  [ "$status" -eq 0 ]
  [[ $output == *"checkpoint epoch_0003_step_00000060 cannot be used: "*"optimizer-00002-of-00002.safetensors' is damaged: its checksum does not match"* ]]
  [[ $output == *"epoch_0002_step_00000040: epoch 3, after step 40"* ]]
}

# One rank, whose loss falls from epoch to epoch.
alone() {
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --mode ddp --sharded-checkpoints --keep-checkpoints 9 --schedule cosine --lr 0.002 "$@"
}

@test "going back removes later checkpoints, also the best one, and a job goes back once" {
  alone --epochs 3
  folder=$(echo runs/*/checkpoints)
  run ! grep -q '"epoch_0001_' "$folder/best.json"
  back=$folder/epoch_0001_step_00000020
  for start in 1 2 3; do
    SLURM_JOB_ID=77 run -46 alone --epochs 400 --resume "$back" --time-limit 3
    echo "$output"
    resumed=$(sed -n 's/^resumed from .* after step \([0-9]*\)$/\1/p' <<<"$output")
    # The first start goes back; a requeued one continues.
    if [ "$start" -eq 1 ]; then
      [ "$resumed" -eq 20 ]
      [ "$(value runs/* "['resumed'][0]['went_back_to']")" = epoch_0001_step_00000020 ]
    else
      [ "$resumed" -eq "$stopped" ]
      [[ $output == *"job 77 has already gone back to epoch_0001_step_00000020"* ]]
    fi
    stopped=$(sed -n 's/^stopped .* after step \([0-9]*\), .*/\1/p' <<<"$output")
    [ "$stopped" -gt "$resumed" ]
  done
  # No later checkpoint of the history that was cut off is left.
  [ -z "$(find "$folder" -name 'epoch_*' | sed 's/.*_step_0*//; s#/.*##' | awk -v last="$stopped" '$1 > last')" ]
}

@test "of checkpoints that were saved only because they were the best, one stays" {
  alone --epochs 100000 --checkpoint-every 60m --keep-checkpoints 1 >out 2>&1 3>&- &
  job=$!
  await has_line out 'epoch 6/'
  mapfile -t both < <(pids)
  kill -KILL "${both[@]}"
  await_end "$job"
  ls runs/*/checkpoints
  # Nearly all epochs are better than those before; one may have been about to be removed.
  [ "$(find runs/*/checkpoints -mindepth 1 -maxdepth 1 -name 'epoch_*' | wc -l)" -le 2 ]
}

@test "convert takes the model of a checkpoint of one file, whole or in parts" {
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --optimizer sgd
  best=$(echo runs/*/checkpoints/best.safetensors)
  [ "$("$trainer" convert "$best" model.safetensors)" = "8 tensors in model.safetensors" ]
  [ "$("$trainer" convert "$best" parts --shards 2)" = "8 tensors in 2 files in parts" ]
  "$trainer" convert parts merged.safetensors
  cmp model.safetensors merged.safetensors
  "$trainer" inspect model.safetensors >model
  "$trainer" inspect runs/*/model.safetensors >run
  diff <(grep float32 run) <(grep float32 model)
  run ! grep -q optimizer model
  run -42 "$trainer" convert "$best" "$best" --force
  [[ $output == *"is also the source"* ]]
}

@test "convert: the name and the options of a model's target" {
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --mode ddp --sharded-checkpoints
  checkpoint=$(echo runs/*/checkpoints/epoch_0001_step_00000020)
  for name in m.pt m.h5 m parts/; do
    run -42 "$trainer" convert "$checkpoint" $name
    [[ $output == *"'$name' does not name a format in which models are written"*"ending in .safetensors"*"--shards N"* ]]
    [ ! -e "$name" ]
  done
  run -42 "$trainer" convert "$checkpoint" m.safetensors --shards 2
  [[ $output == *"'m.safetensors' is the name of a file"* ]]
  for options in "m.safetensors --compress 3" "parts --shards 2 --chunk 5"; do
    # shellcheck disable=SC2086 # options, meant to be split
    run -43 "$trainer" convert "$checkpoint" $options
    [[ $output == *"chunks or compression for a model"*"omit --chunk and --compress"* ]]
  done
  # Several files to another number of them.
  [ "$("$trainer" convert "$checkpoint" parts --shards 3)" = "8 tensors in 3 files in parts" ]
  "$trainer" convert "$checkpoint" m.safetensors
  "$trainer" convert parts again.safetensors
  cmp m.safetensors again.safetensors
  [ "$("$trainer" convert m.safetensors parts --shards 2 --force)" = "8 tensors in 2 files in parts" ]
  run -42 "$trainer" convert parts/model.safetensors.index.json parts --shards 3 --force
  [[ $output == *"is also the source"* ]]
  run -0 "$trainer" inspect "$checkpoint"
  [[ $output == *"fc1.weight "*"a model in several files"* ]]
}

@test "its files are those of a model, and convert makes one of them" {
  need_mpirun
  ranks 2 --zero 3 --sharded-checkpoints
  "$trainer" convert runs/*/checkpoints/epoch_0001_step_00000020 merged.safetensors
  [ "$("$trainer" convert merged.safetensors parts --shards 3)" = "8 tensors in 3 files in parts" ]
  run -42 "$trainer" convert merged.safetensors parts --shards 2
  [[ $output == *"'parts' already exists"* ]]
  mkdir -p home
  touch home/kept
  run -42 "$trainer" convert merged.safetensors home --shards 2 --force
  [[ $output == *"'home' is not a model of several files"* ]]
  [ -f home/kept ]
  "$trainer" convert merged.safetensors parts --shards 2 --force
  [ "$(ls parts)" = $'model-00001-of-00002.safetensors\nmodel-00002-of-00002.safetensors\nmodel.safetensors.index.json' ]
  "$trainer" convert parts/model.safetensors.index.json again.safetensors
  cmp merged.safetensors again.safetensors
  python3 - runs/*/model.safetensors merged.safetensors <<'PY'
import json, struct, sys

def tensors(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    data = raw[8 + size:]
    return {name: (one["dtype"], one["shape"], data[slice(*one["data_offsets"])]) for name, one in header.items()}

model, merged = map(tensors, sys.argv[1:])
assert model == merged, model.keys() ^ merged.keys()
PY
}

@test "a host that does not share the runs folder is told" {
  need_mpirun
  # Rank 1 sees another folder in its place.
  [ "$(id -u)" = 0 ] || skip "mounting needs root"
  unshare --mount true 2>/dev/null || skip "no mount namespaces on this machine"
  mkdir runs
  # shellcheck disable=SC2086,SC2016 # options, meant to be split
  run mpirun -np 2 --oversubscribe bash -c 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
      exec unshare --mount bash -c "mount -t tmpfs none runs && exec \"\$@\"" bash "$@"; else exec "$@"; fi' bash \
    "$trainer" $small --sharded-checkpoints
  [ "$status" -ne 0 ]
  [[ $output == *"model-00002-of-00002.safetensors' is missing, though rank 1 has written it"* ]]
}

@test "it needs ranks" {
  # shellcheck disable=SC2086 # options, meant to be split
  run -2 "$trainer" $small --sharded-checkpoints
  [[ $output == *"--sharded-checkpoints needs mode ddp; this run uses mode single; for one rank, add --mode ddp"* ]]
}
