#!/usr/bin/env bats
# The lint scripts find violations. Each test violates one rule in an otherwise clean tree.

setup() {
  lint=$BATS_TEST_DIRNAME/lint
  tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree"/{bootstrap/core,bootstrap/rendezvous,bootstrap/jobs,bootstrap/cli,trainer/torch,jobscripts,setup,build/x}
  cp "$BATS_TEST_DIRNAME/../../.clang-format" "$tree"
  printf 'int main() {\n  return 0;\n}\n' >"$tree/bootstrap/cli/main.cpp"
  printf '#!/bin/bash\necho hello\n' >"$tree/setup/check-hosts"
}

@test "a clean tree passes; build folders are not looked at" {
  echo 'int  x=getenv("A");' >"$tree/build/x/generated.cpp"
  bash "$lint/house-rules.sh" "$tree"
}

@test "the environment: env.cpp may read it, others may not" {
  echo 'auto a = std::getenv("A");' >"$tree/bootstrap/core/env.cpp"
  bash "$lint/house-rules.sh" "$tree"
  for call in 'getenv("A")' '::setenv("A", "b", 1)' 'std::getenv ("A")'; do
    echo "auto a = $call;" >"$tree/trainer/torch/a.cpp"
    run bash "$lint/house-rules.sh" "$tree"
    [ "$status" -eq 1 ]
    [[ $output == *"./trainer/torch/a.cpp:1:"* ]]
  done
}

# breach FILE LINE…: the rules refuse each of these lines in that file, and pass without it.
breach() {
  local file=$1 line said
  shift
  for line in "$@"; do
    mkdir -p "$tree/$(dirname "$file")"
    printf '%s\n' "$line" >"$tree/$file"
    echo "$line"
    if said=$(bash "$lint/house-rules.sh" "$tree"); then return 1; fi
    [[ $said == *"./$file:1:"* ]]
  done
  rm "$tree/$file"
  bash "$lint/house-rules.sh" "$tree"
}

@test "a fuzzer is built, has a row and seeds" {
  mkdir -p "$tree/tests/fuzz/corpus/wire"
  echo 'hpcboot_add_fuzzer(wire)' >"$tree/tests/fuzz.cmake"
  echo '| wire | it holds |' >"$tree/tests/fuzz/README.md"
  echo seed >"$tree/tests/fuzz/corpus/wire/seed"
  echo 'int a;' >"$tree/tests/fuzz/wire.cpp"
  bash "$lint/house-rules.sh" "$tree"
  for part in fuzz.cmake fuzz/README.md; do
    sed -i.kept s/wire/wires/ "$tree/tests/$part"
    run bash "$lint/house-rules.sh" "$tree"
    [ "$status" -eq 1 ]
    [[ $output == *"./tests/fuzz/wire.cpp:1:"* ]]
    mv "$tree/tests/$part.kept" "$tree/tests/$part"
  done
  rm "$tree/tests/fuzz/corpus/wire/seed"
  run bash "$lint/house-rules.sh" "$tree"
  [ "$status" -eq 1 ]
}

@test "printing: programs through out() and err() alone, libraries not at all, save in comments" {
  mkdir -p "$tree"/bootstrap/{text,json}
  echo '/// std::printf("an example");' >"$tree/bootstrap/core/b.cpp"
  echo 'void f() { out() << "a" << std::snprintf(nullptr, 0, ""); }' >"$tree/bootstrap/cli/show.cpp"
  echo 'void f() { std::cout << 1; }' >"$tree/bootstrap/text/terminal.cpp"
  bash "$lint/house-rules.sh" "$tree"
  for file in bootstrap/core/a.cpp bootstrap/cli/a.cpp trainer/app/a.cpp trainer/loop/a.cpp setup/hello_mpi/a.cpp; do
    breach $file 'void f() { std::cout << 1; }' 'void f() { std::fprintf(stderr, ""); }' 'void f() { printf(""); }' \
      'void f() { fmt::print(""); }' 'void f() { perror("x"); }' 'void f() { write(STDERR_FILENO, text, 1); }'
  done
  breach trainer/record/a.cpp 'void f() { out() << 1; }' 'void f() { hpcboot::err().flush(); }'
}

@test "text from outside: as_is() is for a few, JSON and TOML are read in one place" {
  mkdir -p "$tree"/bootstrap/{json,toml}
  echo 'auto a = Json::parse(text); auto b = a.dump(2);' >"$tree/bootstrap/json/bounded_json.cpp"
  echo 'auto a = toml::parse(text);' >"$tree/bootstrap/toml/bounded_toml.cpp"
  bash "$lint/house-rules.sh" "$tree"
  breach bootstrap/cli/show.cpp 'out() << Encoded::as_is(name);'
  breach trainer/loop/a.cpp 'const Json a = Json::parse(text);' 'auto b = nlohmann::json(1);' 'file << a.dump(2) << 1;' \
    '#include <nlohmann/json.hpp>'
  breach bootstrap/jobs/a.cpp 'auto a = toml::parse_file(name);' '#include <toml++/toml.h>'
}

@test "templates: free text of a profile stands in comments" {
  mkdir -p "$tree/jobscripts/templates"
  printf '# {{{description}}}\necho {{description}} {{{time}}}\n' >"$tree/jobscripts/templates/a.mustache"
  bash "$lint/house-rules.sh" "$tree"
  breach jobscripts/templates/b.mustache 'echo "{{{description}}}"' '  {{{ storage_note }}}'
}

@test "pmix.h stays behind the exchange" {
  echo '#include <pmix.h>' >"$tree/bootstrap/rendezvous/pmix.cpp"
  bash "$lint/house-rules.sh" "$tree"
  echo '#include <pmix.h>' >"$tree/bootstrap/core/resolve.cpp"
  run bash "$lint/house-rules.sh" "$tree"
  [ "$status" -eq 1 ]
  [[ $output == *"./bootstrap/core/resolve.cpp:1:"* ]]
}

@test "a fixed port in a job script" {
  echo 'export MASTER_PORT=$(next_port)' >"$tree/jobscripts/a.sh"
  bash "$lint/house-rules.sh" "$tree"
  echo 'export MASTER_PORT="29500"' >"$tree/jobscripts/a.sh"
  run bash "$lint/house-rules.sh" "$tree"
  [ "$status" -eq 1 ]
  [[ $output == *"./jobscripts/a.sh:1:"* ]]
}

@test "shellcheck looks at scripts without a suffix too" {
  command -v shellcheck >/dev/null || skip "no shellcheck on this machine"
  bash "$lint/shellcheck.sh" "$tree"
  printf '#!/usr/bin/env bash\ncd $1\n' >"$tree/setup/check-hosts"
  run bash "$lint/shellcheck.sh" "$tree"
  [ "$status" -eq 1 ]
  [[ $output == *"setup/check-hosts"* ]]
}

@test "words: a retired phrase is found in any of our texts, with the better words" {
  bash "$lint/words.sh" "$tree"
  for file in bootstrap/core/a.cpp README.md setup/check-hosts tests/shell/a.bats jobscripts/templates/a.mustache; do
    mkdir -p "$tree/$(dirname "$file")"
    [ ! -e "$tree/$file" ] || cp "$tree/$file" "$tree/kept"
    printf '# one\n# It leads nowhere.\n' >>"$tree/$file"
    run bash "$lint/words.sh" "$tree"
    [ "$status" -eq 1 ]
    [[ $output == *"write: is not routable"*"./$file:"*"It leads nowhere."* ]]
    rm "$tree/$file"
    [ ! -e "$tree/kept" ] || mv "$tree/kept" "$tree/$file"
  done
  # A recorded environment is not our text.
  mkdir -p "$tree/tests/golden/env/a"
  echo 'A=leads nowhere' >"$tree/tests/golden/env/a/rank0.env"
  bash "$lint/words.sh" "$tree"
}

@test "an unformatted file is named" {
  run bash "$lint/format.sh" "$tree"
  [ "$status" -ne 77 ] || skip "no clang-format 14 on this machine"
  [ "$status" -eq 0 ]
  echo 'int  x=1;' >"$tree/trainer/torch/a.cpp"
  run bash "$lint/format.sh" "$tree"
  [ "$status" -eq 1 ]
  [[ $output == *"trainer/torch/a.cpp" ]]
}

@test "a tree without files is a failure, not a pass" {
  empty=$BATS_TEST_TMPDIR/empty
  mkdir "$empty"
  run bash "$lint/words.sh" "$empty"
  [ "$status" -ne 0 ]
  run bash "$lint/shellcheck.sh" "$empty"
  [ "$status" -ne 0 ]
  run bash "$lint/format.sh" "$empty"
  [ "$status" -ne 0 ]
}
