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

system_root= # where /proc and /sys are; tests have another place

# The number of build jobs that can run at a time: one per core, with 2 GiB of memory for each, which a translation unit
# with LibTorch's headers needs. A batch job or a container may have less than the machine: its control groups say so.
build_jobs() {
  {
    nproc
    {
      of_groups cpu cpu.max
      of_groups cpu cpu.cfs_quota_us cpu.cfs_period_us
    } | awk '$1 + 0 > 0 && $2 + 0 > 0 { print $1 / $2 }' # "max" and -1 mean none
    {
      awk '/^MemAvailable:/ { printf "%.0f\n", $2 * 1024 }' "$system_root/proc/meminfo"
      of_groups memory memory.max
      of_groups memory memory.limit_in_bytes
    } | awk '$1 + 0 > 0 { print $1 / 2 ^ 31 }'
  } | awk 'NR == 1 || $1 < least { least = $1 } END { print least < 1 ? 1 : int(least) }'
}

# of_groups CONTROLLER FILE…: what these files say, one line for each control group of this process and those around
# it. In a container, the mounted tree may begin further down than the group's path says.
of_groups() {
  local controllers path mount mounts group
  if [ ! -r "$system_root/proc/self/cgroup" ]; then return; fi
  # "0::/user.slice", or "4:cpu,cpuacct:/docker/3f2a" of version 1
  while IFS=: read -r _ controllers path; do
    if [ -z "$controllers" ]; then
      mounts=("$system_root/sys/fs/cgroup"{,/unified})
    elif [[ ,$controllers, == *,$1,* ]]; then
      mounts=("$system_root/sys/fs/cgroup/$1")
    else
      continue
    fi
    for mount in "${mounts[@]}"; do
      group=/${path#/}
      group=${group%/}
      while (cd "$mount$group" && paste -d ' ' "${@:2}") 2>/dev/null || true; do
        if [ -z "$group" ]; then break; fi
        group=${group%/*}
      done
    done
  done <"$system_root/proc/self/cgroup"
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
