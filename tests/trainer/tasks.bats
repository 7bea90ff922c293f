#!/usr/bin/env bats
# The tasks of the trainer: each learns, in every mode, from every format, and continues as if it had not been stopped.
# shellcheck disable=SC2086,SC2154 # $sequences and $pictures hold options, meant to be split; see helper.bash

load helper

setup_file() {
  use_programs
  export pairs=sequences:320x2x6x16
  export sequences="--task transformer --model transformer_small --data $pairs --batch-size 16 --threads 1 --no-tensorboard"
  "$trainer" pictures "$BATS_FILE_TMPDIR/ten" --train 1280 --test 200 >/dev/null
  "$trainer" pictures "$BATS_FILE_TMPDIR/hundred" --classes 100 --train 300 --test 200 >/dev/null
  export pictures="--task cifar --data $BATS_FILE_TMPDIR/ten --threads 1 --no-tensorboard"
}

# The part of metrics.csv without times: epoch, step, loss, learning rate.
curve() { cut -d, -f1-4 runs/*"$1"/metrics.csv; }

# near ONE OTHER: the losses of both runs differ by at most 1e-5 at each step.
near() {
  paste -d, <(curve "$1") <(curve "$2") | awk -F, 'NR > 1 { d = $3 - $7; if (d > 1e-5 || d < -1e-5) { print; bad = 1 } }
    END { exit bad || NR < 5 }'
}

# measure RUN NAME: of the last epoch, in percent.
measure() { value runs/*"$1" "['epochs'][-1]['validation_$2']" | awk '{ print int(100 * $1) }'; }

@test "a Transformer learns sequences: far above chance after 160 steps" {
  "$trainer" $sequences --data sequences:640x2x6x64 --lr 2e-3 --epochs 4 --comment learns
  [ "$(value runs/*learns "['config']['task']")" = transformer ]
  [ "$(value runs/*learns "['config']['sample']")" = "sequences of 2x64 to 6x64" ]
  [ "$(value runs/*learns "['epochs'][-1]['steps']")" -eq 40 ]
  # 0 is the mean of all targets.
  [ "$(measure learns r2)" -gt 50 ]
}

@test "sequences train alike in one process, on two replicas, on two ranks and with --zero" {
  need_mpirun
  # In double precision: Adam turns the rounding of a gradient that is zero into a step.
  local same="--dropout 0 --scale-lr none --lr 1e-3 --precision fp64"
  "$trainer" $sequences $same --comment one
  "$trainer" $sequences $same --mode dp --devices cpu:2 --comment dp
  near one dp
  for zero in 0 1 2 3; do
    mpirun -np 2 --oversubscribe "$trainer" $sequences $same --zero "$zero" --comment "zero$zero"
    near one "zero$zero"
  done
  "$trainer" $sequences $same --micro-batch 4 --comment parts
  near one parts
}

@test "the learning rate of a Transformer grows with the number of ranks, unless told otherwise" {
  need_mpirun
  mpirun -np 2 --oversubscribe "$trainer" $sequences --limit-samples 32 --comment grows
  [ "$(value runs/*grows "['config']['scale_lr']")" = linear ]
  [ "$(curve grows | sed -n 2p | cut -d, -f4)" = 0.002 ]
  "$trainer" $sequences --limit-samples 32 --lr 3e-3 --scale-lr none --comment own
  [ "$(curve own | sed -n 2p | cut -d, -f4)" = 0.003 ]
}

@test "sequences from HDF5, safetensors and .pt train as those in memory" {
  "$trainer" $sequences --limit-samples 64 --comment memory
  for file in set.h5 set.safetensors set.pt; do
    "$trainer" convert "$pairs" "$file"
    "$trainer" $sequences --data "$file" --limit-samples 64 --comment "${file#set.}"
    diff <(curve memory) <(curve "${file#set.}")
  done
  [[ $("$trainer" inspect set.pt) == *"train: 320 pairs of sequences, 2x16 (float32) to 6x16 (float32)"* ]]
}

@test "sequences in half, bfloat16 and double precision" {
  "$HPCBOOT_TEST_PYTHON" -c 'import torch' || skip "no PyTorch for $HPCBOOT_TEST_PYTHON"
  "$HPCBOOT_TEST_PYTHON" - <<'END'
import torch
for name, kind in (("half", torch.float16), ("bfloat16", torch.bfloat16), ("double", torch.float64)):
    x = {f"{split}/{side}": torch.randn(32, length, 16).to(kind) for split in ("train", "test")
         for side, length in (("source", 2), ("target", 6))}
    torch.save(x, name + ".pt")
END
  for kind in half bfloat16 double; do
    "$trainer" $sequences --data "$kind.pt" --comment "$kind"
    [ "$(value runs/*_$kind "['exit_reason']")" = finished ]
  done
  "$trainer" $sequences --data double.pt --precision fp64 --comment inner
  "$trainer" $sequences --data half.pt --precision bf16 --comment bf16
}

@test "a measure that is not a number does not prevent a resume" {
  "$HPCBOOT_TEST_PYTHON" -c 'import torch' || skip "no PyTorch for $HPCBOOT_TEST_PYTHON"
  "$HPCBOOT_TEST_PYTHON" - <<'END'
import torch
x = {"train/source": torch.randn(32, 2, 16), "train/target": torch.randn(32, 3, 16),
     "test/source": torch.randn(8, 2, 16), "test/target": torch.full((8, 3, 16), 0.1)}
torch.save(x, "equal.pt")
END
  "$trainer" $sequences --data equal.pt --epochs 1 | tee log
  grep -q "r2 nan" log
  [ "$(value runs/* "['epochs'][0]['validation_r2']")" = None ]
  "$trainer" $sequences --data equal.pt --epochs 2 --resume runs/* | grep "resumed from .* after step 2"
  "$runtable" runs
  "$HPCBOOT_TEST_PYTHON" - <<'END'
import torch
x = torch.load("equal.pt")
x["test/target"][3, 1, 2] = float("nan")
torch.save(x, "nan.pt")
END
  run -45 "$trainer" $sequences --data nan.pt
  [[ $output == *"the validation loss is nan after step 2 of the run, epoch 1"*"check the test split"* ]]
}

@test "each rank drops numbers of its own" {
  need_mpirun
  # Two ranks with equal batches: equal numbers would give the losses of one rank.
  "$HPCBOOT_TEST_PYTHON" -c 'import torch' || skip "no PyTorch for $HPCBOOT_TEST_PYTHON"
  "$HPCBOOT_TEST_PYTHON" - <<'END'
import torch
pair = {"source": torch.randn(1, 2, 16), "target": torch.randn(1, 3, 16)}
torch.save({f"{split}/{side}": values.expand(32, -1, -1).clone() for split in ("train", "test")
            for side, values in pair.items()}, "same.pt")
END
  local same="$sequences --data same.pt --scale-lr none --micro-batch 1 --precision fp64"
  "$trainer" $same --batch-size 1 --limit-samples 16 --comment one
  mpirun -np 2 --oversubscribe "$trainer" $same --batch-size 2 --comment two
  run near one two
  [ "$status" -ne 0 ]
  "$trainer" $same --batch-size 1 --limit-samples 16 --dropout 0 --comment one_whole
  mpirun -np 2 --oversubscribe "$trainer" $same --batch-size 2 --dropout 0 --comment two_whole
  near one_whole two_whole
}

@test "a stopped run with dropout, or with changed images, continues bit for bit" {
  local run
  for run in "sequences $sequences" "pictures $pictures --model mnistnet --image-size 32 --mixup 0.4 --limit-samples 320"; do
    # shellcheck disable=SC2206 # options
    local options=(${run#* }) name=${run%% *}
    "$trainer" "${options[@]}" --batch-size 16 --epochs 2 --checkpoint-every 7s --keep-checkpoints 99 --comment "$name"
    cp -r runs/*_"$name" whole
    cd runs/*_"$name"
    find checkpoints -name 'epoch_*' ! -name '*_step_00000028.safetensors' -delete
    sed -i 's/"exit_reason": "[^"]*"/"exit_reason": "running"/' run.json
    cd ../..
    "$trainer" "${options[@]}" --batch-size 16 --epochs 2 --checkpoint-every 7s --keep-checkpoints 99 --comment "$name" \
      --resume auto | grep "after step 28"
    diff <(cut -d, -f1-4 whole/metrics.csv) <(curve "$name")
    cmp whole/model.safetensors runs/*_"$name"/model.safetensors
    rm -rf whole
  done
}

@test "pictures are learnt: far above chance" {
  # 120 steps; chance is 10 %.
  "$trainer" $pictures --model resnet18 --image-size 32 --batch-size 32 --epochs 3 --lr 1e-3 --schedule cosine \
    --comment residual
  [ "$(measure residual accuracy)" -ge 25 ]
}

@test "a Vision Transformer learns: far above chance after 60 steps" {
  # Bars whose position is the class; chance is 10 %. At 32 px, two positions in a patch of 16 px are one, nearly.
  "$trainer" --task cifar --data synthetic:640x3x32x32 --model vit_ti_16 --image-size 48 --batch-size 32 --lr 1e-3 \
    --schedule cosine --epochs 3 --augment none --threads 1 --no-tensorboard --comment vision
  [ "$(measure vision accuracy)" -ge 50 ]
}

@test "changed images are the same on any number of ranks" {
  need_mpirun
  local same="$pictures --model mnistnet --image-size 32 --batch-size 16 --limit-samples 160"
  "$trainer" $same --comment one
  mpirun -np 2 --oversubscribe "$trainer" $same --comment two
  near one two
  "$trainer" $same --augment none --comment none
  run near one none
  [ "$status" -ne 0 ]
}

@test "a set of 100 classes makes a model of 100" {
  "$trainer" --task cifar --data "$BATS_FILE_TMPDIR/hundred" --model resnet18 --image-size 32 --batch-size 64 --no-tensorboard
  use_pypi
  "$pypi" - runs/*/model.safetensors <<'END'
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], framework="np") as file:
    assert file.get_tensor("fc.weight").shape[0] == 100
    about = file.metadata()
    assert about["classes"] == "100" and about["image_size"] == "32", about
    assert about["mean"].split(",") == ["0.5071", "0.4865", "0.4409"], about
END
}

@test "schedules, accumulation, precision and the fraction of the data hold for every task" {
  local name common="--schedule cosine --warmup-steps 2 --accumulate 2 --data-fraction 0.25 --precision bf16 --epochs 2"
  for name in sequences pictures; do
    local own="$sequences"
    if [ "$name" = pictures ]; then own="$pictures --model mnistnet --image-size 32 --batch-size 16 --limit-samples 320"; fi
    "$trainer" $own $common --comment "$name"
    # A quarter of 320 samples in batches of 16, twice.
    [ "$(curve "$name" | wc -l)" -eq 11 ]
    [ "$(value runs/*_"$name" "['config']['accumulate']")" -eq 2 ]
    curve "$name" | awk -F, 'NR > 1 { rate[NR - 1] = $4 } END { exit !(rate[1] < rate[2] && rate[10] < rate[3] / 5) }'
  done
}

@test "options that do not fit the task are refused before there is a run" {
  refused() {
    run --separate-stderr "$trainer" "${@:2}"
    [ "$status" -eq 2 ]
    [[ $stderr == *"$1"* ]] || { echo "$stderr" && return 1; }
    [ ! -e runs ]
  }
  refused "--task transformer cannot train --model resnet50; it takes transformer or transformer_small" \
    --task transformer --model resnet50
  refused "--task mnist cannot train --model transformer" --model transformer --data synthetic:9x1x8x8
  refused "--image-size is for images" $sequences --image-size 32
  refused "--augment is for images" $sequences --augment crop-flip
  refused "--mixup is for images" $sequences --mixup 0.2
  refused "--mixup must be 0, or from 0.01 to 1" $pictures --mixup 2
  refused "--mixup must be 0, or from 0.01 to 1" $pictures --mixup 1e-12
  refused "one generator" $sequences --mode dp --devices cpu:2 --deterministic
  refused "--cuda-graph cannot record --model transformer_small" $sequences --cuda-graph
  refused "--checkpoint-activations cannot be used with --model transformer_small" $sequences --checkpoint-activations
  refused "--dropout" $pictures --dropout 0.1
  refused "--dropout must be in [0, 1)" $sequences --dropout 1
  refused "multiple of 16, not 28" $pictures --model vit_ti_16 --image-size 28
  refused "mnist, transformer or cifar" --task mnits
}

@test "an image alone that batch normalisation cannot take is an error before the first step" {
  refused() {
    run --separate-stderr "$@" --task cifar --image-size 32 --no-tensorboard --threads 1
    [ "$status" -eq 43 ]
    [[ $stderr == *"a pass of 1 image"*"--batch-size"* ]] || { echo "$stderr" && return 1; }
    [ ! -e runs ]
  }
  refused "$trainer" --model resnet18 --data synthetic:9x3x32x32 --batch-size 4
  refused "$trainer" --model resnet50 --data synthetic:8x3x32x32 --batch-size 4 --micro-batch 1
  refused "$trainer" --model resnet18 --data synthetic:10x3x32x32 --batch-size 8 --mode dp --devices cpu:2
  refused "$trainer" --model resnet18 --data synthetic:9x3x32x32 --batch-size 4 --mode ddp --sync-bn
  "$trainer" --task cifar --model vit_ti_16 --image-size 32 --no-tensorboard --threads 1 --data synthetic:5x3x32x32 --batch-size 4
  "$trainer" --task cifar --model resnet18 --image-size 33 --no-tensorboard --threads 1 --data synthetic:5x3x32x32 --batch-size 4
  need_mpirun
  mpirun -np 2 --oversubscribe "$trainer" --task cifar --model resnet18 --image-size 32 --no-tensorboard --threads 1 \
    --data synthetic:10x3x32x32 --batch-size 8 --sync-bn
}

@test "missing data are an error that says how to make them" {
  run --separate-stderr "$trainer" --task cifar
  [ "$status" -eq 40 ]
  [[ $stderr == *"no folder 'data/cifar10'"*"trainer pictures data/cifar10"*"get-cifar"* ]]
  mkdir -p data/cifar10
  run --separate-stderr "$trainer" --task cifar
  [ "$status" -eq 40 ]
  [[ $stderr == *"no data set in the folder 'data/cifar10'"* ]]
}

@test "data that do not fit the task are named" {
  run --separate-stderr "$trainer" --task transformer --data synthetic:99x1x8x8
  [ "$status" -eq 40 ]
  [[ $stderr == *"contains images"*"sequences:2048x1x20x512"* ]]
  run --separate-stderr "$trainer" --data "$pairs"
  [ "$status" -eq 40 ]
  [[ $stderr == *"contains sequences"*"--task transformer"* ]]
  run --separate-stderr "$trainer" --task cifar --data synthetic:99x1x8x8
  [ "$status" -eq 41 ]
  [[ $stderr == *"images of 1x8x8"*"3 channels"* ]]
  run --separate-stderr "$trainer" $sequences --data sequences:32x1x2x10
  [ "$status" -eq 43 ]
  [[ $stderr == *"vectors of width 10, and 4 heads"* ]]
}

@test "--help tells the defaults of each task" {
  run "$trainer" --help
  [[ $output == *"sequences:2048x1x20x512 with transformer"* ]]
  [[ $output == *"vit_b_16 with cifar"* ]]
  [[ $output == *"0.001 with transformer"* ]]
}
