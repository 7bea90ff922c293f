#!/usr/bin/env bats
# Failures of a training run: memory, losses, disks, data, ranks. Each ends the run in time, with its own exit code and
# a message that says what to do; saved files remain.
# shellcheck disable=SC2154 # $trainer, $small and $model are set in helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
}

setup() {
  need_mpirun
  cd "$BATS_TEST_TMPDIR" || return 1
}

# A disk of one MiB at `disk`, for one script: in a separate mount namespace, which needs root.
on_small_disk() {
  unshare -m true 2>/dev/null || skip "no mount namespaces here (root needed)"
  mkdir disk
  run timeout 120 unshare -m bash -euc "mount -t tmpfs -o size=1m none disk; $1"
  echo "$output"
}

# `wrapper COMMAND…` for each rank: writes the ranks' exit codes to `codes`. It returns only after all ranks have ended
# by themselves, since the launcher would end the others after the first.
write_wrapper() {
  cat >wrapper <<'EOF'
#!/bin/bash
"$@"
code=$?
echo "$OMPI_COMM_WORLD_RANK $code" >>codes
for _ in $(seq 300); do
  if [ "$(wc -l <codes)" -eq "$OMPI_COMM_WORLD_SIZE" ]; then break; fi
  sleep 0.1
done
exit $code
EOF
  chmod +x wrapper
}

# Float images as safetensors; image number $2 contains a NaN.
write_images() {
  python3 - "$1" "$2" <<'PY'
import array, json, struct, sys
header, blob = {}, b""
for half, count in (("train", 64), ("test", 8)):
    pixels = array.array("f", [(i % 97) / 97 for i in range(count * 64)])
    if half == "train" and int(sys.argv[2]) >= 0:
        pixels[int(sys.argv[2]) * 64] = float("nan")
    for name, kind, shape, data in ((half + "/images", "F32", [count, 1, 8, 8], pixels),
                                    (half + "/labels", "I64", [count], array.array("q", [i % 10 for i in range(count)]))):
        raw = data.tobytes()
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
text = json.dumps(header).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + blob)
PY
}

@test "running out of memory is 47, with the numbers and the options that need less" {
  # The first case fails in LibTorch's allocator in the forward pass, the second in the C++ library's while a batch is
  # assembled.
  for options in "--image-size 1024 --batch-size 64 --limit-samples 64" "--image-size 2048 --batch-size 640"; do
    rm -rf runs
    # shellcheck disable=SC2016,SC2086 # for the inner shell; options
    run bash -c 'ulimit -v 6000000; exec "$0" "$@"' "$trainer" $small $options
    echo "$output"
    [ "$status" -eq 47 ]
    batch=$(grep -o 'batch-size [0-9]*' <<<"$options" | cut -d' ' -f2)
    [[ $output == *"rank 0 of 1 on $(hostname)"*"not enough memory for "*"$batch images per pass"*"--micro-batch $((batch / 2)) --accumulate 2"* ]]
    [[ $(value runs/* "['exit_reason']") == "error: not enough memory"* ]]
  done
}

@test "the validation needs no larger passes than a step, and says so if it runs out of memory" {
  # A training image, and some forty test images.
  few="--data synthetic:256x1x28x28 $model --data-fraction 0.001 --image-size 512 --batch-size 64"
  # shellcheck disable=SC2016,SC2086 # for the inner shell; options
  run bash -c 'ulimit -v 3000000; exec "$0" "$@"' "$trainer" $few
  echo "$output"
  [ "$status" -eq 47 ]
  [[ $output == *"not enough memory for the validation, with 64 images per pass"*"--micro-batch 32 --accumulate 2"* ]]
  rm -r runs
  # shellcheck disable=SC2016,SC2086 # for the inner shell; options
  bash -c 'ulimit -v 3000000; exec "$0" "$@"' "$trainer" $few --micro-batch 1
  [ "$(value runs/* "['exit_reason']")" = finished ]
}

@test "an error of LibTorch is reported with the rank, and recorded" {
  # shellcheck disable=SC2086
  run "$trainer" $small --lr 1e300
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"rank 0 of 1 on $(hostname)"*"value cannot be converted to type"* ]]
  [[ $output != *"Exception raised"* && $output != *"frame #"* ]]
  [[ $(value runs/* "['exit_reason']") == "error: value cannot be converted to type float without overflow" ]]
}

@test "if one rank of 2 runs out of memory, the job ends, and that rank says why" {
  cat >wrapper <<'EOF'
#!/bin/bash
if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then ulimit -v 6000000; fi
exec "$@"
EOF
  chmod +x wrapper
  # shellcheck disable=SC2086
  run timeout 120 mpirun -np 2 --oversubscribe ./wrapper "$trainer" --data synthetic:8x1x28x28 $model --image-size 2400 --batch-size 16
  echo "$output"
  [ "$status" -ne 0 ]
  [ "$status" -ne 124 ]
  [[ $output == *"rank 1 of 2 on "*"error 47 (out_of_memory)"* ]]
}

@test "a loss that is not a number is reported once, with step, epoch, learning rate and the rank whose images caused it" {
  write_images nan.safetensors 40
  write_wrapper
  # shellcheck disable=SC2086
  for n in 2 4; do
    rm -rf runs codes
    run timeout 120 mpirun -np "$n" --oversubscribe ./wrapper "$trainer" --data nan.safetensors $model --image-size 8 --batch-size 16 --lr 0.25
    echo "$output"
    cat codes
    [ "$status" -eq 45 ]
    [ "$(grep -c ' 45$' codes)" -eq "$n" ]
    # Every rank detects it; rank 0 reports it for all, and each writes it to its log.
    [ "$(grep -c 'the training loss is nan' <<<"$output")" -eq 1 ]
    [[ $output == *"rank 0 of $n on $(hostname)"* ]]
    [ "$(grep -l 'the training loss is nan' runs/*/rank_*.log | wc -l)" -eq "$n" ]
    grep -qE "the training loss is nan in step [1-4] of the run, epoch 1, at a learning rate of 0.25, first seen on rank [0-3] on $(hostname)$" <<<"$output"
    [[ $output == *"--lr"*"--clip-grad-norm"*"--precision"* ]]
    [[ $(value runs/* "['exit_reason']") == "error: the training loss is nan"* ]]
  done
  write_images whole.safetensors -1
  # shellcheck disable=SC2086
  "$trainer" --data whole.safetensors $model --image-size 8 --batch-size 16 --lr 0.25
}

@test "a disk that fills up during the training ends it with 42, and what was saved can be read" {
  # The model alone is larger than the disk, so the run reaches its last step; or another program fills the disk before.
  for filler in 0 1; do
    rm -rf disk
    on_small_disk "
      \"$trainer\" $small --runs-dir disk --epochs $((filler == 0 ? 2 : 500)) & job=\$!
      if [ $filler = 1 ]; then
        for _ in \$(seq 600); do if grep -q '^2,' disk/*/metrics.csv; then break; fi; sleep 0.1; done
        cat /dev/zero >disk/filler || true
      fi
      code=0; wait \$job || code=\$?
      cp -r disk saved$filler; exit \$code"
    [ "$status" -eq 42 ]
    [[ $output == *"rank 0 of 1 on $(hostname)"*"No space left on device"*"--runs-dir"* ]]
    folder=$(echo saved$filler/*/)
    [ ! -e "$folder/model.safetensors" ]
    [ "$(value "$folder" "['epochs'][0]['epoch']")" = 1 ]
    python3 - "$folder/metrics.csv" <<'PY'
import sys
rows = open(sys.argv[1]).read().split("\n")[:-1]
assert len(rows) > 20 and len({row.count(",") for row in rows}) == 1, rows[-2:]
PY
  done
}

@test "a runs folder that cannot be written ends all ranks with 42, before the training" {
  unshare -m true 2>/dev/null || skip "no mount namespaces here (root needed)"
  mkdir full
  for n in 2 4; do
    run timeout 60 unshare -m bash -euc "mount -t tmpfs -o ro none full
      mpirun -np $n --oversubscribe \"$trainer\" $small --runs-dir full/runs"
    echo "$output"
    [ "$status" -eq 42 ]
    [[ $output == *"rank 0 of $n on $(hostname)"*"Read-only file system"*"writable place"* ]]
    [[ $output != *"images/s"* ]]
    [[ $output != *"peer_lost"* ]]
  done
}

@test "a damaged image in the middle of an epoch is reported with its file and number" {
  "$trainer" convert "$data" a.h5 --chunk 10
  python3 - a.h5 <<'PY'
import sys
raw = bytearray(open(sys.argv[1], "rb").read())
raw[len(raw) // 2] ^= 1
open(sys.argv[1], "wb").write(raw)
PY
  for n in 1 2; do
    rm -rf runs
    # shellcheck disable=SC2086
    run timeout 120 mpirun -np "$n" --oversubscribe "$trainer" --data a.h5 $model
    echo "$output"
    [ "$status" -eq 41 ]
    grep -qE "image [0-9]+: 'a.h5', array 'train/images'" <<<"$output"
    [ "$(value runs/* "['exit_reason']" | grep -c "error: ")" -eq 1 ]
  done
}

@test "a data file that is truncated while the training reads it is reported with its name" {
  "$trainer" convert "$data" a.safetensors
  # shellcheck disable=SC2086
  "$trainer" --data a.safetensors $model --epochs 500 >out 2>&1 &
  job=$!
  await_first_steps
  truncate -s 100000 a.safetensors
  status=0
  wait "$job" || status=$?
  cat out
  [ "$status" -eq 41 ]
  grep -qE "image [0-9]+: 'a.safetensors'" out
}

@test "a rank that is killed is named by the others, which end at once, and none is left" {
  write_wrapper
  for n in 2 4; do
    rm -rf runs codes
    # shellcheck disable=SC2086
    timeout 200 mpirun -np "$n" --oversubscribe ./wrapper "$trainer" $small --epochs 5000 --collective-timeout 20 >out 2>&1 &
    job=$!
    await_first_steps
    mapfile -t all < <(pids)
    kill -KILL "${all[1]}"
    begin=$SECONDS
    status=0
    wait "$job" || status=$?
    cat out codes
    [ "$status" -ne 0 ]
    [ $((SECONDS - begin)) -lt 20 ]
    [ "$(grep -cE "^[0-9] 44$" codes)" -eq $((n - 1)) ]
    [ "$(grep -c "rank 1 of $n on $(hostname) (pid ${all[1]}) has left" out)" -ge 1 ]
    grep -q "error 44 (peer_lost)" out
    await none_left "${all[@]}"
    [ "$(value runs/* "['exit_reason']" | grep -c '^error: .*; rank 1 of .* has left')" -eq 1 ]
  done
}

@test "a rank that is stopped is named by the others after the collective timeout, and none is left" {
  # Rank 0 serves the store through which the remaining ranks report to each other.
  for case in "2 1" "4 1" "2 0"; do
    read -r n victim <<<"$case"
    rm -rf runs
    ranks "$n" --epochs 5000 --collective-timeout 5 >out 2>&1 &
    job=$!
    await_first_steps
    mapfile -t all < <(pids)
    kill -STOP "${all[victim]}"
    begin=$SECONDS
    status=0
    wait "$job" || status=$?
    cat out
    [ "$status" -ne 0 ]
    [ $((SECONDS - begin)) -ge 3 ]
    [ $((SECONDS - begin)) -lt 40 ]
    who="rank $victim of $n on $(hostname) (pid ${all[victim]})"
    grep -qF "$who is stopped" out
    # To end it, the launcher continues the stopped rank, which then reports that the others do not answer. If one of
    # several others leaves early, it may so answer before the rest have stopped waiting for it.
    awk -v victim="$victim" '/^trainer: rank/ { own = $3 == victim } !own && /does not answer/' out | sort -u >named
    [ "$(wc -l <named)" -le 1 ]
    if [ "$n" -eq 2 ] || [ -s named ]; then grep -qF "$who does not answer" named; fi
    grep -q "(deadline_exceeded)" out
    await none_left "${all[@]}"
  done
}
