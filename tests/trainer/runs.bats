#!/usr/bin/env bats
# Complete runs of the trainer: alone and under mpirun, successful and failing.
# shellcheck disable=SC2154 # $trainer, $data and $small are set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
  # The reference run for the others.
  export single=$BATS_FILE_TMPDIR/single
  # shellcheck disable=SC2086 # options, meant to be split
  "$trainer" $small --runs-dir "$single" --mode single >/dev/null
}

setup() {
  need_mpirun
  cd "$BATS_TEST_TMPDIR" || return 1
}

@test "DDP on 1, 2 and 4 ranks has the losses of one process, step by step" {
  for n in 1 2 4; do
    rm -rf runs
    ranks "$n" --mode ddp
    run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 20 "$single"/*/metrics.csv runs/*/metrics.csv
    echo "$n ranks: $output"
    [ "$status" -eq 0 ]
    [ "$(value runs/* "['config']['mode']")" = ddp ]
    [ "$(value runs/* "['devices_per_node']")" = "$n" ]
  done
}

@test "DP on 2 and 3 CPU replicas has the losses of one process, step by step" {
  for n in 2 3; do
    rm -rf runs
    # shellcheck disable=SC2086
    "$trainer" $small --mode dp --devices "cpu:$n" --runs-dir runs
    run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 20 "$single"/*/metrics.csv runs/*/metrics.csv 1e-5
    echo "$n replicas: $output"
    [ "$status" -eq 0 ]
    [ "$(value runs/* "['devices_per_node']")" = "$n" ]
    [ "$(value runs/* "['ranks'][0]['device']")" = "cpu:$n" ]
    [ "$(value runs/* "['config']['devices']")" = "cpu:$n" ]
  done
  run --separate-stderr "$runtable" "$single" runs --format json
  echo "$output" | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert [(row["method"], row["devices_per_node"]) for row in rows] == [("single", 1), ("DP", 3)], rows
assert abs(rows[1]["efficiency"] * 3 - rows[1]["speedup"]) < 1e-9, rows'
}

@test "mode dp is for one process, and --devices for mode dp" {
  run ranks 2 --mode dp
  [ "$status" -eq 2 ]
  [[ $output == *"--mode dp trains in one process, but openmpi started 2 ranks"* ]]
  for bad in "--devices cpu:2" "--mode dp --devices cpu" "--mode dp --devices cpu:0" "--mode dp --devices tpu:1"; do
    # shellcheck disable=SC2086
    run "$trainer" $small --runs-dir runs $bad
    [ "$status" -eq 2 ]
    [[ $output == *"--devices is"* ]]
  done
  # shellcheck disable=SC2086
  run "$trainer" $small --runs-dir runs --mode dp --devices cpu:2 --device cuda
  [ "$status" -eq 2 ]
  [[ $output == *"contradict each other"* ]]
  [ ! -e runs ]
}

@test "a run folder has the record, the metrics, the model and a log of each rank" {
  ranks 2 --comment "my run"
  folder=$(echo runs/*)
  [[ $folder == runs/[0-9]*_ddp_1x2_my-run ]]
  for file in run.json metrics.csv model.safetensors rank_00.log rank_01.log; do [ -s "$folder/$file" ]; done
  [ "$(value "$folder" "['schema']")" = 1 ]
  [ "$(value "$folder" "['exit_reason']")" = finished ]
  [ "$(value "$folder" "['launcher']")" = openmpi ]
  [ "$(value "$folder" "['ranks'][1]['provenance']['rank']['variable']")" = OMPI_COMM_WORLD_RANK ]
  [ "$(value "$folder" "['epochs'][0]['steps']")" = 20 ]
  [ "$(value "$folder" "['train_samples']")" = 640 ]
  run value "$folder" "['epochs'][0]['data_wait_seconds'] / r['epochs'][0]['train_seconds'] < 0.5"
  [ "$output" = True ]
  grep -q "published by pmix" "$folder/rank_01.log"
}

@test "what the launch took before main is recorded beside the runtime" {
  # A shell per rank, which also has the launcher's variables.
  # shellcheck disable=SC2086,SC2016 # several options; for the inner shell
  mpirun -np 2 --oversubscribe sh -c 'sleep 2; "$trainer" "$@"; exit $?' sh $small --runs-dir runs
  [ "$(value runs/* "['totals']['launch_seconds'] >= 2")" = True ]
  # For a single process, it is the part of the runtime in which its libraries are loaded.
  [ "$(value "$single"/* "['totals']['launch_seconds'] < r['totals']['runtime_seconds']")" = True ]
}

@test "the runtable compares the runs" {
  ranks 2
  run --separate-stderr "$runtable" "$single" runs --format json
  [ "$status" -eq 0 ]
  echo "$output" | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert [row["method"] for row in rows] == ["single", "DDP"], rows
assert rows[0]["speedup"] == 1 and rows[1]["speedup"] > 0, rows'
}

@test "the models load strictly into torchvision's, which their metadata describe" {
  "$HPCBOOT_TEST_PYTHON" -c 'import torchvision' || skip "no torchvision for $HPCBOOT_TEST_PYTHON"
  for name in resnet18 resnet50 vit_ti_16; do
    "$trainer" --data "$data" --model $name --image-size 32 --limit-samples 8 --batch-size 8 --runs-dir runs
  done
  "$HPCBOOT_TEST_PYTHON" - runs/*/model.safetensors <<'PY'
import json, struct, sys, torch, torchvision
from torchvision.models import VisionTransformer

found = []
for path in sys.argv[1:]:
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    about = header.pop("__metadata__")
    name = about.pop("model")
    found.append(name)
    assert about == {"format": "pt", "channels": "1", "classes": "10", "image_size": "32",
                     "mean": "0.1307", "std": "0.3081"}, about
    state = {}
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = {"F32": torch.float32, "I64": torch.int64}[entry["dtype"]]
        state[key] = torch.frombuffer(bytearray(raw[8 + size + begin:8 + size + end]), dtype=kind).reshape(entry["shape"])
    if name == "vit_ti_16":
        model = VisionTransformer(32, 16, 12, 3, 192, 768, num_classes=10)
        model.conv_proj = torch.nn.Conv2d(1, 192, 16, 16)
    else:
        model = getattr(torchvision.models, name)(num_classes=10)
        model.conv1 = torch.nn.Conv2d(1, 64, 7, 2, 3, bias=False)
    model.load_state_dict(state, strict=True)
assert sorted(found) == ["resnet18", "resnet50", "vit_ti_16"], found
PY
}

@test "trainer/README's lines of Python load models of one channel and of three, and prepare their images" {
  "$HPCBOOT_TEST_PYTHON" -c 'import torchvision' || skip "no torchvision for $HPCBOOT_TEST_PYTHON"
  "$trainer" --data "$data" --model resnet18 --image-size 32 --limit-samples 8 --batch-size 8 --comment one
  "$trainer" --task cifar --data synthetic:8x3x32x32 --model resnet18 --image-size 32 --batch-size 8 --comment three
  sed -n '/^```python$/,/^```$/p' "$BATS_TEST_DIRNAME/../../trainer/README.md" | sed '1d;/^```$/,$d' >lines.py
  [ -s lines.py ]
  cat >safetensors.py <<'PY'  # the part of the package that the lines use
import json, struct, torch

class safe_open:
    def __init__(self, path, framework):
        raw = open(path, "rb").read()
        begin = 8 + struct.unpack("<Q", raw[:8])[0]
        self.header, self.data = json.loads(raw[8:begin]), bytearray(raw[begin:])
        self.about = self.header.pop("__metadata__")
    def __enter__(self): return self
    def __exit__(self, *ignored): pass
    def metadata(self): return self.about
    def keys(self): return self.header.keys()
    def get_tensor(self, name):
        entry = self.header[name]
        kind = {"F32": torch.float32, "I64": torch.int64}[entry["dtype"]]
        begin, end = entry["data_offsets"]
        return torch.frombuffer(self.data[begin:end], dtype=kind).reshape(entry["shape"])
PY
  cat >>lines.py <<'PY'
import numpy, sys
expected = {"1": ([0.1307], [0.3081]), "3": ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616])}
means, deviations = expected[sys.argv[1]]
image = prepare(numpy.full((32, 32, len(means)), 255, dtype=numpy.uint8))
for channel, mean, deviation in zip(image, means, deviations):
    assert torch.allclose(channel, torch.full((32, 32), (1 - mean) / deviation)), (channel[0, 0], mean, deviation)
assert model.eval()(image[None]).shape == (1, 10)
PY
  for channels in 1_one 3_three; do
    (cd runs/*_"${channels#*_}" && PYTHONPATH=$BATS_TEST_TMPDIR "$HPCBOOT_TEST_PYTHON" "$BATS_TEST_TMPDIR/lines.py" "${channels%_*}")
  done
}

@test "equal seeds give equal runs, other seeds other ones" {
  for seed in 7 7 8; do
    # shellcheck disable=SC2086
    "$trainer" $small --limit-samples 96 --seed $seed --runs-dir runs --comment "seed$seed"
  done
  losses() { cut -d, -f3 "$1/metrics.csv"; }
  all=(runs/*seed7*)
  [ "${#all[@]}" -eq 2 ]
  [ "$(losses "${all[0]}")" = "$(losses "${all[1]}")" ]
  [ "$(losses "${all[0]}")" != "$(losses runs/*seed8)" ]
}

@test "numbers beyond their range are refused with its end" {
  run -2 "$trainer" --keep-checkpoints 99999999999
  [[ $output == *"--keep-checkpoints is '99999999999'; expected a number of at most 2147483647"* ]]
  run -2 "$trainer" --epochs -3000000000
  [[ $output == *"--epochs is '-3000000000'; expected a number of at least -2147483648"* ]]
  run -2 "$trainer" --warmup-steps 99999999999999999999
  [[ $output == *"expected a number of at most 9223372036854775807"* ]]
  run -2 "$trainer" --epochs x
  [[ $output == *"--epochs is 'x'; expected a number;"* ]]
}

@test "a batch that the ranks do not divide is a usage error that names the nearest" {
  run ranks 2 --batch-size 33
  [ "$status" -eq 2 ]
  [[ $output == *"32 and 34"* ]]
  [ ! -e runs ]
}

@test "mode single under mpirun is a usage error" {
  run ranks 2 --mode single
  [ "$status" -eq 2 ]
  [[ $output == *"openmpi started 2 ranks"* ]]
}

@test "a rank of hpcboot run takes as many threads as run has found granted" {
  # One core of this machine, without binding.
  # shellcheck disable=SC2086
  "$(dirname "$trainer")/hpcboot" run -n 1 --env OMP_NUM_THREADS=1 -- "$trainer" $small --threads 0 --mode single --runs-dir runs
  [ "$(value runs/* "['config']['threads']")" = 1 ]
}

@test "options are checked, and named" {
  for bad in "--mode x" "--model vgg" "--epochs 0" "--lr 0" "--epochs x" "--image-size 4" "--no-such 1" "--epo 3" \
    "--optimizer lamb" "--schedule x" "--scale-lr x" "--momentum 1" "--weight-decay -1" "--data-fraction 0" "--clip-grad-norm -1" \
    "--seed -5" "--seed x" "--accumulate 0" "--micro-batch 0" "--bucket-mb 0" "--bucket-mb inf" "--compress-gradients x" "--precision fp8" "--initial-scale-power 99" \
    "--threads 100000" "--loader-threads 100000" "--image-size 100000" "--start-up-timeout 10000000000" \
    "--collective-timeout 9223372036854775807" "--batch-size 9223372036854775807"; do
    # shellcheck disable=SC2086
    run "$trainer" --data "$data" $bad
    [ "$status" -eq 2 ]
    [[ $output == *"${bad%% *}"* ]] || [[ $output == *"${bad##* }"* ]]
  done
  run "$trainer" --help
  [ "$status" -eq 0 ]
  [[ $output == *"--batch-size"* ]]
}

@test "optimizer, schedule, warm-up, scaled rate and a fraction of the data, on 2 ranks" {
  ranks 2 --optimizer sgd --schedule linear --lr 0.01 --scale-lr linear --warmup-steps 2 --clip-grad-norm 5 --data-fraction 0.3
  [ "$(value runs/* "['train_samples']")" = 192 ]
  [ "$(value runs/* "['config']['optimizer']")" = sgd ]
  # 6 steps: up to 0.01 x 2 ranks in thirds, then down by quarters.
  rates=$(cut -d, -f4 runs/*/metrics.csv | tail -n +2 | awk '{ printf "%.4f ", $1 }')
  echo "$rates"
  [ "$rates" = "0.0067 0.0133 0.0200 0.0150 0.0100 0.0050 " ]
}

@test "a warm-up that is longer than the run is a usage error with the numbers" {
  # shellcheck disable=SC2086
  run "$trainer" $small --warmup-epochs 3 --runs-dir runs
  [ "$status" -eq 2 ]
  [[ $output == *"60 steps"* ]]
  [ ! -e runs ]
}

@test "accumulation, micro-batches and bucket sizes do not change the losses, and move as much" {
  for options in "--accumulate 4" "--micro-batch 4 --bucket-mb 0.1" "--find-unused-parameters"; do
    rm -rf runs
    # shellcheck disable=SC2086
    ranks 2 $options
    run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 20 "$single"/*/metrics.csv runs/*/metrics.csv
    echo "$options: $output"
    [ "$status" -eq 0 ]
    for one in validation_loss validation_accuracy; do
      value "$single"/* "['epochs'][0]['$one'], $(value runs/* "['epochs'][0]['$one']")" |
        awk -F '[(, )]+' '{ exit !($2 - $3 < 1e-4 && $3 - $2 < 1e-4) }'
    done
    # Parameters of mnistnet, 4 bytes each, once a step.
    [ "$(value runs/* "['epochs'][0]['bytes_reduced']")" = $((421642 * 4 * 20)) ]
  done
}

@test "batch, micro-batch, passes and ranks that do not match are reported with the numbers" {
  run ranks 2 --micro-batch 8 --accumulate 3
  [ "$status" -eq 2 ]
  [[ $output == *"--batch-size 32"*"--micro-batch 8 x --accumulate 3 x 2 ranks is 48"* ]]
  run ranks 2 --accumulate 3
  [ "$status" -eq 2 ]
  [[ $output == *"30 and 36"* ]]
}

@test "gradients in two bytes train nearly the same and move half" {
  for type in bf16 fp16; do
    rm -rf runs
    ranks 2 --compress-gradients $type
    [ "$(value runs/* "['epochs'][0]['bytes_reduced']")" = $((421642 * 2 * 20)) ]
    python3 - "$single"/*/run.json runs/*/run.json <<'PY'
import json, sys
single, compressed = (json.load(open(f))["epochs"][0]["train_loss"] for f in sys.argv[1:])
assert single != compressed and abs(compressed - single) < 0.01 * single, (single, compressed)
PY
  done
}

@test "a step's times add up to no more than the step" {
  ranks 2
  python3 - runs/*/metrics.csv <<'PY'
import csv, sys
parts = ["data_wait_seconds", "forward_seconds", "backward_seconds", "communication_seconds", "optimizer_seconds"]
for row in csv.DictReader(open(sys.argv[1])):
    times = [float(row[name]) for name in parts]
    assert min(times) >= 0 and min(times[1], times[2], times[4]) > 0, row
    assert sum(times) <= float(row["step_seconds"]) * 1.001, row
PY
}

@test "resnet50 with synchronised batch norms on 2 ranks has the losses of one process" {
  # Tiny steps: a fresh ResNet amplifies the rounding of float32 so much that with larger ones, the loss depends on the
  # number of threads. ddp_test shows in double precision that full steps agree.
  resnet="--data $data --image-size 64 --batch-size 8 --limit-samples 40 --threads 1 --optimizer sgd --lr 1e-9"
  # shellcheck disable=SC2086
  "$trainer" $resnet --runs-dir one
  # shellcheck disable=SC2086
  mpirun -np 2 --oversubscribe "$trainer" $resnet --sync-bn --runs-dir two
  run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 5 one/*/metrics.csv two/*/metrics.csv 1e-3
  echo "$output"
  [ "$status" -eq 0 ]
  # Without the option, each rank normalises its own half.
  # shellcheck disable=SC2086
  mpirun -np 2 --oversubscribe "$trainer" $resnet --runs-dir halves
  run python3 "$BATS_TEST_DIRNAME/compare_losses.py" 5 one/*/metrics.csv halves/*/metrics.csv 1e-3
  [ "$status" -ne 0 ]
}

@test "checkpointed activations change no bit: data parallel, synchronised batch norms, sharded" {
  resnet="--data $data --model resnet18 --image-size 32 --batch-size 8 --limit-samples 24 --threads 1"
  for options in "" --sync-bn "--zero 2" "--zero 3"; do
    rm -rf whole again
    # shellcheck disable=SC2086
    mpirun -np 2 --oversubscribe "$trainer" $resnet $options --runs-dir whole
    # shellcheck disable=SC2086
    mpirun -np 2 --oversubscribe "$trainer" $resnet $options --checkpoint-activations --runs-dir again
    cmp whole/*/model.safetensors again/*/model.safetensors
  done
  rm -r again
  # shellcheck disable=SC2086
  "$trainer" $resnet --mode dp --devices cpu:2 --runs-dir dp
  # shellcheck disable=SC2086
  "$trainer" $resnet --mode dp --devices cpu:2 --checkpoint-activations --runs-dir again
  cmp dp/*/model.safetensors again/*/model.safetensors
}

@test "options that contradict each other are refused before the data are read and a run folder is made" {
  for bad in "--sync-bn" "--sync-bn --mode single" "--sync-bn --mode dp --devices cpu:2" \
    "--warmup-steps 2 --warmup-epochs 1" "--backend nccl --device cpu" "--checkpoint-activations" \
    "--backend nccl --mode single" "--compress-gradients bf16 --mode single" "--bucket-mb 5 --mode single" \
    "--find-unused-parameters --mode single" "--initial-scale-power 5" "--scale-growth-interval 9 --precision bf16" \
    "--sync-bn --mode ddp" "--zero 3 --mode ddp --bucket-mb 1" "--store tcp --mode single" \
    "--momentum 0.5" "--decay-epochs 3" "--decay-factor 0.5 --schedule cosine" "--profile-mb 5"; do
    # shellcheck disable=SC2086 # options, meant to be split
    run "$trainer" $model --data nowhere $bad --runs-dir runs
    echo "$bad: $status $output"
    [ "$status" -eq 2 ]
    [[ $output == *"${bad%% *}"* ]]
    [ ! -e runs ]
  done
}

@test "options for several ranks are named in a note if one rank runs without --mode, as in a scaling study" {
  # shellcheck disable=SC2086
  run -0 --separate-stderr "$trainer" $small --limit-samples 32 --bucket-mb 5 --compress-gradients bf16 --runs-dir runs
  echo "$output" "$stderr"
  [[ $output$stderr == *"--bucket-mb, --compress-gradients: no effect in mode single, which has one rank"* ]]
  # shellcheck disable=SC2086
  run -0 "$trainer" $small --limit-samples 32 --runs-dir runs
  [[ $output != *"no effect"* ]]
}

@test "bf16 trains on the CPU, fp16 and tf32 say what they need" {
  # shellcheck disable=SC2086
  "$trainer" $small --precision bf16 --runs-dir runs
  [ "$(value runs/* "['config']['precision']")" = bf16 ]
  python3 - "$single"/*/run.json runs/*/run.json <<'PY'
import json, sys
fp32, bf16 = (json.load(open(f))["epochs"][0]["train_loss"] for f in sys.argv[1:])
assert fp32 != bf16 and abs(bf16 - fp32) < 0.05 * fp32, (fp32, bf16)
PY
  for precision in fp16 tf32; do
    # shellcheck disable=SC2086
    run "$trainer" $small --device cpu --precision $precision --runs-dir runs
    [ "$status" -eq 30 ]
    [[ $output == *"$precision on the CPU"* ]]
  done
}

@test "a step that cannot be recorded as a CUDA graph is refused, with the reason" {
  # shellcheck disable=SC2086
  run "$trainer" $small --device cpu --cuda-graph
  [ "$status" -eq 30 ]
  [[ $output == *"--cuda-graph on the CPU"* ]]
  # shellcheck disable=SC2086
  run "$trainer" $small --device cpu --cuda-graph --mode dp
  [ "$status" -eq 2 ]
  [[ $output == *"--cuda-graph needs mode single; this run uses mode dp"* ]]
  # shellcheck disable=SC2086
  run "$trainer" $small --device cpu --cuda-graph --accumulate 2
  [ "$status" -eq 2 ]
  [[ $output == *"--cuda-graph cannot be used with --micro-batch or --accumulate"* ]]
  # shellcheck disable=SC2086
  run "$trainer" $small --device cpu --cuda-graph --model resnet50 --checkpoint-activations
  [ "$status" -eq 2 ]
  [[ $output == *"--cuda-graph cannot be used with --checkpoint-activations"* ]]
}

@test "a configuration file sets options, and the command line wins" {
  printf 'model = mnistnet\nimage-size = 28\nbatch-size = 16\nlimit-samples = 32\nepochs = 2\n' >c.ini
  "$trainer" --config c.ini --data "$data" --epochs 1 --runs-dir runs
  [ "$(value runs/* "['config']['batch_size']")" = 16 ]
  [ "$(value runs/* "['config']['epochs']")" = 1 ]
  # If an option is given twice, the last one counts: scripts append their user's.
  "$trainer" --config c.ini --data "$data" --epochs 3 --epochs 1 --runs-dir twice
  [ "$(value twice/* "['config']['epochs']")" = 1 ]
  printf 'no-tensorboard = true\n' >quiet.ini
  # shellcheck disable=SC2086
  "$trainer" --config quiet.ini $small --limit-samples 32 --runs-dir quiet
  [ -z "$(find quiet -name 'events.out.tfevents.*')" ]
  # shellcheck disable=SC2086
  "$trainer" --config quiet.ini --tensorboard $small --limit-samples 32 --runs-dir told
  [ -n "$(find told -name 'events.out.tfevents.*')" ]
  run "$trainer" --config .
  [ "$status" -eq 27 ]
  echo "nonsense = 1" >bad.ini
  run "$trainer" --config bad.ini --data "$data"
  [ "$status" -eq 2 ]
  [[ $output == *nonsense* ]]
  echo "epochs 3" >bad.ini
  run "$trainer" --config bad.ini --data "$data"
  [ "$status" -eq 2 ]
  [[ $output == *"bad.ini:1: 'epochs 3'; expected NAME = VALUE"* ]]
  run "$trainer" --config missing.ini
  [ "$status" -eq 27 ]
  [[ $output == *"'missing.ini' cannot be read: No such file or directory"* ]]
  printf '# all of it\n\n  comment = "run #3" # quoted\nseed=5\t# five\r\ntensorboard = false #\n' >marks.ini
  # shellcheck disable=SC2086
  "$trainer" --config marks.ini $small --limit-samples 32 --runs-dir marks
  [ "$(value marks/* "['config']['comment'], r['config']['seed'], r['config']['tensorboard']")" = "('run #3', 5, False)" ]
  # Editors on Windows begin a file so.
  printf '\xef\xbb\xbfcomment = a#b' >marks.ini
  # shellcheck disable=SC2086
  "$trainer" --config marks.ini $small --limit-samples 32 --runs-dir mark
  [ "$(value mark/* "['config']['comment']")" = "a#b" ]
}

@test "an error in a configuration file is named with its line, and with what was expected" {
  refused() {
    printf '# first\n\n%b\n' "$1" >c.ini
    run -2 "$trainer" --config c.ini --data nowhere
    echo "$1: $output"
    [[ $output == *"c.ini:$2"* ]]
  }
  refused 'lr = abc' "3: --lr is 'abc'; expected a number"
  refused 'seed = 1\nepochs = 3000000000' "4: --epochs is '3000000000'; expected a number of at most 2147483647"
  refused 'mode = x' "3: --mode is 'x'; expected auto, single, dp or ddp"
  refused 'sync-bn = maybe' "3: --sync-bn is 'maybe'; expected true or false"
  refused 'epoch = 3' "3: unrecognised option 'epoch'; did you mean epochs?"
  refused 'lr = 1\nlr = 2' "4: 'lr' is already set in line 3; expected each option once"
  refused 'lr 1 # x' "3: 'lr 1'; expected NAME = VALUE"
  refused 'comment = "x' '3: the value is "x; expected a " at its end'
  refused 'comment = "x" y' '3: the value is "x" y; expected a " at its end'
  printf '\xff\xfel\0r\0' >wide.ini
  run -2 "$trainer" --config wide.ini --data nowhere
  [[ $output == *"wide.ini: a zero byte, as UTF-16 has, at offset 3; expected UTF-8"* ]]
}

@test "missing data, an unwritable runs folder and a missing device are clear errors" {
  run "$trainer" --data nowhere --runs-dir runs
  [ "$status" -eq 40 ]
  [[ $output == *"setup/get-mnist"* ]]
  # shellcheck disable=SC2086
  run "$trainer" $small --runs-dir /proc/nowhere
  [ "$status" -eq 42 ]
  # shellcheck disable=SC2086
  run "$trainer" $small --device cuda --runs-dir runs
  [ "$status" -eq 30 ] || [ "$status" -eq 0 ] # 0 on a machine with a GPU
}

@test "a rank that never comes is named by the others, within the deadline" {
  # Rank 1 sleeps instead of training. To the others, this looks like a node that hangs.
  cat >wrapper <<'EOF'
#!/bin/bash
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec sleep 60; fi
exec "$@"
EOF
  chmod +x wrapper
  begin=$SECONDS
  # shellcheck disable=SC2086
  run mpirun -np 3 --oversubscribe ./wrapper "$trainer" $small --batch-size 33 --runs-dir runs --start-up-timeout 4
  echo "$output"
  [ "$status" -ne 0 ]
  [ $((SECONDS - begin)) -lt 30 ]
  [[ $output == *"deadline_exceeded"* ]]
  [[ $output == *"rank 1"* ]]
}

@test "an address or a port that the user chose holds, and a taken port is named" {
  port=$(free_port)
  HPCBOOT_MASTER_ADDR=127.0.0.1 HPCBOOT_MASTER_PORT=$port ranks 2 --limit-samples 32
  grep -q "store at 127.0.0.1:$port, authenticated by" runs/*/rank_01.log
  rm -r runs
  HPCBOOT_MASTER_PORT=$port ranks 2 --limit-samples 32
  grep -q ":$port, published by pmix" runs/*/rank_01.log
  hold_port "$port"
  HPCBOOT_MASTER_PORT=$port run ranks 2 --limit-samples 32 --start-up-timeout 10
  [ "$status" -ne 0 ]
  [[ $output == *"port $port of this host is taken"* ]]
  [[ $output == *HPCBOOT_MASTER_PORT* ]]
}

@test "a killed rank ends the job, and a rank that is left says so" {
  ranks 2 --epochs 500 >out 2>&1 &
  job=$!
  await_first_steps
  pid=$(value runs/* "['ranks'][1]['pid']")
  kill -KILL "$pid"
  begin=$SECONDS
  status=0
  wait "$job" || status=$?
  cat out
  [ "$status" -ne 0 ]
  [ $((SECONDS - begin)) -lt 15 ]
}

@test "SIGTERM ends the run cleanly: the record says so" {
  # shellcheck disable=SC2086
  "$trainer" $small --epochs 500 --runs-dir runs >out 2>&1 &
  job=$!
  await_first_steps
  kill -TERM "$job"
  status=0
  wait "$job" || status=$?
  [ "$status" -eq 46 ]
  [ "$(value runs/* "['exit_reason']")" = "signal TERM" ]
}

@test "a loss that is not a number ends the run, and the message says what to try" {
  # shellcheck disable=SC2086
  run "$trainer" $small --lr 1e30 --runs-dir runs
  [ "$status" -eq 45 ]
  [[ $output == *"--lr"* ]]
  [[ $(value runs/* "['exit_reason']") == error:* ]]
}

@test "a validation loss that is not a number ends the run, whose weights are no checkpoint" {
  for n in 1 2; do
    rm -rf runs
    # One step: the training does not see the weights that it makes.
    run ranks "$n" --data-fraction 0.05 --lr 1e30 --epochs 2 --runs-dir runs
    echo "$output"
    [ "$status" -eq 45 ]
    [ "$(grep -c 'the validation loss is nan after step 1 of the run, epoch 1$' <<<"$output")" -eq 1 ]
    [[ $output == *"validation loss nan, "* ]]
    [[ $output == *"--lr"*"test split"* ]]
    [[ $(value runs/* "['exit_reason']") == "error: the validation loss is nan"* ]]
    [ -z "$(find runs -name '*.safetensors')" ]
  done
}

@test "a terminal gets a progress bar, a file does not" {
  command -v script >/dev/null || skip "no script(1) on this machine"
  script -qec "$trainer $small --runs-dir runs" typescript >/dev/null
  grep -q 'epoch 1/1 \[#' typescript
  # The bar is removed before a line is printed.
  run grep 'ETA[^\r]*first step' <(tr '\r' '\n' <typescript)
  [ "$status" -eq 1 ]
  # shellcheck disable=SC2086
  "$trainer" $small --runs-dir runs >out 2>&1
  run grep '\[#' out
  [ "$status" -eq 1 ]
  grep -q '^epoch 1/1: train loss' out
}

@test "a run that was started with closed streams writes into none of its files" {
  # shellcheck disable=SC2086
  "$trainer" $small --limit-samples 64 --runs-dir runs <&- >&- 2>&-
  [ -n "$(find runs -name run.lock -empty)" ] # as it is at the end
  run grep -v '^2[0-9-]*T' runs/*/rank_00.log
  [ "$status" -eq 1 ]
}

@test "output that cannot be written is a failure of what only prints" {
  [ -e /dev/full ] || skip "no /dev/full here"
  for verb in "inspect $data" "--version"; do
    code=0
    # shellcheck disable=SC2086
    "$trainer" $verb >/dev/full 2>err || code=$?
    [ "$code" -eq 1 ]
    grep -q 'standard output cannot be written' err
  done
}

@test "a run whose output is no longer read trains to its end" {
  # shellcheck disable=SC2086
  "$trainer" $small --limit-samples 64 --epochs 3 --runs-dir runs 2>&1 | true
  codes=("${PIPESTATUS[@]}")
  [ "${codes[0]}" -eq 0 ]
  [ "$(value runs/* "['exit_reason']")" = finished ]
  [ -n "$(find runs -name model.safetensors)" ]
}

# trains_under LOADAVG: 2 ranks on a host whose /proc/loadavg contains this; their output is in `out`.
trains_under() {
  echo "$1" >loadavg
  # shellcheck disable=SC2016 # for the inner shell
  small="$small" unshare -m bash -euc 'mount --bind loadavg /proc/loadavg
    mpirun -np 2 --oversubscribe "$trainer" $small --runs-dir runs' >out 2>&1
  cat out
}

@test "the load of each host is recorded, and a busy host is noted once by rank 0, and marked by runtable" {
  unshare -m true 2>/dev/null || skip "no mount namespaces here (root needed)"
  local processors
  processors=$(getconf _NPROCESSORS_ONLN)
  trains_under "$processors.25 9.00 9.00 $((processors + 2))/300 77"
  [ "$(grep -c "^trainer: host $(hostname) was busy at the start: load $processors.2 on $processors processors\$" out)" = 1 ]
  [ "$(value runs/* "['hosts'].__len__()")" = 1 ]
  [ "$(value runs/* "['hosts'][0]['host']")" = "$(hostname)" ]
  [ "$(value runs/* "['hosts'][0]['processors']")" = "$processors" ]
  [ "$(value runs/* "['hosts'][0]['load_at_start']")" = "$processors.25" ]
  [ "$(value runs/* "['hosts'][0]['load_at_end']")" = "$processors.25" ]
  [ "$(value runs/* "['hosts'][0]['others_at_start']")" = "$processors.0" ] # without the 2 ranks
  [ "$(value runs/* "['hosts'][0]['busy']")" = True ]
  run -0 "$runtable" runs
  [[ ${lines[1]} == *" *"[0-9]* ]]
  [[ ${lines[2]} == "* Other programs kept hosts of the run busy"* ]]
  [ "$("$runtable" runs --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["busy_hosts"])')" = "['$(hostname)']" ]
  rm -r runs
  # The load still includes an earlier run that has just ended.
  trains_under "$processors.25 9.00 9.00 2/300 77"
  run ! grep 'busy at the start' out
}
