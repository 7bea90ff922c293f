#!/usr/bin/env bats
# setup/quickstart.sh and setup/test.sh in a copy of setup/, with fake cmake, ctest and mpirun: the
# order of the steps, their options, and what a failure says.

setup() {
  repository=$BATS_TEST_TMPDIR/repository
  fake=$BATS_TEST_TMPDIR/bin
  calls=$BATS_TEST_TMPDIR/calls
  export calls
  mkdir -p "$repository" "$fake"
  touch "$calls"
  cp -r "$BATS_TEST_DIRNAME/../../setup" "$repository/setup"
  cd "$repository" || return 1

  command_file setup/install.sh <<'EOS'
echo "install $*" >>"$calls"
EOS
  command_file "$fake/cmake" <<'EOS'
if [ "$1" = --version ]; then
  echo "cmake version ${FAKE_CMAKE_VERSION-3.25.1}"
  exit
fi
echo "cmake $*" >>"$calls"
mkdir -p build/bin
touch build/CMakeCache.txt
if [ "$1" = --build ]; then
  cp "$(dirname "$0")/trainer" "$(dirname "$0")/runtable" build/bin/
fi
EOS
  command_file "$fake/trainer" <<'EOS'
echo "trainer $*" >>"$calls"
if [ "$1" = digits ]; then mkdir -p "$2" && touch "$2/train-images-idx3-ubyte"; fi
if [ "$1" = pictures ]; then mkdir -p "$2" && touch "$2/test_batch.bin"; fi
if [ "$1" = inspect ]; then exit "${FAKE_INSPECT_CODE-0}"; fi
EOS
  command_file "$fake/mpirun" <<'EOS'
if [ "$1" = --version ]; then
  echo "mpirun (Open MPI) 4.1.4"
else
  echo "mpirun $*" >>"$calls"
fi
EOS
  command_file "$fake/runtable" <<<'echo "runtable $*" >>"$calls"'
  command_file "$fake/ctest" <<'EOS'
if [ "$1" = --help ]; then
  printf '  %s\n' '-L <regex>, --label-regex <regex> = By label.' '-N,--show-only[=format] = List.' \
    '--repeat until-fail:<n>, --repeat-until-fail <n>' '--no-tests=<[error|ignore]>  = No tests.'
  exit
fi
echo "ctest $*" >>"$calls"
exit "${FAKE_CTEST_CODE-0}"
EOS
  command_file "$fake/ninja" <<<':'
  PATH=$fake:$PATH
}

# command_file PATH: creates an executable script, whose body is read from standard input.
command_file() {
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}

ran() { grep -qe "$1" "$calls"; }
never_ran() {
  if grep -e "$1" "$calls"; then return 1; fi
}

@test "quickstart installs, builds, makes data, trains three times per model, compares and builds the rest, in that order" {
  run bash setup/quickstart.sh
  [ "$status" -eq 0 ]
  run cut -d ' ' -f 1-3 "$calls"
  [ "${lines[0]}" = "install --for run" ]
  [ "${lines[1]}" = "cmake --preset default" ]
  [ "${lines[2]}" = "cmake --build build" ]
  [ "${lines[3]}" = "trainer digits data/mnist" ]
  [ "${lines[4]}" = "trainer --mode single" ]
  [ "${lines[5]}" = "trainer --mode dp" ]
  [ "${lines[6]}" = "mpirun --bind-to none" ]
  [ "${lines[7]}" = "trainer --mode single" ]
  [ "${lines[8]}" = "trainer --mode dp" ]
  [ "${lines[9]}" = "mpirun --bind-to none" ]
  [ "${lines[10]}" = "runtable runs" ]
  [ "${lines[11]}" = "cmake --build build" ]
  [ "${#lines[@]}" -eq 12 ]
  run grep -c -- '^cmake --build.*--target training$' "$calls"
  [ "$output" = 1 ]
}

@test "each task has data and models of its own" {
  run bash setup/quickstart.sh --task transformer
  [ "$status" -eq 0 ]
  never_ran 'digits'
  [ "$(grep -c 'task transformer.*--model transformer_small' "$calls")" -eq 3 ]
  : >"$calls"
  run bash setup/quickstart.sh --no-install --task=cifar
  [ "$status" -eq 0 ]
  ran '^trainer pictures data/cifar10'
  [ "$(grep -c 'task cifar.*--model resnet18' "$calls")" -eq 3 ]
  [ "$(grep -c 'task cifar.*--model vit_ti_16' "$calls")" -eq 3 ]
  : >"$calls"
  run bash setup/quickstart.sh --no-install --task cifar
  never_ran 'pictures'
}

@test "an unknown task is a usage error that lists the tasks" {
  for wrong in "--task nothing" "--task" "--task="; do
    # shellcheck disable=SC2086 # two words
    run bash setup/quickstart.sh $wrong
    [ "$status" -eq 2 ]
    [[ $output == *"mnist, transformer or cifar"* ]]
  done
  [ ! -e "$calls" ] || [ ! -s "$calls" ]
}

@test "single, DP and DDP train on the same samples with the same global batch" {
  bash setup/quickstart.sh
  for model in mnistnet resnet50; do
    single=$(sed -n "s/^trainer --mode single .*--model $model/$model/p" "$calls")
    dp=$(sed -n "s/^trainer --mode dp .*--model $model/$model/p" "$calls")
    ddp=$(sed -n "s/^mpirun .* --mode ddp .*--model $model/$model/p" "$calls")
    [ -n "$single" ]
    [ "$single" = "$dp" ]
    [ "$single" = "$ddp" ]
  done
}

@test "one process has all processors for each model, and the rest is built with them, too" {
  command_file "$fake/nproc" <<<'echo "${OMP_NUM_THREADS:-4}"' # as the real one
  command_file "$fake/trainer" <<'EOS'
echo "threads ${OMP_NUM_THREADS-unset} of $*" >>"$calls"
if [ "$1" = digits ]; then mkdir -p "$2" && touch "$2/train-images-idx3-ubyte"; fi
EOS
  bash setup/quickstart.sh
  run grep -c '^threads 4 of --mode single' "$calls"
  [ "$output" = 2 ]
  run grep '^cmake --build' "$calls"
  [ "${lines[0]% --target training}" = "${lines[1]}" ]
}

@test "a build has no more jobs than the control groups have memory and processors for" {
  local root=$BATS_TEST_TMPDIR/root group
  command_file "$fake/nproc" <<<'echo 64'
  mkdir -p "$root"/proc/self "$root"/sys/fs/cgroup/{a/b,memory/a/b,cpu}
  group=$root/sys/fs/cgroup/a
  echo "MemAvailable: $((100 << 20)) kB" >"$root/proc/meminfo"
  jobs_of() { bash -c '. setup/lib/common.sh; system_root=$1; build_jobs' - "$root"; }
  [ "$(jobs_of)" = 50 ]
  echo 0::/a/b >"$root/proc/self/cgroup"
  [ "$(jobs_of)" = 50 ]
  echo max >"$group/b/memory.max"
  echo "max 100000" >"$group/b/cpu.max"
  [ "$(jobs_of)" = 50 ]
  echo $((9 << 30)) >"$group/memory.max"
  [ "$(jobs_of)" = 4 ]
  echo "350000 100000" >"$group/cpu.max"
  [ "$(jobs_of)" = 3 ]
  echo 1000 >"$group/b/memory.max"
  [ "$(jobs_of)" = 1 ]

  printf '%s\n' 5:cpuacct,cpu:/a/b 4:memory:/a/b 3:freezer:/ >"$root/proc/self/cgroup"
  [ "$(jobs_of)" = 50 ]
  echo $((7 << 30)) >"$root/sys/fs/cgroup/memory/a/memory.limit_in_bytes"
  [ "$(jobs_of)" = 3 ]
  echo -1 >"$root/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
  echo 100000 >"$root/sys/fs/cgroup/cpu/cpu.cfs_period_us"
  [ "$(jobs_of)" = 3 ]
  echo 250000 >"$root/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
  [ "$(jobs_of)" = 2 ]
}

@test "a second quickstart keeps the options of build/ and the data" {
  bash setup/quickstart.sh
  : >"$calls"
  run bash setup/quickstart.sh --no-install
  [ "$status" -eq 0 ]
  never_ran '^install'
  never_ran 'digits'
  grep -qx 'cmake build' "$calls"
}

@test "data that are not complete, such as a part of a download, are named and left alone; others are drawn" {
  for names in "mnist mnist digits digits get-mnist" "cifar cifar10 pictures pictures get-cifar"; do
    read -r task folder other verb download <<<"$names"
    mkdir -p "data/$folder"
    touch "data/$folder/archive.part"
    : >"$calls"
    FAKE_INSPECT_CODE=40 run bash setup/quickstart.sh --no-install --task "$task"
    [ "$status" -eq 0 ]
    [[ $output == *"==> data/$folder is not a complete data set; "*"finishes it: bash setup/$download"* ]]
    ran "^trainer inspect .*data/$folder"
    ran "^trainer $verb data/$other "
    [ "$(ls "data/$folder")" = archive.part ]
    [ "$(grep -c -- "--mode .*--data data/$other " "$calls")" -eq 6 ]
    # A second time they are not drawn again.
    : >"$calls"
    FAKE_INSPECT_CODE=40 run bash setup/quickstart.sh --no-install --task "$task"
    [ "$status" -eq 0 ]
    never_ran "^trainer $verb"
    [[ $output == *"==> data/$other exists: using it"* ]]
    # The download was finished; or its data are damaged, which the training says.
    for code in 0 41; do
      : >"$calls"
      FAKE_INSPECT_CODE=$code run bash setup/quickstart.sh --no-install --task "$task"
      [[ $output == *"==> data/$folder exists: using it"* ]]
      [ "$(grep -c -- "--mode .*--data data/$folder " "$calls")" -eq 6 ]
    done
  done
}

@test "without Ninja's preset plain options do" {
  FAKE_CMAKE_VERSION=3.22.1 run bash setup/quickstart.sh
  [ "$status" -eq 0 ]
  ran '^cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DHPCBOOT_BUILD_TESTS=OFF'
}

@test "another MPI gets none of Open MPI's options" {
  command_file "$fake/mpirun" <<'EOS'
if [ "$1" = --version ]; then echo "HYDRA build details:"; else echo "mpirun $*" >>"$calls"; fi
EOS
  bash setup/quickstart.sh
  ran '^mpirun -np 2 build/bin/trainer'
}

@test "the first failure ends quickstart with its exit code and what to do" {
  command_file "$fake/trainer" <<<'echo "trainer $*" >>"$calls"; if [ "$1" = --mode ]; then exit 41; else mkdir -p "$2"; fi'
  run bash setup/quickstart.sh
  [ "$status" -eq 41 ]
  [[ $output == *"failed after"*"exit code 41"*"mnistnet, one process"* ]]
  [[ ${lines[-1]} == *"do: "* ]]
  never_ran '^runtable'
}

@test "a build without the trainer is no success" {
  command_file "$fake/cmake" <<<'mkdir -p build; touch build/CMakeCache.txt; echo "cmake version 3.25.1"'
  run bash setup/quickstart.sh
  [ "$status" -ne 0 ]
  [[ $output == *"LibTorch, OpenSSL, Boost, "* ]]
}

@test "test.sh turns the tests on in a build/ of quickstart, and passes options to ctest" {
  bash setup/quickstart.sh
  : >"$calls"
  run bash setup/test.sh -L unit
  [ "$status" -eq 0 ]
  grep -qx 'install --for test' "$calls"
  grep -qx 'cmake -DHPCBOOT_BUILD_TESTS=ON -DHPCBOOT_BUILD_BENCH=ON build' "$calls"
  [[ $(tail -n 1 "$calls") == "ctest --test-dir build "*" -L unit" ]]
}

# configured_for SOURCE BUILD: as CMake leaves a build folder.
configured_for() {
  mkdir -p build
  printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$1" "$2" >build/CMakeCache.txt
}

@test "a build/ that was moved or copied is named as such, with the remedy" {
  mkdir -p "$BATS_TEST_TMPDIR/old/build"
  for pair in "/gone /gone/build" "$BATS_TEST_TMPDIR/old $BATS_TEST_TMPDIR/old/build" "$repository /gone/build"; do
    # shellcheck disable=SC2086 # two words
    configured_for $pair
    for script in setup/quickstart.sh setup/test.sh; do
      : >"$calls"
      run bash $script --no-install
      [ "$status" -eq 1 ]
      [[ ${lines[-2]} == *"configured as ${pair#* }, for the source in ${pair% *}: it was moved or copied"* ]]
      [[ ${lines[-1]} == "    do: rm -r build, then run this again" ]]
      [ ! -s "$calls" ]
    done
  done
}

@test "a build/ of this checkout is used, also through a symbolic link" {
  configured_for "$repository" "$repository/build"
  run bash setup/quickstart.sh --no-install
  [ "$status" -eq 0 ]
  ln -s "$repository" "$BATS_TEST_TMPDIR/link"
  configured_for "$BATS_TEST_TMPDIR/link" "$BATS_TEST_TMPDIR/link/build"
  run bash setup/test.sh --no-install
  [ "$status" -eq 0 ]
}

@test "test.sh has ctest's exit code" {
  FAKE_CTEST_CODE=8 run bash setup/test.sh --no-install
  [ "$status" -eq 8 ]
  never_ran '^install'
}

@test "test.sh refuses an option that neither it nor ctest has before it installs or builds" {
  for option in --no-instal --no-inst --no-installs --nonsense --label-regexp=unit --show; do
    run bash setup/test.sh -L unit $option
    [ "$status" -eq 2 ]
    [[ $output == "test.sh: unknown option '$option'; "*"setup/test.sh --help"* ]]
    [ ! -s "$calls" ]
  done
  run bash setup/test.sh --no-instal
  [[ $output == *"did you mean --no-install?"* ]]
  run bash setup/test.sh --no-install --label-regex unit -N --show-only=human --no-tests=ignore -LE cluster
  [ "$status" -eq 0 ]
  [[ $(tail -n 1 "$calls") == "ctest "*" --label-regex unit -N --show-only=human --no-tests=ignore -LE cluster" ]]
}

@test "test.sh checks options after the installation if ctest was not installed before" {
  mkdir tools
  for tool in bash dirname grep mv; do ln -s "$(command -v $tool)" tools; done
  mv "$fake/ctest" ctest
  command_file setup/install.sh <<<'echo "install $*" >>"$calls"; mv ctest tools'
  run env PATH="$PWD/tools:$fake" bash setup/test.sh --nonsense
  [ "$status" -eq 2 ]
  [[ ${lines[-1]} == "test.sh: unknown option '--nonsense'; "* ]]
  [ "$(cat "$calls")" = "install --for test" ]
}

@test "usage" {
  run bash setup/quickstart.sh --help
  [ "$status" -eq 0 ]
  for words in apt-get build/bin data/mnist runs/ minutes "exit code" --no-install; do
    [[ $output == *"$words"* ]] || { echo "nothing of $words"; return 1; }
  done
  run bash setup/test.sh --help
  [ "$status" -eq 0 ]
  for words in apt-get build/ ctest "-L unit" skipped "exit code" --no-install; do
    [[ $output == *"$words"* ]] || { echo "nothing of $words"; return 1; }
  done
  run bash setup/quickstart.sh --nonsense
  [ "$status" -eq 2 ]
  [ ! -s "$calls" ]
}

@test "hosts.txt names localhost" {
  [ "$(grep -v '^#' setup/hosts.txt)" = "localhost slots=2" ]
}
