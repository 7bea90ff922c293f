#!/usr/bin/env bats
# --zero 1: the optimizer's state is divided among the ranks, and nothing else changes.
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
    ranks 2 --optimizer "$optimizer" --comment sharded --zero 1
    cmp runs/*whole/model.safetensors runs/*sharded/model.safetensors
    [ "$(value runs/*sharded "['config']['zero']")" = 1 ]
  done
}

@test "a checkpoint continues with and without it, and on another number of ranks" {
  need_mpirun
  ranks 2 --epochs 2 --comment whole
  ranks 2 --epochs 1 --comment parts --zero 1
  part=$(echo runs/*parts)
  cp -r "$part" saved
  # As a run without shards, and the reverse.
  ranks 2 --epochs 2 --comment parts --resume "$part"
  cmp runs/*whole/model.safetensors "$part/model.safetensors"
  rm -r "$part"
  ranks 2 --epochs 1 --comment parts
  part=$(echo runs/*parts)
  ranks 2 --epochs 2 --comment parts --zero 1 --resume "$part"
  cmp runs/*whole/model.safetensors "$part/model.safetensors"
  # One rank, which has all of the state.
  ranks 1 --mode ddp --epochs 2 --comment parts --zero 1 --resume saved
  [ "$(value saved "['epochs'][1]['steps']")" = 20 ]
}

@test "it needs ranks, and is 0 or 1" {
  # shellcheck disable=SC2086 # options, meant to be split
  run "$trainer" $small --zero 1
  [ "$status" -eq 2 ]
  [[ $output == *"--zero needs mode ddp; this run uses mode single"* ]]
  # shellcheck disable=SC2086 # options, meant to be split
  run "$trainer" $small --zero 2
  [ "$status" -eq 2 ]
  [[ $output == *"--zero must be 0 or 1"* ]]
}
