# Shared by the lint scripts: lists the files. Works without git, so also in a release archive.
# shellcheck shell=bash

# source_files ROOT FIND-TEST…: the files that find's tests accept, without build folders, data and runs.
source_files() {
  local root=$1
  shift
  find "$root" \( -name .git -o -path "$root/build*" -o -path "$root/.deps" -o -path "$root/.cache" \
    -o -path "$root/data" -o -path "$root/runs" \) -prune -o -type f "$@" -print | sort
}

cpp_files() { source_files "$1" \( -name '*.cpp' -o -name '*.hpp' \); }

# Scripts, recognised by their name or, without a suffix, by their first line.
shell_files() {
  local file
  source_files "$1" \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \)
  source_files "$1" ! -name '*.*' | while read -r file; do
    if head -n 1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b'; then echo "$file"; fi
  done
}
