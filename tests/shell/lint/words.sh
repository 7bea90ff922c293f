#!/usr/bin/env bash
# Usage: words.sh ROOT. No sentence of the project has a phrase of words.txt, which CONTRIBUTING.md ("Words") explains.
# Prints each as FILE:LINE:TEXT, with the better words; exit code 1 if there is any.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/shell/lint/files.sh
. "$here/files.sh"
cd "${1:?usage: words.sh ROOT}"

# Recorded environments, seeds of fuzzers and what compares phrases are no sentences of ours.
mapfile -t files < <(source_files . \( -name '*.[ch]pp' -o -name '*.h' -o -name '*.f90' -o -name '*.md' -o -name '*.sh' \
  -o -name '*.bash' -o -name '*.bats' -o -name '*.py' -o -name '*.cmake' -o -name '*.txt' -o -name '*.toml' \
  -o -name '*.mustache' -o -name '*.expected' -o ! -name '*.*' \) \
  ! -path './tests/golden/env/*' ! -path './tests/fuzz/corpus/*' ! -path './tests/shell/lint/words.*' \
  ! -path './tests/shell/lint.bats' ! -name LICENSE)
if [ ${#files[@]} -eq 0 ]; then
  echo "words.sh: found no file" >&2
  exit 1
fi

found=0
phrases=0
while IFS=$'\t' read -r phrase better; do
  case $phrase in '' | '#'*) continue ;; esac
  phrases=$((phrases + 1))
  if lines=$(grep -nHiIE -- "$phrase" "${files[@]}"); then
    printf 'write: %s\n%s\n\n' "$better" "$lines"
    found=$((found + 1))
  fi
done <"$here/words.txt"
if [ "$phrases" -eq 0 ]; then
  echo "words.sh: words.txt has no phrase" >&2
  exit 1
fi
if [ "$found" -ne 0 ]; then exit 1; fi
echo "none of $phrases phrases in ${#files[@]} files"
