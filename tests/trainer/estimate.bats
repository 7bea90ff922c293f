#!/usr/bin/env bats
# trainer estimate: what it prints, its exit codes, and its JSON.
# shellcheck disable=SC2154 # $trainer is set in helper.bash

load helper

setup_file() { use_programs; }

@test "one layout: what a device needs, and whether it fits" {
  run "$trainer" estimate --model gpt2 --data 8 --micro-batch 4
  [ "$status" -eq 0 ]
  [[ $output == *"gpt2: 124.4 M parameters, fp32, adam"*"= 8 devices"*"this fits into 80.0 GB."* ]]
  run "$trainer" estimate --model gpt2 --data 8 --micro-batch 4 --memory 8
  [ "$status" -eq 1 ]
  [[ $output == *"does not fit into 8.0 GB."*"Try --shard"* ]]
}

@test "--offload: nothing but activations and two layers stays on the device" {
  run "$trainer" estimate --model llama-3.1-8b --precision bf16-master --checkpoint-activations
  [ "$status" -eq 1 ]
  [[ $output == *"does not fit into 80.0 GB."*"Try --shard, --offload"* ]]
  run "$trainer" estimate --model llama-3.1-8b --precision bf16-master --checkpoint-activations --offload
  [ "$status" -eq 0 ]
  [[ $output == *"128.5 GB of the host's memory"*"fits into 80.0 GB."* ]]
  for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
}

@test "a model of a trillion parameters: the layouts that fit, in 80 columns" {
  echo '{"layers": 128, "hidden_size": 25600, "heads": 160, "vocabulary": 51200, "sequence": 2048,
         "fused_attention": true}' >trillion.json
  run env NO_COLOR=1 COLUMNS=80 script -qec "$trainer estimate --model trillion.json --precision bf16-master \
    --checkpoint-activations --devices 3072 --batch-size 3072" /dev/null
  [ "$status" -eq 0 ]
  [[ $output == *"layouts that fit into 80.0 GB a device, the fastest first."* ]]
  for line in "${lines[@]}"; do
    line=${line%$'\r'}
    [ "${#line}" -le 80 ]
  done
  run "$trainer" estimate --model trillion.json --devices 64 --batch-size 64
  [ "$status" -eq 1 ]
  [[ $output == "No layout fits into 80.0 GB a device and divides the batch."* ]]
}

@test "--json has the same numbers in bytes and seconds" {
  "$trainer" estimate --model llama-3.1-405b --shard 8 --json >estimate.json || [ $? -eq 1 ]
  python3 - <<'PY'
import json
found = json.load(open("estimate.json"))
assert found["parameters"] == 405853388800, found
(plan,) = found["plans"]
assert plan["layout"]["devices"] == 8 and plan["layout"]["zero"] == 3, plan
memory = plan["memory_bytes"]
assert memory["gradients"] == 405853388800 * 4 / 8, memory
assert memory["peak"] < sum(memory.values()) - memory["peak"], memory
seconds = plan["seconds"]
assert abs(sum(seconds.values()) - 2 * seconds["step"]) < 1e-9 * seconds["step"], seconds
PY
}

@test "an impossible request is refused, with what is possible" {
  run "$trainer" estimate --model gpt5
  [ "$status" -eq 2 ]
  [[ $output == *"--model is 'gpt5'; expected mnistnet, resnet18, resnet50, vit_b_16, vit_s_16, vit_ti_16, gpt2"*"config.json"* ]]
  run "$trainer" estimate --model llama-3.1-8b --tensor 3
  [ "$status" -eq 2 ]
  [[ $output == *"choose one of 1 2 4 8"* ]]
  run "$trainer" estimate --devices 8 --data 2
  [ "$status" -eq 2 ]
  [[ $output == *"--devices"*"--data"* ]]
  for wrong in "--memory 0" "--tflops nan" "--batch-size 8" "--devices -1" "--devices-per-node 0" "--image-size 8" \
    "--zero x" "--zero 1" "--offload --zero 1" "--host-bandwidth 0" "--keep-gathered" "--memory 1e300"; do
    # shellcheck disable=SC2086 # an option and its value
    run "$trainer" estimate $wrong
    echo "$wrong: $output"
    [ "$status" -eq 2 ]
  done
  for option in data shard tensor pipeline micro-batch accumulate; do
    run -2 "$trainer" estimate --$option 0
    [[ $output == "trainer: --$option is 0; expected 1 to 1000000000" ]]
  done
}

@test "every model that the trainer trains is known" {
  for model in mnistnet resnet18 resnet50 vit_b_16 vit_s_16 vit_ti_16; do
    run "$trainer" estimate --model $model --image-size 32 --micro-batch 4
    [ "$status" -eq 0 ]
    [[ $output == *"$model: "*parameters*"this fits into 80.0 GB."* ]]
  done
  run "$trainer" estimate --model vit_b_16 --image-size 40
  [ "$status" -eq 2 ]
  [[ $output == *"--image-size is 40; vit_b_16 needs a multiple of 16"* ]]
  run "$trainer" estimate --model resnet18 --image-size 16
  [ "$status" -eq 2 ]
  [[ $output == *"--image-size is 16; for resnet18 it must be at least 32"* ]]
  run "$trainer" estimate --model vit_b_16 --sequence 5
  [ "$status" -eq 2 ]
  [[ $output == *"--sequence is for transformers; vit_b_16 takes images"* ]]
  run "$trainer" estimate --model gpt2 --image-size 64
  [ "$status" -eq 2 ]
  [[ $output == *"--image-size is for models of images; gpt2 is a transformer"* ]]
  run "$trainer" estimate --model gpt2 --sequence 1025
  [ "$status" -eq 2 ]
  [[ $output == *"--sequence is 1025; gpt2 has learned only 1024 positions"* ]]
  run "$trainer" estimate --model gpt2 --sequence 128 --json
  [[ $output == *'"parameters": 124439808'* ]]
}

@test "a file that is damaged is named, with the key" {
  echo '{"layers": 2, "hidden_size": 8, "heads": -1}' >broken.json
  run "$trainer" estimate --model broken.json
  [ "$status" -eq 28 ]
  [[ $output == *broken.json*heads*"trainer estimate --help"* ]]
  run "$trainer" estimate --model missing.json
  [ "$status" -eq 27 ]
  [[ $output == *missing.json* ]]
}

@test "the example of trainer/sharding.md lists layouts that fit" {
  root=$BATS_TEST_DIRNAME/../..
  build=${HPCBOOT_BIN_DIR:-$root/build/bin}/..
  sed -n '/^#include <hpcboot\/torch\/estimate.hpp>/,/^```/p' "$root/trainer/sharding.md" | sed '$d' >example.cpp
  # Before the archive, whose objects define some of its functions, too, if they are compiled as C++20 for a new LibTorch.
  # Their members would need LibTorch.
  c++ -std=c++17 -I "$root/trainer/include" -o example example.cpp -lstdc++ \
    "$build/trainer/torch/libhpcboot_torch.a" "$build/bootstrap/libhpcboot.a"
  run ./example
  [ "$status" -eq 0 ]
  [[ ${lines[0]} =~ ^data\ [0-9]+\ shard\ [0-9]+\ tensor\ [0-9]+\ pipeline\ [0-9]+:\ [0-9.]+\ GB,\ [0-9.]+\ s$ ]]
}
