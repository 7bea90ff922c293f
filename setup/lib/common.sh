# Shared by quickstart.sh and test.sh, which source it from the root of the repository.
# shellcheck shell=bash

# shellcheck source=setup/lib/text.sh
. setup/lib/text.sh

# step WHAT REMEDY COMMAND…: prints the step and its duration; on failure prints the remedy
# and ends the script with the command's exit code.
step() {
  local what=$1 remedy=$2 started=$SECONDS code=0
  shift 2
  echo "==> $what"
  "$@" || code=$?
  if [ "$code" -ne 0 ]; then
    echo "==> failed after $((SECONDS - started)) s (exit code $code): $what" >&2
    echo "    do: $remedy" >&2
    exit "$code"
  fi
  echo "    $((SECONDS - started)) s"
}

# The number of build jobs that this machine can run at a time: one per core, with 2 GiB of memory for
# each, which a translation unit with LibTorch's headers needs.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo)
  if [ "$memory" -lt 1 ]; then memory=1; fi
  echo $((cores < memory ? cores : memory))
}

# require_own_build: ends the script, with what to do, if build/ belongs to another folder: CMake writes whole paths into
# it, so it cannot be moved or copied with its checkout.
require_own_build() {
  local source folder
  if [ ! -e build/CMakeCache.txt ]; then return; fi
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' build/CMakeCache.txt)
  folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' build/CMakeCache.txt)
  if [ -z "$source" ] || { [ "$source" -ef . ] && [ "$folder" -ef build ]; }; then return; fi
  echo "==> build/ was configured as $(printable "$folder"), for the source in $(printable "$source"): it was moved or copied" >&2
  echo "    do: rm -r build, then run this again" >&2
  exit 1
}

# configure [CMAKE OPTION…]: configures build/. The preset needs CMake 3.25 and Ninja; without them plain
# options are used. An existing build/ keeps its generator and options, except those given.
configure() {
  local version
  if [ -e build/CMakeCache.txt ]; then
    cmake "$@" build
    return
  fi
  version=$(cmake --version | sed -n '1s/.*version //p')
  if command -v ninja >/dev/null && [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]; then
    cmake --preset default "$@"
  else
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release "$@"
  fi
}
