# What the tests of whole runs share: programs, options, data, and how a run is watched.
# shellcheck shell=bash
bats_require_minimum_version 1.5.0

# For setup_file: `trainer` and `runtable`, and `model`, the options of a small model.
use_programs() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
  local bin=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}
  export trainer=$bin/trainer runtable=$bin/runtable
  export model="--model mnistnet --image-size 28 --batch-size 32 --threads 1"
}

# For setup_file, after it: images at `data`, and `small`, the options of a run over them in 20 steps of 32.
draw_digits() {
  export data=$BATS_FILE_TMPDIR/data
  "$trainer" digits "$data" --train 640 --test 100 >/dev/null
  export small="--data $data $model"
}

# Each test has a folder of its own, in which `runs` is where its runs go.
setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# Runs in the background end with their test, however it ends; mpirun ends its ranks when it is told in order.
teardown() {
  local job
  for job in $(jobs -p); do
    kill -TERM "$job" 2>/dev/null || continue
    for ((i = 0; i < 100; ++i)); do
      kill -0 "$job" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$job" 2>/dev/null || true
  done
  wait || true
}

need_mpirun() { command -v mpirun >/dev/null || skip "no mpirun on this machine"; }

fail() {
  printf '%s\n' "$@" >&2
  return 1
}

# ranks N OPTION…: a small run of so many ranks.
ranks() {
  local n=$1
  shift
  # shellcheck disable=SC2086 # options, meant to be split
  mpirun -np "$n" --oversubscribe "$trainer" $small "$@"
}

# value RUN EXPRESSION: what run.json holds there, such as "['epochs'][0]['steps']".
value() { python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(eval("r" + sys.argv[2]))' "$1"/run.json "$2"; }

# What TensorBoard reads in a run folder, a line `TAG STEP VALUE` each, in $events.
read_events() {
  local python=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/../tests/tensorboard-venv/bin/python
  "$python" -c 'import tensorboard' || skip "no tensorboard in the environment of the test tensorboard_venv"
  events=$("$python" "$BATS_TEST_DIRNAME/../support/read_events.py" "$1" 2>/dev/null)
  echo "$events"
}

# The processes of the run in runs/, by rank.
pids() { value runs/* "['ranks']" | grep -o "'pid': [0-9]*" | cut -d' ' -f2; }

# None of these processes is left, a zombie neither.
none_left() {
  local pid
  for pid in "$@"; do
    if [ -e "/proc/$pid" ]; then return 1; fi
  done
}

# has_line FILE PATTERN, where FILE may be a pattern, too.
# shellcheck disable=SC2086
has_line() { grep -qs -- "$2" $1; }

# await COMMAND…: until it succeeds, at most 60 s.
await() {
  local end=$((SECONDS + 60))
  until "$@" 2>/dev/null; do
    ((SECONDS < end)) || fail "not so within 60 s: $*" "$(cat out 2>/dev/null)" || return
    sleep 0.05
  done
}

# await_first_steps [RUNS_DIR]: until a run in the background has recorded steps.
await_first_steps() { await has_line "${1:-runs}/*/metrics.csv" '^1,'; }
