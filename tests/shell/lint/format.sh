#!/usr/bin/env bash
# Usage: format.sh ROOT. Checks that every C++ file is formatted by clang-format. Versions of clang-format
# interpret .clang-format differently, so one version decides: 14, which is Debian 12's.
set -euo pipefail
# shellcheck source=tests/shell/lint/files.sh
. "$(dirname "${BASH_SOURCE[0]}")/files.sh"
cd "${1:?usage: format.sh ROOT}"

for formatter in clang-format-14 clang-format none; do
  if "$formatter" --version 2>/dev/null | grep -q 'version 14\.'; then break; fi
done
if [ "$formatter" = none ]; then
  echo "SKIPPED: no clang-format 14 on this machine; install clang-format-14"
  exit 77
fi
mapfile -t files < <(cpp_files .)
if [ ${#files[@]} -eq 0 ]; then
  echo "format.sh: found no C++ file under $PWD" >&2
  exit 1
fi
if ! findings=$("$formatter" --dry-run -Werror "${files[@]}" 2>&1); then
  unformatted=$(sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' <<<"$findings" | sort -u)
  echo "not formatted by $formatter; do: $formatter -i …" >&2
  echo "${unformatted:-$findings}" >&2
  exit 1
fi
echo "${#files[@]} files are formatted"
