# Shared by the lint scripts: which files there are. Works without git, so in a release archive too.
# shellcheck shell=bash

# source_files ROOT FIND-TEST…: what find's tests accept, without build folders, data and runs.
source_files() {
  local root=$1
  shift
  find "$root" \( -name .git -o -path "$root/build*" -o -path "$root/.deps" -o -path "$root/.cache" \
    -o -path "$root/data" -o -path "$root/runs" \) -prune -o -type f "$@" -print | sort
}

cpp_files() { source_files "$1" \( -name '*.cpp' -o -name '*.hpp' \); }

# Scripts by their name or, where they have no suffix, by their first line.
shell_files() {
  local file
  source_files "$1" \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \)
  source_files "$1" ! -name '*.*' | while read -r file; do
    if head -n 1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b'; then echo "$file"; fi
  done
}
