#!/usr/bin/env bats
# `hpcboot run` with a launcher that does not end after its ranks, or that starts none.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi
load ../support/run_launchers

setup_file() {
  find_run_launchers
}

setup() {
  be_nowhere_special
}

teardown() { end_jobs; }

# by LAUNCHER [LINES]: from now on "${by[@]}" is `hpcboot run` by an mpirun, Open MPI's or Hydra's, that stays. Before
# that it writes this many lines.
by() {
  local launcher
  use_launcher "$1"
  mkdir -p staying
  cat >staying/mpirun <<SH
#!/bin/sh
case \$1 in --version) exec $(command -v mpirun) --version ;; esac
$(command -v mpirun) "\$@"
yes "a line" | head -n ${2:-0}
touch stays
exec sleep 1000
SH
  chmod +x staying/mpirun
  by=(env "PATH=$PWD/staying:$PATH" "$HPCBOOT" run --launcher "$launcher" -n 2)
}

words='hpcboot run: all ranks have ended, but mpirun'

terminated() {
  by "$1"
  run --separate-stderr timeout 60 "${by[@]}" --timeout 2 -- sh -c 'echo "rank $RANK"'
  [ "$status" -eq 0 ] || fail "exit code $status" "$stderr" || return
  [ "$(sort <<<"$output")" = $'rank 0\nrank 1' ] || fail "$output" || return
  [[ $stderr == *"$words "*" has not ended 2 s later: it is terminated"* ]] || fail "$stderr"
}

@test "mpirun is terminated, and the ranks' exit code counts" { terminated mpirun; }
@test "Hydra is terminated, and the ranks' exit code counts" { terminated hydra; }

@test "a failed rank is named, and its exit code counts" {
  by mpirun
  run --separate-stderr timeout 60 "${by[@]}" -n 2 --timeout 60 -- sh -c '[ $RANK -eq 0 ] || exit 3'
  [ "$status" -eq 3 ] || fail "exit code $status" "$stderr"
  [[ $stderr == *"rank 1 of 2"*"failed first: exit code 3"* ]] || fail "$stderr"
}

@test "a launcher has time while its output is not read, and then none of it is lost" {
  by mpirun 100000
  timeout 60 "${by[@]}" --timeout 2 -- true 2>err | (
    sleep 5
    cat
  ) >out
  [ "$(grep -c '^a line$' out)" -eq 100000 ] || fail "$(wc -l out)" "$(cat err)"
  grep -q "$words" err || fail "$(cat err)"
}

@test "a signal ends it at once" {
  by mpirun
  "${by[@]}" --timeout 60 -- true >out 2>&1 3>&- &
  job=$!
  await test -e stays
  sleep 2 # run looks once a second
  local begin=$SECONDS status=0
  kill -TERM "$job"
  wait "$job" || status=$?
  ((SECONDS - begin < 20)) || fail "after $((SECONDS - begin)) s: $(cat out)"
  [ "$status" -eq 143 ] || fail "exit code $status" "$(cat out)"
  [ ! -s out ] || fail "$(cat out)"
}

@test "a launcher that starts no rank is terminated after --timeout, with exit code 32" {
  mkdir idle
  printf '#!/bin/sh\ncase $1 in --version) echo "mpirun (Open MPI) 4.1.4"; exit ;; esac\nexec sleep 1000\n' >idle/mpirun
  chmod +x idle/mpirun
  PATH=$PWD/idle:$PATH run --separate-stderr timeout 60 "$HPCBOOT" run --launcher mpirun -n 2 --timeout 3 -- true
  [ "$status" -eq 32 ] || fail "exit code $status" "$stderr"
  [[ $stderr == *"mpirun (Open MPI) has started no rank within 3 s"*"raise --timeout"* ]] || fail "$stderr"
}
