# Shared by tests that start processes in the background: they wait for a condition, not for a fixed time, and no
# process outlives its test. Loaded by .bats files, which call end_jobs in teardown.
# shellcheck shell=bash

support=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

fail() {
  printf '%s\n' "$@" >&2
  return 1
}

# await COMMAND…: waits until it succeeds, for at most AWAIT_SECONDS, by default 60 s.
await() {
  local limit=${AWAIT_SECONDS:-60}
  local end=$((SECONDS + limit))
  until "$@" 2>/dev/null; do
    ((SECONDS < end)) || fail "failed for $limit s: $*" "$(cat out 2>/dev/null)" || return
    sleep 0.1
  done
}

# await_end JOB: waits for the end of a background job, whatever its exit code; if it does not end, says what runs.
await_end() {
  await has_ended "$1" || fail "$(ps -eo pid,ppid,stat,etime,args --forest | tail -n 40)" || return
  wait "$1" || true
}
has_ended() { ! jobs -rp | grep -qx "$1"; }

# descendants PID: the processes that PID has started, directly or indirectly.
descendants() {
  local child
  for child in $(ps -o pid= --ppid "$1"); do
    echo "$child"
    descendants "$child"
  done
}

# For teardown: ends the background jobs with all processes that they have started. A launcher needs time to end its
# ranks in order, so it gets 10 s.
end_jobs() {
  local job pids=()
  for job in $(jobs -rp); do mapfile -t -O "${#pids[@]}" pids < <(echo "$job" && descendants "$job"); done
  if [ "${#pids[@]}" -gt 0 ]; then
    kill -TERM "${pids[@]}" 2>/dev/null || true
    kill -CONT "${pids[@]}" 2>/dev/null || true # a stopped process does not get the other signal
    for ((i = 0; i < 200; ++i)); do
      kill -0 "${pids[@]}" 2>/dev/null || break # true while any is left
      sleep 0.05
    done
    ((i < 200)) || kill -KILL "${pids[@]}" 2>/dev/null || true
  fi
  wait || true
}

# hold_port PORT: makes another program listen on it until the test ends.
hold_port() {
  local word=
  mkfifo "$BATS_TEST_TMPDIR/holds_$1"
  python3 "$support/hold_port.py" "$1" >"$BATS_TEST_TMPDIR/holds_$1" 3>&- &
  read -r -t 60 word <"$BATS_TEST_TMPDIR/holds_$1" || true # end of file if it cannot get the port
  [ "$word" = ready ] || fail "port $1 is not held"
}

free_port() { "$support/free_port.py"; }
