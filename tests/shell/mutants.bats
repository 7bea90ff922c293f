#!/usr/bin/env bats
# tests/mutants with a tiny project: what it draws, what it counts, and that the sources are not modified.

bats_require_minimum_version 1.5.0

setup_file() {
  export project=$BATS_FILE_TMPDIR/project build=$BATS_FILE_TMPDIR/build
  mkdir -p "$project/src" "$project/tests"
  cat >"$project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(tiny LANGUAGES CXX)
enable_testing()
add_library(tiny STATIC src/tiny.cpp src/untested.cpp)
add_executable(tiny_test tests/tiny_test.cpp)
target_link_libraries(tiny_test PRIVATE tiny)
add_test(NAME tiny COMMAND tiny_test)
set_tests_properties(tiny PROPERTIES LABELS unit)
CMAKE
  cat >"$project/src/tiny.cpp" <<'CPP'
// Comments are no code: if (a < b) return 1;
void step();
int halvings(int size) {
  if (size < 2) return 0;  // what the test knows
  int count = 0;
  for (; size != 1; size /= 2, step()) ++count;
  return count;
}
bool is_long(const char* text) { return text != nullptr && text[0] != '<'; }
CPP
  echo 'int untested(int size) { return size == 3 ? 1 : 0; }' >"$project/src/untested.cpp"
  echo 'int excluded(int size) { return size == 3; }' >"$project/src/excluded.cpp"
  cat >"$project/tests/tiny_test.cpp" <<'CPP'
#include <unistd.h>
int halvings(int size);
bool is_long(const char* text);
int steps = 0;
void step() { usleep(1000 * ++steps); }  // a loop without end takes no processor
int main() {
  return halvings(0) == 0 && halvings(2) == 1 && halvings(3) == 1 && steps == 2 && is_long("word") ? 0 : 1;
}
CPP
  cat >"$project/tests/mutants.toml" <<'TOML'
folders = ["src"]
[[excluded]]
path = "src/excluded.cpp"
reason = "an example"
[[equivalent]]
file = "src/tiny.cpp"
line = "int count = 0;"
mutant = "int count = 1;"
reason = "an example"
TOML
  git -C "$project" init -q
}

setup() {
  mutants=$BATS_TEST_DIRNAME/../mutants
  command -v ninja >/dev/null || skip "no ninja on this machine"
  python3 -c 'import tomllib' 2>/dev/null || skip "no Python 3.11 on this machine"
  tiny=(--root "$project" --build "$build")
}

needs_namespaces() {
  local options=(--mount --pid --fork --mount-proc)
  [ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
  unshare "${options[@]}" true 2>/dev/null || skip "no namespaces here, which mutants need"
}

@test "faults are drawn of code alone, by the seed; equivalent ones and excluded files are left out" {
  run -0 "$mutants" "${tiny[@]}" --list
  echo "$output"
  [ "${#lines[@]}" -eq 4 ]
  [[ $output == *"src/tiny.cpp:4: "*"src/untested.cpp:1: "* || $output == *"src/untested.cpp:1: "*"src/tiny.cpp:4: "* ]]
  [[ $output != *excluded.cpp* && $output != *"count = 1"* && $output != *"tiny.cpp:1:"* ]]
  first=$output
  run -0 "$mutants" "${tiny[@]}" --list
  [ "$output" = "$first" ]
  others=$(for seed in 2 3 4 5; do "$mutants" "${tiny[@]}" --list --seed $seed; done)
  [ "$others" != "$first"$'\n'"$first"$'\n'"$first"$'\n'"$first" ]
}

@test "--only with a line draws all of its faults" {
  run -0 "$mutants" "${tiny[@]}" --list --only src/tiny.cpp:4
  echo "$output"
  line='if (size < 2) return 0; // what the test knows'
  [ "$output" = "src/tiny.cpp:4: comparison: $line → ${line/</<=}
src/tiny.cpp:4: constant: $line → ${line/2/3}
src/tiny.cpp:4: dropped jump: $line → ${line/return 0/}
src/tiny.cpp:4: constant: $line → ${line/0/1}" ]
}

@test "faults that a test finds are killed, also if it does not end; the sources are not touched" {
  needs_namespaces
  sum=$(cat "$project"/src/* | sha1sum)
  run -0 "$mutants" "${tiny[@]}" --only src/tiny.cpp:4 --only src/tiny.cpp:6
  cat "$build/verdicts"
  echo "$output"
  [[ $output == *"7 of 7 killed: 100.0 %"* ]]
  grep -q 'killed by tiny_test (deadline).*→ if (size < 2) ;' "$build/verdicts"
  [ "$(cat "$project"/src/* | sha1sum)" = "$sum" ]
}

@test "survivors are listed, code of no unit test is not counted, and --again tries the survivors with new tests" {
  needs_namespaces
  run -1 "$mutants" "${tiny[@]}" --only src/tiny.cpp:9 --only src/untested.cpp:1
  echo "$output"
  [[ $output == *"survived: src/tiny.cpp:9: comparison: "*" || text[0] != '<'"* ]]
  [[ $output == *" of 4 killed: "*" and 4 are in code that no unit test links"* ]]
  cp "$project/tests/tiny_test.cpp" "$BATS_TEST_TMPDIR/before"
  sed -i 's/is_long("word")/is_long("word") \&\& !is_long("<") \&\& !is_long(nullptr)/' "$project/tests/tiny_test.cpp"
  run -0 "$mutants" "${tiny[@]}" --again
  echo "$output"
  [[ $output == *" killed: 100.0 %"* ]]
  cp "$BATS_TEST_TMPDIR/before" "$project/tests/tiny_test.cpp"
}

@test "usage" {
  run -0 "$mutants" --help
  [[ $output == "usage: tests/mutants"*"exit code: 0"*Examples* ]]
  for words in "--count 0" "--seed x" --nonsense "--only src/none.cpp" "--root /nowhere"; do
    # shellcheck disable=SC2086 # words are words
    run -2 "$mutants" "${tiny[@]}" $words
    echo "$output"
    [[ $output == "mutants: "*"tests/mutants --help" ]]
  done
}
