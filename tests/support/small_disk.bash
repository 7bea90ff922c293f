# Shared by tests of downloads: a full disk.
# shellcheck shell=bash
# shellcheck disable=SC2154 # $output is of run

# on_small_disk KIB FOLDER COMMAND…: `run` of the command with a file system of this size on FOLDER, which is empty at
# first; the names of the files that are there at the end follow its output. Skips the test where that is impossible.
on_small_disk() {
  local namespace=(unshare -m)
  if [ "$(id -u)" -ne 0 ]; then namespace=(unshare -r -m); fi
  mkdir -p "$2"
  "${namespace[@]}" mount -t tmpfs -o "size=$1k" none "$2" 2>/dev/null ||
    skip "no file system can be mounted in a namespace of its own here (unshare -m, mount -t tmpfs)"
  cat >"$BATS_TEST_TMPDIR/on_small_disk" <<'SH'
mount -t tmpfs -o "size=$1k" none "$2" || exit
"${@:3}"
code=$?
echo "there: $(ls -A "$2" | paste -sd ' ')"
exit "$code"
SH
  run "${namespace[@]}" bash "$BATS_TEST_TMPDIR/on_small_disk" "$@"
  echo "$output"
}
