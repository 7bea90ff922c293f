#!/usr/bin/env bash
# Usage: shellcheck.sh ROOT. Checks that shellcheck reports nothing for any shell script or bats file.
set -euo pipefail
# shellcheck source=tests/shell/lint/files.sh
. "$(dirname "${BASH_SOURCE[0]}")/files.sh"
cd "${1:?usage: shellcheck.sh ROOT}"

if ! command -v shellcheck >/dev/null; then
  echo "SKIPPED: no shellcheck on this machine; install shellcheck"
  exit 77
fi
mapfile -t files < <(shell_files .)
if [ ${#files[@]} -eq 0 ]; then
  echo "shellcheck.sh: found no script under $PWD" >&2
  exit 1
fi
# Names in "source=" comments are relative to the root or to the script. SC2016 is about '$x' in
# single quotes, which is how code for another shell (a fake, a rank, a remote host) is written.
shellcheck --external-sources --source-path=. --source-path=SCRIPTDIR --exclude=SC2016 "${files[@]}"
echo "${#files[@]} scripts are clean"
