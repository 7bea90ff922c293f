# What tests share that start processes in the background: they wait for what is to come about, not for some time,
# and no process outlives its test. To be loaded by .bats files, which call end_jobs in teardown.
# shellcheck shell=bash

support=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

fail() {
  printf '%s\n' "$@" >&2
  return 1
}

# await COMMAND…: until it succeeds, at most 60 s.
await() {
  local end=$((SECONDS + 60))
  until "$@" 2>/dev/null; do
    ((SECONDS < end)) || fail "not so within 60 s: $*" "$(cat out 2>/dev/null)" || return
    sleep 0.05
  done
}

# The processes that PID has started, and those that they have.
descendants() {
  local child
  for child in $(ps -o pid= --ppid "$1"); do
    echo "$child"
    descendants "$child"
  done
}

# For teardown: ends the jobs in the background with all that they have started. A launcher ends its ranks when it is
# told in order, so there are 10 s for that.
end_jobs() {
  local job pids=()
  for job in $(jobs -rp); do mapfile -t -O "${#pids[@]}" pids < <(echo "$job" && descendants "$job"); done
  if [ "${#pids[@]}" -gt 0 ]; then
    kill -TERM "${pids[@]}" 2>/dev/null || true
    kill -CONT "${pids[@]}" 2>/dev/null || true # a stopped one does not see the other signal
    for ((i = 0; i < 200; ++i)); do
      kill -0 "${pids[@]}" 2>/dev/null || break # true as long as one is left
      sleep 0.05
    done
    ((i < 200)) || kill -KILL "${pids[@]}" 2>/dev/null || true
  fi
  wait || true
}

# hold_port PORT: another program listens on it from now on, until the test ends.
hold_port() {
  local word=
  mkfifo "$BATS_TEST_TMPDIR/holds_$1"
  python3 "$support/hold_port.py" "$1" >"$BATS_TEST_TMPDIR/holds_$1" 3>&- &
  read -r -t 60 word <"$BATS_TEST_TMPDIR/holds_$1" || true # its end where it cannot have the port
  [ "$word" = ready ] || fail "port $1 is not held"
}

free_port() { "$support/free_port.py"; }
