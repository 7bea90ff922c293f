#!/usr/bin/env bats
# Output that cannot be written is a failure: every verb of the three programs with a full device and with a closed
# standard output, whose descriptor no file that is opened later may get.

bats_require_minimum_version 1.5.0

setup_file() {
  BIN=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")
  export BIN OMP_NUM_THREADS=1
}

setup() {
  [ -x "$BIN/hpcboot" ] || skip "$BIN/hpcboot is not built"
  [ -e /dev/full ] || skip "no /dev/full here"
  cd "$BATS_TEST_TMPDIR" || return
  mkdir job
  printf 'RANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nMASTER_ADDR=n1\nMASTER_PORT=1\n' >job/rank0.env
  echo n1 >job/rank0.hostname
  printf '#!/bin/bash\n#SBATCH -partition=x\n' >job.sh
}

# fails COMMAND…: it exits with 1 and reports on standard error what it cannot write to.
fails() {
  local code=0
  rm -rf other out.safetensors
  timeout 60 "$@" >/dev/full 2>err </dev/null || code=$?
  printf '%q ' "$@" && echo ">/dev/full gave $code" && cat err
  [ "$code" -eq 1 ]
  grep -q 'standard output cannot be written' err
  code=0
  rm -rf other out.safetensors
  timeout 60 "$@" >&- 2>err </dev/null || code=$?
  printf '%q ' "$@" && echo ">&- gave $code" && cat err
  [ "$code" -le 1 ] # a program without standard output may treat it as unread
}

@test "hpcboot: every verb that prints" {
  local verbs verb words
  declare -A of=([show]="--json --explain" [env]="--env-file job/rank0.env" [check]="" [hosts]="expand n[1-3]"
    [capture]="new" [replay]="job" [sanitize]="" [doctor]="--env-file job/rank0.env" [lint]="job.sh" [script]="--list"
    [completion]="bash" [manual]="" [launchers]="" [run]="--dry-run -- true" [site]="show lab")
  mapfile -t verbs < <("$BIN/hpcboot" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
  [ "${#verbs[@]}" -gt 10 ]
  for verb in "${verbs[@]}"; do
    fails "$BIN/hpcboot" "$verb" --help
    case $verb in exec | jobs | logs | cancel) continue ;; esac # the program prints, or the test below covers it
    [[ -v of[$verb] ]] || { echo "a verb that this test does not know: $verb" && return 1; }
    read -r -a words <<<"${of[$verb]}"
    rm -rf new
    if [ "$verb" = script ] && ! "$BIN/hpcboot" script --list >/dev/null 2>&1; then continue; fi
    if [ "$verb" = capture ]; then
      # Each try needs a new folder.
      fails "$BIN/hpcboot" capture "new$RANDOM"
    else
      fails env -i PATH="$PATH" HOME="$HOME" "$BIN/hpcboot" "$verb" "${words[@]}"
    fi
  done
  for words in --help --version "show --json" "show" "doctor --json --env-file job/rank0.env" "lint --list-rules" \
    "lint --format json job.sh" "replay --json job"; do
    # shellcheck disable=SC2086
    fails env -i PATH="$PATH" "$BIN/hpcboot" $words
  done
}

@test "hpcboot: the verbs that ask a scheduler" {
  mkdir -p bin state/hpcboot/submitted
  chmod 700 state/hpcboot/submitted
  printf '#!/bin/sh\ncase "$*" in *config) echo "ClusterName = c" ;; *) echo "JobId=7 JobName=x JobState=RUNNING" ;; esac\n' >bin/scontrol
  printf '#!/bin/sh\necho "7|RUNNING|1|1795472170|1795472170|N/A|10:00|None|n1|x"\n' >bin/squeue
  printf '#!/bin/sh\n' >bin/scancel
  chmod +x bin/*
  printf '{"id": "7", "scheduler": "slurm", "cluster": "c", "output": ["%s/job.sh"]}' "$PWD" >state/hpcboot/submitted/7.json
  for words in jobs "jobs 7" "jobs --json" "logs 7" logs "cancel 7"; do
    # shellcheck disable=SC2086
    fails env -i PATH="$PWD/bin:$PATH" XDG_STATE_HOME="$PWD/state" "$BIN/hpcboot" $words
  done
}

# limited COMMAND…: no file may be larger than 1 KiB.
limited() { (ulimit -c 0 -f 1 && exec "$@"); }

@test "hpcboot: at the limit of the size of files a write fails, and only programs are ended" {
  "$BIN/hpcboot" run --help >/dev/null 2>&1 || skip "this build has no hpcboot run"
  # shellcheck disable=SC2016 # for the shell
  run -1 limited bash -c '"$0" run --help >help' "$BIN/hpcboot"
  [ "$output" = "hpcboot: standard output cannot be written" ]
  run -0 limited "$BIN/hpcboot" run --launcher local --no-prefix --output-dir out -- printf %05000d 0
  [[ $output == *"rank_0000.out is incomplete: File too large"* ]]
  local words
  for words in "exec" "run --launcher local" "run --launcher local --study strong --ranks 1 --repeat 1"; do
    # shellcheck disable=SC2086
    run -153 limited "$BIN/hpcboot" $words -- bash -c 'printf %05000d 0 >big'
    echo "$words: $output"
  done
}

@test "runtable: every format" {
  [ -x "$BIN/runtable" ] || skip "$BIN/runtable is not built"
  for words in --help --version "--format table" "--format csv" "--format md" "--format json" "--format html"; do
    # shellcheck disable=SC2086
    fails "$BIN/runtable" "$BATS_TEST_DIRNAME/../golden/runtable/runs" $words
  done
  fails "$BIN/runtable" plot --help
  fails "$BIN/runtable" plot runtime "$BATS_TEST_DIRNAME/../golden/runtable/runs"
  for verb in report diff watch export; do fails "$BIN/runtable" $verb --help; done
  fails "$BIN/runtable" diff "$BATS_TEST_DIRNAME"/../golden/runtable/runs/20261120_1{0,1}0000_*
  fails "$BIN/runtable" export --to csv "$BATS_TEST_DIRNAME/../golden/runtable/runs"
  fails "$BIN/runtable" watch --once "$BATS_TEST_DIRNAME/../golden/runtable/runs/20261120_100000_single_1x1"
  fails "$BIN/runtable" report --no-plots "$BATS_TEST_DIRNAME/../golden/runtable/runs"
}

@test "trainer: every verb that only prints" {
  [ -x "$BIN/trainer" ] || skip "$BIN/trainer is not built"
  "$BIN/trainer" digits data --train 64 --test 10 >/dev/null
  for words in --help --version "digits --help" "pictures --help" "convert --help" "inspect --help" "inspect data" "inspect --json data" \
    "digits other --train 10 --test 10" "pictures other --train 10 --test 10" "convert data out.safetensors"; do
    # shellcheck disable=SC2086
    fails "$BIN/trainer" $words
  done
}
