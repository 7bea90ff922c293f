#!/usr/bin/env bash
# Installs what the tests need, builds into build/ and runs all tests. Ends with ctest's summary and
# its exit code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec < /dev/null # launchers started without a standard input go wrong: their pipes become descriptor 0
# shellcheck source=setup/lib/common.sh
. setup/lib/common.sh

install=true
ctest_options=()
for argument in "$@"; do
  case $argument in
    --no-install) install=false ;;
    --help | -h)
      echo "usage: bash setup/test.sh [--no-install] [CTEST OPTION…]"
      echo "  such as: -L unit (one label), -LE cluster (all but one), -R resolve (by name)"
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
exec ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)" "${ctest_options[@]}"
