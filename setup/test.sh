#!/usr/bin/env bash
# Installs what the tests need, builds into build/ and runs all tests. Ends with ctest's summary and
# its exit code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec < /dev/null # launchers started without standard input misbehave: their pipes become descriptor 0
# shellcheck source=setup/lib/common.sh
. setup/lib/common.sh

usage() {
  cat <<'TEXT'
usage: bash setup/test.sh [--no-install] [CTEST OPTION…]

Installs what the tests need, builds everything and runs all tests:
  1. installs missing packages with apt-get: those of setup/quickstart.sh, and
     GoogleTest, bats, MPICH, Slurm, sshd and more; no service is started or
     enabled. Needs root or sudo; without either it prints the command for your
     administrator. setup/install.sh --for test --dry-run shows what it would
     install
  2. builds programs, tests and benchmarks into build/, which takes far longer
     than the quickstart's build there
  3. runs the tests with ctest, three at a time for each core, since many wait
     more than they compute. Tests on a cluster of namespaces need root; tests
     that cannot run here are shown as skipped, with the reason

  --no-install   skip step 1; for machines where modules or CMAKE_PREFIX_PATH
                 provide the dependencies
  --help         this text
All other options are passed to ctest, for example
  -L unit        one label: unit, golden, shell, lint, package, torch, mpi,
                 cluster
  -LE cluster    all labels but one
  -R resolve     by name
A long option that ctest --help does not list is refused before step 1.

exit code: ctest's, 0 if every test passed and 8 if any failed; 2 usage; else
that of the failed step; a message names it and says what to do
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

# refuse_unknown_options: a mistyped option must not install and build everything first. Only ctest knows its
# options; if it is not installed yet, they are checked after the installation.
refuse_unknown_options() {
  local argument hint known=
  if command -v ctest >/dev/null; then
    known=$(ctest --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9.-]*' || true)
  fi
  for argument in "${ctest_options[@]}"; do
    case $argument in
      --no-in*) hint="did you mean --no-install?" ;;
      --?*)
        if [ -z "$known" ] || grep -qxF -e "${argument%%=*}" <<<"$known"; then continue; fi
        hint="ctest does not have it either"
        ;;
      *) continue ;;
    esac
    echo "test.sh: unknown option '$(printable "$argument")'; $hint (bash setup/test.sh --help; ctest --help)" >&2
    exit 2
  done
}

refuse_unknown_options
if $install; then
  step "installing missing packages" "see the messages above" bash setup/install.sh --for test
  refuse_unknown_options
fi
require_own_build
step "configuring build/" "install what the summary above lists as missing" \
  configure -DHPCBOOT_BUILD_TESTS=ON -DHPCBOOT_BUILD_BENCH=ON
step "building with $(build_jobs) jobs" "see the first error above" \
  cmake --build build --parallel "$(build_jobs)"
echo "==> testing"
exec ctest --test-dir build --output-on-failure --no-tests=error --parallel "$((3 * $(nproc)))" "${ctest_options[@]}"
