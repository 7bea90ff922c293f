# Shared by the tests of complete runs: programs, options, data, and functions to observe a run.
# shellcheck shell=bash
bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi

# For setup_file: `trainer` and `runtable`, and `model`, the options of a small model.
use_programs() {
  use_open_mpi
  export OMP_NUM_THREADS=1
  local bin=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}
  export trainer=$bin/trainer runtable=$bin/runtable
  export model="--model mnistnet --image-size 28 --batch-size 32 --threads 1"
}

# For setup_file, after use_programs: images at `data`, and `small`, the options of a run over them in 20 steps of 32.
draw_digits() {
  export data=$BATS_FILE_TMPDIR/data
  "$trainer" digits "$data" --train 640 --test 100 >/dev/null
  export small="--data $data $model"
}

# Each test has its own folder, and its runs are in `runs` there.
setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

teardown() { end_jobs; }

need_mpirun() { command -v mpirun >/dev/null || skip "no mpirun on this machine"; }

# ranks N OPTION…: a small run on N ranks.
ranks() {
  local n=$1
  shift
  # shellcheck disable=SC2086 # options, meant to be split
  mpirun -np "$n" --oversubscribe "$trainer" $small "$@"
}

# value RUN EXPRESSION: a value of run.json, such as "['epochs'][0]['steps']".
value() { python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(eval("r" + sys.argv[2]))' "$1"/run.json "$2"; }

# Sets $pypi to a Python with packages of PyPI.
use_pypi() {
  pypi=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/../tests/pypi-venv/bin/python
  [ -x "$pypi" ] || skip "no environment of the test pypi_venv"
}

# Sets $events to what TensorBoard reads in a run folder, one line `TAG STEP VALUE` per event.
read_events() {
  use_pypi
  events=$("$pypi" "$BATS_TEST_DIRNAME/../support/read_events.py" "$1" 2>/dev/null)
  echo "$events"
}

# The processes of the run in runs/, by rank.
pids() { value runs/* "['ranks']" | grep -o "'pid': [0-9]*" | cut -d' ' -f2; }

# No process of these exists, not even as a zombie.
none_left() {
  local pid
  for pid in "$@"; do
    if [ -e "/proc/$pid" ]; then return 1; fi
  done
}

# has_line FILE PATTERN; FILE may be a pattern, too.
# shellcheck disable=SC2086
has_line() { grep -qs -- "$2" $1; }

# await_first_steps [RUNS_DIR]: waits until a run in the background has recorded steps.
await_first_steps() { await has_line "${1:-runs}/*/metrics.csv" '^1,'; }
