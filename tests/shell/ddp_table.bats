#!/usr/bin/env bats
# trainer/ddp.md names tests that exist, and tests/torch/pytorch/tests.txt rows of it.

setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

# shellcheck disable=SC2016 # backquotes of Markdown

# rows: the tests that the rows of the tables name, a line each.
rows() { grep -E '^\| ' trainer/ddp.md | awk -F '|' '{print $4}' | grep -oE '`[^`]+`' | tr -d '`'; }

# tests_in FILE…: Suite.Name of each test.
tests_in() {
  grep -hoE '^(TEST|TEST_F|TEST_P)\([A-Za-z0-9]+, [A-Za-z0-9]+\)' "$@" | sed -E 's/^[A-Z_]+\(([^,]+), (.+)\)/\1.\2/'
  grep -hoE '^RECORDED_TEST\([A-Za-z0-9]+\)' "$@" | sed -E 's/^RECORDED_TEST\((.+)\)/PyTorchTable.\1/'
}

@test "every row of trainer/ddp.md names tests that exist" {
  grep -E '^\| ' trainer/ddp.md | grep -v '^| behaviour ' | awk -F '|' 'NF != 5 || $4 !~ /`/' >"$BATS_TEST_TMPDIR/without"
  cat "$BATS_TEST_TMPDIR/without"
  [ ! -s "$BATS_TEST_TMPDIR/without" ]
  rows | sort -u >"$BATS_TEST_TMPDIR/rows"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/rows")" -ge 50 ]
  tests_in tests/torch/*.cpp tests/unit/*.cpp | sort -u >"$BATS_TEST_TMPDIR/tests"
  unknown=$(comm -23 "$BATS_TEST_TMPDIR/rows" "$BATS_TEST_TMPDIR/tests")
  echo "no such test: $unknown"
  [ -z "$unknown" ]
}

@test "every test of the table has its row" {
  without=$(comm -23 <(tests_in tests/torch/pytorch_*.cpp tests/unit/lost_ranks_test.cpp | sort -u) <(rows | sort -u))
  echo "not in trainer/ddp.md: $without"
  [ -z "$without" ]
}

@test "each of PyTorch's tests is listed once, with a row or a reason" {
  rows | sort -u >"$BATS_TEST_TMPDIR/rows"
  count=0
  while IFS= read -r line; do
    name=${line%%: *}
    row=${line#*: }
    [[ $name =~ ^test_[A-Za-z0-9_]+$ ]] || { echo "no test: $line" && return 1; }
    [[ $row =~ ^"none: ".+ ]] || grep -qxF -- "$row" "$BATS_TEST_TMPDIR/rows" || { echo "no row: $line" && return 1; }
    count=$((count + 1))
  done < <(grep -v '^\(#\|$\)' tests/torch/pytorch/tests.txt)
  [ "$count" -ge 130 ]
  [ -z "$(grep -o '^test_[^:]*' tests/torch/pytorch/tests.txt | sort | uniq -d)" ]
}

@test "every scenario of record.py is recorded, and compared by a test" {
  in_script=$(grep -A1 -E '^@scenario' tests/torch/pytorch/record.py | grep -oE '^def [a-z0-9_]+' | sed 's/^def //' | sort)
  recorded=$(grep -oE '^  "[a-z0-9_]+": \{' tests/torch/pytorch/recorded.json | grep -oE '[a-z0-9_]+' | sort)
  compared=$(cat tests/torch/pytorch_*.cpp | tr -d '\n ' | grep -oE 'expect_recorded\("[a-z0-9_]+"' | cut -d '"' -f 2 | sort)
  [ -n "$in_script" ]
  [ "$in_script" = "$recorded" ]
  [ "$recorded" = "$compared" ]
}
