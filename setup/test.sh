#!/usr/bin/env bash
# Installs what the tests need, builds into build/ and runs all tests. Ends with ctest's summary and
# its exit code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec < /dev/null # launchers started without a standard input go wrong: their pipes become descriptor 0
# shellcheck source=setup/lib/common.sh
. setup/lib/common.sh

usage() {
  cat <<'TEXT'
usage: bash setup/test.sh [--no-install] [CTEST OPTION…]

Installs what the tests need, builds everything and runs all tests:
  1. installs what is missing, by apt-get: what setup/quickstart.sh needs, and GoogleTest, bats, MPICH, Slurm, sshd
     and more; no service is started or enabled. As root or with sudo; without either it prints the line for your
     administrator. setup/install.sh --for test --dry-run shows what it would install
  2. builds into build/, also where the quickstart has: programs, tests and benchmarks, which takes far longer
  3. runs the tests with ctest, twice as many at a time as there are cores, since most wait more than they compute.
     Those of a cluster of namespaces need root; what cannot run here is shown as skipped, with the reason

  --no-install   where modules or CMAKE_PREFIX_PATH bring what is needed
  --help         this text
All other options go to ctest, such as
  -L unit        one label: unit, golden, shell, lint, package, torch, mpi, cluster
  -LE cluster    all but one
  -R resolve     by name

exit code: ctest's, 0 where every test passed and 8 where one failed; else that of the step that failed, which is named
with what to do
TEXT
}

install=true
ctest_options=()
for argument in "$@"; do
  case $argument in
    --no-install) install=false ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) ctest_options+=("$argument") ;;
  esac
done

if $install; then
  step "installing what is missing" "read the lines above" bash setup/install.sh --for test
fi
step "configuring build/" "install what the summary above calls missing" \
  configure -DHPCBOOT_BUILD_TESTS=ON -DHPCBOOT_BUILD_BENCH=ON
step "building with $(build_jobs) jobs" "read the first error above" \
  cmake --build build --parallel "$(build_jobs)"
echo "==> testing"
exec ctest --test-dir build --output-on-failure --no-tests=error --parallel "$((2 * $(nproc)))" "${ctest_options[@]}"
