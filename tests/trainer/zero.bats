#!/usr/bin/env bats
# --zero: state, gradients and weights are divided among the ranks, and nothing else changes.
# shellcheck disable=SC2154 # $trainer is set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

@test "the model is bit for bit that of a run without it" {
  need_mpirun
  for optimizer in adamw sgd; do
    rm -rf runs
    ranks 2 --optimizer "$optimizer" --comment whole
    for zero in 1 2 3; do
      ranks 2 --optimizer "$optimizer" --comment "sharded$zero" --zero "$zero"
      cmp runs/*whole/model.safetensors runs/*sharded"$zero"/model.safetensors
      [ "$(value runs/*sharded"$zero" "['config']['zero']")" = "$zero" ]
      [ "$(value runs/*sharded"$zero" "['epochs'][0]['validation_accuracy']")" = \
        "$(value runs/*whole "['epochs'][0]['validation_accuracy']")" ]
    done
  done
}

@test "layers of resnet50 and of a ViT are gathered one by one, for the same model" {
  need_mpirun
  for model in resnet50 vit_ti_16; do
    large=(--model "$model" --image-size 32 --limit-samples 64 --micro-batch 8)
    ranks 2 "${large[@]}" --comment "whole_$model"
    for zero in 2 3; do
      ranks 2 "${large[@]}" --comment "sharded$zero" --zero "$zero"
      cmp runs/*whole_"$model"/model.safetensors runs/*sharded"$zero"/model.safetensors
      rm -r runs/*sharded"$zero"
    done
  done
}

@test "in double precision, models on 4 ranks differ by rounding only" {
  need_mpirun
  exact=(--model resnet18 --image-size 32 --limit-samples 32 --precision fp64)
  ranks 4 "${exact[@]}" --comment whole
  for zero in 1 2 3; do
    ranks 4 "${exact[@]}" --comment "sharded$zero" --zero "$zero"
    python3 - runs/*whole/run.json runs/*sharded"$zero"/run.json <<'PY'
import json, sys
whole, sharded = (json.load(open(f))["epochs"][0] for f in sys.argv[1:])
for key in ("train_loss", "validation_loss"):
    assert abs(sharded[key] - whole[key]) < 1e-9, (key, whole[key], sharded[key])
PY
  done
}

@test "a checkpoint continues with and without it, and on other numbers of ranks" {
  need_mpirun
  ranks 2 --epochs 2 --comment whole
  for zero in 1 2 3; do
    ranks 2 --epochs 1 --comment parts --zero "$zero"
    part=$(echo runs/*parts)
    rm -rf saved saved4
    cp -r "$part" saved
    cp -r "$part" saved4
    # As a run without shards, and the reverse.
    ranks 2 --epochs 2 --comment parts --resume "$part"
    cmp runs/*whole/model.safetensors "$part/model.safetensors"
    rm -r "$part"
    ranks 2 --epochs 1 --comment parts
    part=$(echo runs/*parts)
    ranks 2 --epochs 2 --comment parts --zero "$zero" --resume "$part"
    cmp runs/*whole/model.safetensors "$part/model.safetensors"
    rm -r "$part"
    # One rank, which has all of it, and more ranks.
    ranks 1 --mode ddp --epochs 2 --comment parts --zero "$zero" --resume saved
    [ "$(value saved "['epochs'][1]['steps']")" = 20 ]
    ranks 4 --epochs 2 --comment parts --zero "$zero" --resume saved4
    [ "$(value saved4 "['epochs'][1]['epoch']")" = 2 ]
  done
}

@test "what it cannot be used with is refused" {
  need_mpirun
  for other in "--precision fp16" "--compress-gradients bf16" --find-unused-parameters; do
    # shellcheck disable=SC2086 # options, meant to be split
    run ranks 2 --zero 3 $other
    [ "$status" -eq 2 ]
    [[ $output == *"--zero 2 and 3 cannot be used with ${other% *}"* ]]
  done
}

@test "--offload trains the same model, and needs shards" {
  need_mpirun
  ranks 2 --comment whole
  for zero in 2 3; do
    ranks 2 --comment "offloaded$zero" --zero "$zero" --offload
    cmp runs/*whole/model.safetensors runs/*offloaded"$zero"/model.safetensors
    [ "$(value runs/*offloaded"$zero" "['config']['offload']")" = True ]
  done
  run ranks 2 --zero 1 --offload
  [ "$status" -eq 2 ]
  [[ $output == *"--offload needs --zero 2 or 3"* ]]
}

@test "it needs ranks, and is 0 to 3" {
  # shellcheck disable=SC2086 # options, meant to be split
  run "$trainer" $small --zero 1
  [ "$status" -eq 2 ]
  [[ $output == *"--zero needs mode ddp; this run uses mode single; for one rank, add --mode ddp"* ]]
  # shellcheck disable=SC2086 # options, meant to be split
  run "$trainer" $small --zero 4
  [ "$status" -eq 2 ]
  [[ $output == *"--zero must be 0, 1, 2 or 3"* ]]
}
