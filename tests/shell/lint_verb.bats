#!/usr/bin/env bats
# hpcboot lint: exit codes, formats and options. The rules themselves are tested by lint_tests.

bats_require_minimum_version 1.5.0

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  cd "$BATS_TEST_TMPDIR" || return
  printf '#!/bin/bash\n#SBATCH --nodes=1\nhostname\n' >good.sh
  printf '#!/bin/bash\n#SBATCH --nodes=1\ncd $SLURM_SUBMIT_DIR\n' >warned.sh
  printf '#!/bin/bash\n#SBATCH --time=1h\ncd $SLURM_SUBMIT_DIR\n' >bad.sh
}

@test "a clean script: no output, exit code 0" {
  run --separate-stderr "$HPCBOOT" lint --strict good.sh
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ]
}

@test "errors are exit code 1, warnings only with --strict" {
  run --separate-stderr "$HPCBOOT" lint warned.sh
  [ "$status" -eq 0 ]
  [[ $output == "warned.sh:3:4: warning: "*"[cd-unquoted]"*"why: "*"do:  "* ]]
  run "$HPCBOOT" lint --strict warned.sh
  [ "$status" -eq 1 ]
  run --separate-stderr "$HPCBOOT" lint good.sh bad.sh
  [ "$status" -eq 1 ]
  [[ $output == "bad.sh:2:16: error: "*"bad.sh:3:4: warning: "* ]]
  [ -z "$stderr" ]
}

@test "- is standard input" {
  run "$HPCBOOT" lint - <bad.sh
  [ "$status" -eq 1 ]
  [[ $output == "(standard input):2:16: error: "* ]]
}

@test "--format gcc is one line a finding, json one list" {
  run "$HPCBOOT" lint --format gcc bad.sh warned.sh
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 3 ]
  run "$HPCBOOT" lint --format json bad.sh
  [ "$status" -eq 1 ]
  [ "$(python3 -c 'import json, sys; print([(f["file"], f["line"], f["column"], f["severity"], f["rule"]) for f in json.load(sys.stdin)])' <<<"$output")" = \
    "[('bad.sh', 2, 16, 'error', 'time-format'), ('bad.sh', 3, 4, 'warning', 'cd-unquoted')]" ]
  run "$HPCBOOT" lint --format json good.sh
  [ "$status" -eq 0 ]
  [ "$output" = "[]" ]
}

@test "bytes that are no UTF-8 give valid JSON" {
  printf '#!/bin/bash\n#SBATCH --time=\xff\n' >bytes.sh
  run "$HPCBOOT" lint --format json bytes.sh
  [ "$status" -eq 1 ]
  python3 -m json.tool <<<"$output" >/dev/null
}

@test "--disable leaves rules out, and knows them" {
  run "$HPCBOOT" lint --disable time-format --disable cd-unquoted bad.sh
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  run --separate-stderr "$HPCBOOT" lint --disable nonsense bad.sh
  [ "$status" -eq 2 ]
  [[ $stderr == *"unknown rule 'nonsense'"* ]]
}

@test "--list-rules has one line a rule" {
  run "$HPCBOOT" lint --list-rules
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -ge 20 ]
  for line in "${lines[@]}"; do [[ $line =~ ^[a-z-]+\ +(error|warning)\ +[^\ ] ]]; done
}

@test "wrong use is exit code 2, a missing file an error that names it" {
  for arguments in '' '--format xml good.sh' '--nonsense good.sh'; do
    # shellcheck disable=SC2086 # words
    run --separate-stderr "$HPCBOOT" lint $arguments
    [ "$status" -eq 2 ]
    [ -z "$output" ]
  done
  for file in missing.sh .; do
    run --separate-stderr "$HPCBOOT" lint "$file"
    [ "$status" -eq 27 ]
    [[ $stderr == "hpcboot: error 27 (unreadable_file)"*"$file"* ]]
  done
}

@test "the job scripts of this project are clean" {
  scripts=("$BATS_TEST_DIRNAME"/../../jobscripts/*.sh)
  [ -e "${scripts[0]}" ] || skip "jobscripts/ has no scripts"
  run "$HPCBOOT" lint --strict "${scripts[@]}"
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a missing script does not hide the findings of the others" {
  run --separate-stderr "$HPCBOOT" lint --format json bad.sh missing.sh warned.sh
  [ "$status" -eq 27 ]
  [[ $stderr == "hpcboot: error 27 (unreadable_file)"*missing.sh* ]]
  [ "$(python3 -c 'import json, sys; print(sorted({f["file"] for f in json.load(sys.stdin)}))' <<<"$output")" = \
    "['bad.sh', 'warned.sh']" ]
}
