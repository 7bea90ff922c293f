#!/usr/bin/env bats
# `hpcboot run` on this machine: by its own agent, by mpirun of Open MPI, and by MPICH's mpirun, Hydra.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi
load ../support/run_launchers

setup_file() {
  find_run_launchers
  export PYTHONUNBUFFERED=1
}

setup() {
  be_nowhere_special
}

teardown() { end_jobs; }

# by LAUNCHER: from now on "${by[@]}" is `hpcboot run` by this launcher: local, mpirun (Open MPI's) or hydra. Background
# programs of a script ignore SIGINT unless that is undone.
by() {
  local launcher
  use_launcher "$1"
  by=(env "--default-signal=INT,QUIT" "$HPCBOOT" run --launcher "$launcher")
}

# A program that writes the signals that it gets to got.RANK, until one that requests its end: it then ends with exit
# code $1 after some time, in which a duplicate would have arrived. (On a code other than 0 mpirun ends the others by
# SIGTERM.)
write_counting_program() {
  cat >counts.py <<'PY'
import os, signal, sys, time
rank = os.environ["RANK"]
got = []
for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2"):
    signal.signal(getattr(signal, name), lambda number, _: got.append(signal.Signals(number).name))
with open("pid." + rank, "w") as file:
    print(os.getpid(), file=file)
while not {"SIGHUP", "SIGINT", "SIGTERM"} & set(got):
    with open("seen." + rank, "w") as file:
        print(*got, file=file)
    time.sleep(0.02)
time.sleep(0.5)
with open("got." + rank, "w") as file:
    print(*got, file=file)
sys.exit(int(sys.argv[1]))
PY
}

# A program that only SIGKILL ends.
stubborn='trap "" HUP INT TERM; echo $$ >pid.$RANK; while :; do sleep 1; done'
# One that writes its process id and waits.
waiting='echo $$ >pid.$RANK; exec sleep 100'

# have_started N: the ranks 0 … N-1 have written their process ids.
have_started() {
  local rank
  for ((rank = 0; rank < $1; ++rank)); do [ -s "pid.$rank" ] || return 1; done
}

# is_gone PID: it has ended, even if its parent has not yet reaped it.
is_gone() {
  [ ! -e "/proc/$1" ] || grep -q '^State:.*[ZX]' "/proc/$1/status" 2>/dev/null || [ ! -e "/proc/$1" ]
}

all_gone() {
  local pid
  for pid in "$@"; do is_gone "$pid" || return 1; done
}

# start N ARGUMENT…: "${by[@]}" in the background, as $job, with N ranks that write pid.RANK; `family` are the processes
# that it has started.
start() {
  local ranks=$1
  shift
  "${by[@]}" -n "$ranks" "$@" >out 2>err 3>&- &
  job=$!
  await have_started "$ranks" || fail "$(cat err)" || return
  mapfile -t family < <(descendants "$job")
}

# ended: waits for $job; its exit code is in $status.
ended() {
  local end=$((SECONDS + 60))
  while ! is_gone "$job"; do
    ((SECONDS < end)) || fail "it does not end" "$(cat out err)" || return
    sleep 0.05
  done
  status=0
  wait "$job" || status=$?
}

# ends_with CODE: $job does, and no process that it started is left.
ends_with() {
  ended
  [ "$status" -eq "$1" ] || fail "exit code $status" "$(cat out err)" || return
  await all_gone "${family[@]}" || fail "left: $(ps -o pid,ppid,stat,args -p "$(IFS=,; echo "${family[*]}")")"
}

# The last lines of standard error, from the one that names the first failure.
last_words() { sed -n '/failed first/,$p' "${1:-/dev/stdin}"; }

# --- placement and environment of ranks

identity='echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE; echo at $MASTER_ADDR $MASTER_PORT; [ "$OMP_NUM_THREADS" -ge 1 ]'

three_ranks() {
  by "$1"
  run --separate-stderr timeout 60 "${by[@]}" -n 3 -- sh -c "$identity"
  [ "$status" -eq 0 ] || fail "$stderr"
  [ "$(grep -v '^at' <<<"$output" | sort)" = $'0 3 0 3 0 1\n1 3 1 3 0 1\n2 3 2 3 0 1' ]
  [[ $(grep '^at' <<<"$output" | sort -u) =~ ^at\ [0-9a-f.:]+\ [0-9]+$ ]]
}

@test "local: each rank knows its place, and all the same address" { three_ranks local; }
@test "mpirun: each rank knows its place, and all the same address" { three_ranks mpirun; }
@test "Hydra: each rank knows its place, and all the same address" { three_ranks hydra; }

# The address or the port alone, or both.
@test "HPCBOOT_MASTER_ADDR and _PORT are each rank's, and those of hpcboot exec in it" {
  for launcher in local mpirun hydra; do
    by $launcher
    for asked in HPCBOOT_MASTER_PORT=29512 HPCBOOT_MASTER_ADDR=127.0.0.9 'HPCBOOT_MASTER_ADDR=127.0.0.9 HPCBOOT_MASTER_PORT=29512'; do
      # shellcheck disable=SC2086 # a list of variables
      run -0 --separate-stderr env $asked timeout 60 "${by[@]}" -n 2 -- \
        sh -c 'echo "$MASTER_ADDR:$MASTER_PORT"; exec "$0" exec -- sh -c "echo \$MASTER_ADDR:\$MASTER_PORT"' "$HPCBOOT"
      [ "$(sort -u <<<"$output" | wc -l)" -eq 1 ] || fail "$launcher, $asked: $output"
      [[ $asked != *ADDR* || $output == 127.0.0.9:* ]] || fail "$launcher, $asked: $output"
      [[ $asked != *PORT* || $output == *:29512 ]] || fail "$launcher, $asked: $output"
    done
  done
}

# It restricts what may have started run, and nothing has.
@test "HPCBOOT_METHODS is not passed on to the ranks" {
  for launcher in local mpirun hydra; do
    by $launcher
    for methods in single openmpi; do
      run --separate-stderr env HPCBOOT_METHODS=$methods timeout 60 "${by[@]}" -n 2 -- sh -c 'echo $RANK of $WORLD_SIZE, $HPCBOOT_METHODS'
      [ "$status" -eq 0 ] || fail "$launcher, $methods: $stderr"
      [ "$(sort <<<"$output")" = $'0 of 2,\n1 of 2,' ] || fail "$launcher, $methods: $output"
    done
  done
  run -24 env HPCBOOT_METHODS=nonsense timeout 60 "$HPCBOOT" run --launcher local -n 1 -- touch started
  [ ! -e started ]
}

@test "without options: a rank for each visible GPU, else one; a job's tasks" {
  run -0 timeout 60 env CUDA_VISIBLE_DEVICES= "$HPCBOOT" run -- sh -c 'echo $RANK of $WORLD_SIZE'
  [ "$output" = "0 of 1" ]
  run -0 timeout 60 env CUDA_VISIBLE_DEVICES=GPU-a,GPU-b,GPU-c "$HPCBOOT" run -- sh -c 'echo $RANK of $WORLD_SIZE $CUDA_VISIBLE_DEVICES'
  [ "$(sort <<<"$output")" = $'0 of 3 GPU-a,GPU-b,GPU-c\n1 of 3 GPU-a,GPU-b,GPU-c\n2 of 3 GPU-a,GPU-b,GPU-c' ]
  in_slurm 2 CUDA_VISIBLE_DEVICES=
  run -0 timeout 60 "${job_of[@]}" "$HPCBOOT" run --launcher local -- sh -c 'echo $RANK of $WORLD_SIZE'
  [ "$(sort <<<"$output")" = $'0 of 2\n1 of 2' ]
}

@test "--ranks-per-node: a number, gpu, core, numa" {
  count() { timeout 60 "$HPCBOOT" run --launcher local --ranks-per-node "$1" -- sh -c 'echo $WORLD_SIZE' | sort -u; }
  [ "$(count 3)" = 3 ]
  [ "$(CUDA_VISIBLE_DEVICES=1,3 count gpu)" = 2 ]
  [ "$(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" timeout 60 "$HPCBOOT" run --ranks-per-node core -- sh -c 'echo $WORLD_SIZE')" = 1 ]
  [ "$(count numa)" -ge 1 ]
  for wrong in 0 -1 x 1.5 ''; do
    run timeout 60 "$HPCBOOT" run --ranks-per-node "$wrong" -- touch started
    [ "$status" -eq 20 ] || [ "$status" -eq 2 ] || fail "$wrong: $status"
  done
  CUDA_VISIBLE_DEVICES='' run -22 timeout 60 "$HPCBOOT" run --ranks-per-node gpu -- touch started
  [[ $output == *"no GPU is visible"* && ! -e started ]]
}

# More threads would be stopped for a part of each period.
@test "OMP_NUM_THREADS is a share of the CPUs that the quota of the control group allows" {
  local namespace=(unshare -m)
  [ "$(id -u)" -eq 0 ] || namespace=(unshare -r -m)
  # As both versions of control groups say it.
  mkdir -p cgroup/cpu
  echo 100000 100000 >cgroup/cpu.max
  echo 100000 | tee cgroup/cpu/cpu.cfs_quota_us >cgroup/cpu/cpu.cfs_period_us
  "${namespace[@]}" mount --bind cgroup /sys/fs/cgroup 2>/dev/null || skip "nothing can be mounted in a namespace of its own here"
  for launcher in local mpirun; do
    by $launcher
    run -0 --separate-stderr "${namespace[@]}" sh -c 'mount --bind cgroup /sys/fs/cgroup && "$@"' sh \
      timeout 60 "${by[@]}" -n 1 -- sh -c 'echo $OMP_NUM_THREADS'
    [ "$output" = 1 ] || fail "$launcher: $output"
  done
}

@test "--gpu-bind auto: each rank sees its own device only" {
  for launcher in local mpirun; do
    by $launcher
    CUDA_VISIBLE_DEVICES=GPU-a,GPU-b run --separate-stderr timeout 60 "${by[@]}" -n 2 --gpu-bind auto -- sh -c 'echo $RANK $CUDA_VISIBLE_DEVICES'
    [ "$(sort <<<"$output")" = $'0 GPU-a\n1 GPU-b' ] || fail "$launcher: $output"
  done
}

# Any user of a host can read /proc/PID/cmdline. `run` itself and the agent, which is a copy of it, show the
# arguments as typed.
handed_over() {
  by "$1"
  local secret file
  export GIVEN=from-the-environment-$RANDOM
  start 2 --env GIVEN --env TOLD="told $GIVEN" --env ABSENT -- \
    sh -c 'echo "$RANK $GIVEN, $TOLD, ${ABSENT-unset}"; echo $$ >pid.$RANK; while [ ! -e go ]; do sleep 0.05; done'
  secret=$(tr '\0' '\n' <"/proc/$(cat pid.1)/environ" | sed -n 's/^HPCBOOT_RUN_SECRET=//p')
  [ ${#secret} -eq 64 ]
  # shellcheck disable=SC2013,SC2062 # such names have no blanks; all processes are meant
  for file in $(printf '%s\n' "$secret" "$GIVEN" | grep -ls --text --file=- /proc/[0-9]*/cmdline); do
    cmp -s "$file" "/proc/$job/cmdline" || fail "$file: $(tr '\0' ' ' <"$file")" || return
  done
  ! grep -q --text "$secret" "/proc/$job/cmdline"
  touch go
  ends_with 0
  [ "$(sort out)" = "0 $GIVEN, told $GIVEN, unset"$'\n'"1 $GIVEN, told $GIVEN, unset" ] || fail "$(cat out err)"
  grep -q 'note: --env ABSENT: not set in this environment' err
}

@test "{hostfile} in the program's arguments and in --env is the user's" {
  for launcher in local mpirun hydra; do
    by $launcher
    run -0 --separate-stderr timeout 60 "${by[@]}" -n 1 --env 'A={hostfile}' -- sh -c 'echo "$A $1"' sh '{hostfile}'
    [ "$output" = '{hostfile} {hostfile}' ] || fail "$launcher: $output"
  done
}

@test "local: --env, and neither its values nor the secret on a command line" { handed_over local; }
@test "mpirun: --env, and neither its values nor the secret on a command line" { handed_over mpirun; }
@test "Hydra: --env, and neither its values nor the secret on a command line" { handed_over hydra; }

@test "--chdir: the ranks work there, else here" {
  mkdir there
  printf '#!/bin/sh\npwd\n' >there/program
  chmod +x there/program
  for launcher in local mpirun hydra; do
    by $launcher
    run -0 --separate-stderr timeout 60 "${by[@]}" -n 1 --chdir there -- ./program
    [ "$output" = "$PWD/there" ] || fail "$launcher: $output"
    run -0 --separate-stderr timeout 60 "${by[@]}" -n 1 -- there/program
    [ "$output" = "$PWD" ] || fail "$launcher: $output"
    run --separate-stderr timeout 60 "${by[@]}" -n 1 --chdir nowhere -- pwd
    [ "$status" -ne 0 ] && [[ $stderr == *nowhere* ]] || fail "$launcher: $status $stderr"
  done
}

# Another host may have the home by its link only. $PWD is wrong in a program that was started elsewhere.
@test "ssh: the ranks work in the folder by the name that the shell has for it" {
  mkdir bin real
  printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\ncd /\nexec sh -c "$*"\n' >bin/ssh
  chmod +x bin/ssh
  ln -s real link
  printf 'n1.invalid\n' >hosts
  PATH=$PWD/bin:$PATH
  cd link
  for asked in "$PWD" "$BATS_TEST_TMPDIR/real" /nowhere here; do
    run -0 --separate-stderr env PWD="$asked" timeout 60 "$HPCBOOT" run --hostfile ../hosts --launcher ssh -- printenv PWD
    case $asked in
    */link* | */real) [ "$output" = "$asked" ] ;;
    *) [ "$output" = "$(pwd -P)" ] ;;
    esac || fail "$asked: $output"
  done
}

@test "local: the ranks stay in a folder whose path leads through one that the user may not search" {
  mkdir -p closed/open
  local user=()
  if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || skip "setpriv(1) makes root another user"
    user=(setpriv --reuid 12345 --regid 12345 --clear-groups)
    "${user[@]}" test -x "$HPCBOOT" || skip "others may not start $HPCBOOT"
  fi
  cd closed/open
  chmod 000 ..
  run --separate-stderr "${user[@]}" timeout 60 "$HPCBOOT" run --launcher local -n 1 -- sh -c 'echo there'
  chmod 700 ..
  [ "$status" -eq 0 ] && [ "$output" = there ] || fail "$stderr"
}

# --- output and input

logs_of() {
  by "$1"
  timeout 60 "${by[@]}" -n 2 --output-dir logs/new -- sh -c 'echo "out of $RANK"; echo "err of $RANK" >&2' >out 2>err
  [ "$(ls logs/new)" = $'rank_0000.err\nrank_0000.out\nrank_0001.err\nrank_0001.out' ]
  for rank in 0 1; do
    [ "$(cat "logs/new/rank_000$rank.out")" = "out of $rank" ]
    [ "$(cat "logs/new/rank_000$rank.err")" = "err of $rank" ]
  done
  [ "$(sort out)" = $'out of 0\nout of 1' ]
  mkdir there
  timeout 60 "${by[@]}" -n 1 --chdir there --output-dir here -- true
  [ "$(ls here)" = $'rank_0000.err\nrank_0000.out' ]
  [ "$(grep '^err of' err | sort)" = $'err of 0\nerr of 1' ]
  mkdir -p full
  touch full/file
  run timeout 60 "${by[@]}" -n 1 --output-dir full/file -- touch started
  [[ $status != 0 && ! -e started && $output == *"error 42 "*full/file* ]] || fail "$status: $output"
}

@test "local: --output-dir has the output of each rank" { logs_of local; }
@test "mpirun: --output-dir has the output of each rank" { logs_of mpirun; }
@test "Hydra: --output-dir has the output of each rank" { logs_of hydra; }

prefixed() {
  by "$1"
  command -v script >/dev/null || skip "script(1) makes the terminal"
  local words=${by[*]@Q}
  run -0 timeout 60 script -qec "$words -n 2 -- sh -c 'echo hello \$RANK'" /dev/null
  [ "$(tr -d '\r' <<<"$output" | grep hello | sort)" = "[0 $(hostname)] hello 0"$'\n'"[1 $(hostname)] hello 1" ] || fail "$output"
  run -0 timeout 60 script -qec "$words -n 2 --no-prefix -- sh -c 'echo hello \$RANK'" /dev/null
  [ "$(tr -d '\r' <<<"$output" | grep hello | sort)" = $'hello 0\nhello 1' ] || fail "$output"
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 1 -- echo hello
  [ "$output" = hello ]
}

@test "local: rank and host before each line on a terminal, and nowhere else" { prefixed local; }
@test "mpirun: rank and host before each line on a terminal, and nowhere else" { prefixed mpirun; }
@test "Hydra: rank and host before each line on a terminal, and nowhere else" { prefixed hydra; }

# Each of 8 ranks writes 500 lines to both streams, in pieces that do not end at line ends.
many_lines() {
  by "$1"
  cat >writes.py <<'PY'
import os
rank = os.environ["RANK"]
for fd, stream in ((1, "out"), (2, "err")):
    text = "".join(f"{stream} {rank} {i} " + rank * 40 + ".\n" for i in range(500)).encode()
    for begin in range(0, len(text), 777):
        os.write(fd, text[begin : begin + 777])
PY
  timeout 60 "${by[@]}" -n 8 --output-dir logs -- python3 writes.py >out 2>err || fail "$(tail err)"
  # The expected logs.
  for stream in out err; do
    for rank in 0 1 2 3 4 5 6 7; do
      python3 -c "for i in range(500): print('$stream $rank', i, '$rank' * 40 + '.')" >"expected.$stream.$rank"
      cmp "expected.$stream.$rank" "logs/rank_000$rank.$stream"
    done
  done
}

@test "local: the lines of 8 ranks stay whole and in their order, standard error apart" {
  many_lines local
  for stream in out err; do
    for rank in 0 1 2 3 4 5 6 7; do diff <(grep "^$stream $rank " $stream) "expected.$stream.$rank"; done
    [ "$(wc -l <$stream)" -eq 4000 ] || fail "$(grep -vE "^$stream [0-7] [0-9]+ ([0-7])\\1{39}\\.$" $stream | head)"
  done
}

# Rank 0 writes a line in two parts. When a prompt would have been shown, rank 1 writes a line.
torn_by_nobody() {
  by "$1"
  timeout 60 "${by[@]}" -n 2 -- sh -c 'has() { while [ ! -e $1 ]; do sleep 0.05; done; }
    if [ $RANK = 0 ]; then printf first; touch first; has other; sleep 0.2; echo half; exit; fi
    has first; sleep 0.5; echo other; touch other' >out 2>err || fail "$(cat err)"
  [ "$(sort out)" = $'firsthalf\nother' ] || fail "$(cat out)"
}

@test "local: a line that is written in parts stays whole in a file" { torn_by_nobody local; }
@test "mpirun: a line that is written in parts stays whole in a file" { torn_by_nobody mpirun; }
@test "Hydra: a line that is written in parts stays whole in a file" { torn_by_nobody hydra; }

# How often each character is there. (fold would print line ends without a character between them as a line of their own.)
characters() { cat "$@" | tr '\n' '/' | fold -w 1 | sort | uniq -c; }

# These launchers forward what they have read, wherever that ends: nothing is lost, but lines may be mixed.
passed_on() {
  many_lines "$1"
  for stream in out err; do
    [ "$(characters $stream)" = "$(characters expected.$stream.?)" ] || fail "$stream: $(wc $stream)"
  done
}

@test "mpirun: the output of 8 ranks comes whole, standard error apart" { passed_on mpirun; }
@test "Hydra: the output of 8 ranks comes whole, standard error apart" { passed_on hydra; }

input_of() {
  by "$1"
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 3 -- sh -c 'echo "$RANK:$(cat)"' <<<"some input"
  [ "$(sort <<<"$output")" = $'0:some input\n1:\n2:' ] || fail "$output"
  [ "$1" != hydra ] || return 0 # Hydra gives up if a rank reads too slowly
  seq 200000 >numbers
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 2 -- sh -c '[ $RANK = 1 ] || cksum' <numbers
  [ "$output" = "$(cksum <numbers)" ]
  # The input is not read.
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 2 -- sh -c 'exec <&-; echo read' < <(seq 200000)
  [ "$output" = $'read\nread' ]
}

@test "local: standard input is rank 0's" { input_of local; }
@test "mpirun: standard input is rank 0's" { input_of mpirun; }
@test "Hydra: standard input is rank 0's" { input_of hydra; }

# 10 MB to a slow reader that takes 1 MB at a time; and a program that has closed its output.
much_output() {
  by "$1"
  cat >slow.py <<'PY'
import hashlib, sys, time
digest, size = hashlib.md5(), 0
while piece := sys.stdin.buffer.read1(1 << 20):
    size += len(piece)
    digest.update(piece)
    time.sleep(len(piece) / 2e7)
print(size, digest.hexdigest())
PY
  seq 1500000 >numbers
  timeout 60 "${by[@]}" -n 1 -- cat "$PWD/numbers" 2>err | python3 slow.py >out
  [ "$(cat out)" = "$(stat -c %s numbers) $(md5sum <numbers | cut -d' ' -f1)" ] || fail "$(cat out err)"
  run timeout 60 "${by[@]}" -n 2 -- sh -c 'exec >&- 2>&-; sleep 0.3; exit 7'
  [ "$status" -eq 7 ] || fail "$status: $output"
}

@test "local: 10 MB for a slow reader, and a program that closes its output" { much_output local; }
@test "mpirun: 10 MB for a slow reader, and a program that closes its output" { much_output mpirun; }
@test "Hydra: 10 MB for a slow reader, and a program that closes its output" { much_output hydra; }

@test "a reader that goes away ends the ranks" {
  for launcher in local mpirun; do
    rm -f pid.*
    by $launcher
    timeout 60 "${by[@]}" -n 2 -- sh -c 'echo $$ >pid.$RANK
      until [ -s pid.0 ] && [ -s pid.1 ]; do sleep 0.01; done
      while echo line; do sleep 0.01; done' 2>err | head -n 3 >out
    await all_gone "$(cat pid.0)" "$(cat pid.1)" || fail "$launcher: $(cat err)"
  done
}

# --- exit codes, and who failed first

codes() {
  by "$1"
  printf '#!/bin/sh\n' >not_executable
  exits() { # CODE ARGUMENT…
    local expected=$1
    shift
    run "-$expected" --separate-stderr timeout 60 "${by[@]}" "$@"
  }
  exits 0 -n 2 -- true
  exits 42 -n 2 -- sh -c 'exit 42'
  exits 127 -n 2 -- ./missing
  [[ $stderr == *missing* ]] || fail "$stderr"
  exits 126 -n 2 -- ./not_executable
  exits 137 -n 2 -- sh -c 'kill -9 $$'
  exits 143 -n 1 -- sh -c 'kill $$'
  exits 139 -n 1 -- sh -c 'ulimit -c 0; kill -SEGV $$'
}

@test "local: the exit code is the program's, 126, 127, 128 + n" { codes local; }
@test "mpirun: the exit code is the program's, 126, 127, 128 + n" { codes mpirun; }
@test "Hydra: the exit code is the program's, 126, 127, 128 + n" { codes hydra; }

# Rank 1 fails; rank 0, which is then told to end, fails in another way; rank 2 ignores every request to end.
first_failure() {
  by "$1"
  cat >fails.sh <<'SH'
echo $$ >pid.$RANK
case $RANK in
  0) trap 'echo late >&2; exit 9' TERM; while :; do sleep 0.1; done ;;
  2) trap '' HUP INT TERM; while :; do sleep 1; done ;;
esac
while [ ! -e pid.0 ] || [ ! -e pid.2 ]; do sleep 0.05; done
sleep 0.5 # until the others have their traps
seq 3
echo cause >&2
echo 'end of it' >&2
exit 3
SH
  start 3 -- sh fails.sh
  ends_with 3
  [ "$(last_words err)" = "hpcboot run: rank 1 of 3 on $(hostname) (pid $(cat pid.1)) failed first: exit code 3; last lines:"$'\n'"  cause"$'\n'"  end of it" ] ||
    fail "$(cat err)"
}

@test "local: who failed first is named last; a rank that ignores SIGTERM is killed" { first_failure local; }
@test "mpirun: who failed first is named last; a rank that ignores SIGTERM is killed" { first_failure mpirun; }
@test "Hydra: who failed first is named last; a rank that ignores SIGTERM is killed" { first_failure hydra; }

# --- signals

# signalled LAUNCHER: every rank gets USR1, USR2 and then INT, TERM or HUP, each once.
signalled() {
  by "$1"
  local name code=0
  [ "$1" != local ] || code=5
  write_counting_program
  for name in INT TERM HUP; do
    rm -f pid.* got.* seen.*
    start 3 -- python3 counts.py $code
    kill -USR1 "$job"
    for rank in 0 1 2; do await grep -q SIGUSR1 seen.$rank; done
    kill -USR2 "$job"
    for rank in 0 1 2; do await grep -q SIGUSR2 seen.$rank; done
    kill "-$name" "$job"
    ends_with $code
    [ "$(cat got.0 got.1 got.2 | sort | uniq -c | tr -s ' ')" = " 3 SIGUSR1 SIGUSR2 SIG$name" ] || fail "$(head got.*)" "$(cat err)"
    ! grep -q 'failed first' err
  done
}

@test "local: each rank gets SIGUSR1, SIGUSR2 and SIGINT, SIGTERM or SIGHUP once" { signalled local; }
@test "mpirun: each rank gets SIGUSR1, SIGUSR2 and SIGINT, SIGTERM or SIGHUP once" { signalled mpirun; }
@test "Hydra: each rank gets SIGUSR1, SIGUSR2 and SIGINT, SIGTERM or SIGHUP once" { signalled hydra; }

# A signal from the terminal reaches the whole foreground process group.
ctrl_c() {
  by "$1"
  command -v script >/dev/null || skip "script(1) makes the terminal"
  write_counting_program
  mkfifo keys
  script -qec "${by[*]@Q} -n 2 -- python3 counts.py 0" /dev/null >out <keys 3>&- &
  job=$!
  exec 4>keys
  await have_started 2 || fail "$(cat out)"
  mapfile -t family < <(descendants "$job")
  printf '\003' >&4
  ends_with 0
  exec 4>&-
  [ "$(cat got.0 got.1)" = $'SIGINT\nSIGINT' ] || fail "$(head got.*)" "$(cat out)"
}

@test "local: each rank gets a Ctrl-C of the terminal once" { ctrl_c local; }
@test "mpirun: each rank gets a Ctrl-C of the terminal once" { ctrl_c mpirun; }
@test "Hydra: each rank gets a Ctrl-C of the terminal once" { ctrl_c hydra; }

typed() {
  by "$1"
  command -v script >/dev/null || skip "script(1) makes the terminal"
  mkfifo keys
  script -qec "${by[*]@Q} -n 2 -- sh -c 'echo \$\$ >pid.\$RANK; [ \$RANK = 1 ] || { read -r line; echo got \$line; }'" /dev/null >out <keys 3>&- &
  job=$!
  exec 4>keys
  await have_started 2 || fail "$(cat out)"
  mapfile -t family < <(descendants "$job")
  printf 'typed\n' >&4
  ends_with 0
  exec 4>&-
  grep -q 'got typed' out || fail "$(cat out)"
}

@test "local: what is typed at the terminal is rank 0's" { typed local; }
@test "mpirun: what is typed at the terminal is rank 0's" { typed mpirun; }
@test "Hydra: what is typed at the terminal is rank 0's" { typed hydra; }

@test "local: a rank that the kernel kills for lack of memory is reported as such" { out_of_memory local; }
@test "mpirun: a rank that the kernel kills for lack of memory is reported as such" { out_of_memory mpirun; }

# A cgroup of 200 MB; version 1 or 2.
out_of_memory() {
  local group limit
  for group in /sys/fs/cgroup/memory/hpcboot-test-$$ /sys/fs/cgroup/hpcboot-test-$$; do
    mkdir "$group" 2>/dev/null || continue
    for limit in memory.limit_in_bytes memory.max; do
      if [ -w "$group/$limit" ]; then break 2; fi
    done
    rmdir "$group"
  done
  [ -w "$group/$limit" ] || skip "no cgroup of this user's limits memory"
  echo 200000000 >"$group/$limit"
  by "$1"
  (
    echo $BASHPID >"$group/cgroup.procs"
    exec "${by[@]}" -n 2 -- python3 -c 'import os, time
if os.environ["RANK"] == "1": x = bytearray(600 << 20)
time.sleep(60)'
  ) >out 2>err 3>&- &
  job=$!
  ended
  for ((i = 0; i < 200; ++i)); do if rmdir "$group" 2>/dev/null; then break; else sleep 0.05; fi; done
  [ "$status" -eq 137 ] || fail "exit code $status" "$(cat out err)"
  grep -q '^hpcboot run: rank 1 of 2 on .* failed first: signal 9 (Killed), out of memory according to the kernel of that host$' err || fail "$(cat err)"
}

@test "a launcher that has started no rank yet ends with the first signal" {
  mkdir bin
  PATH=$PWD/bin:$PATH
  # It is terminated by the signal, or ends with its own exit code.
  for waits in 'exec sleep 60' 'trap "exit 15" TERM; sleep 60 & wait'; do
    printf '#!/bin/sh\ncase $1 in --version) echo "mpirun (Open MPI) 4.1.4" ;; *) touch started; %s ;; esac\n' "$waits" >bin/mpirun
    chmod +x bin/mpirun
    "$HPCBOOT" run --launcher mpirun -n 2 -- true >out 2>err 3>&- &
    job=$!
    for ((i = 0; i < 600; ++i)); do [ -e started ] && break; sleep 0.05; done
    rm started
    kill -TERM "$job"
    ends_with 143
  done
}

second_signal() {
  by "$1"
  start 2 -- sh -c "$stubborn"
  sleep 0.2 # the traps
  kill -TERM "$job"
  sleep 0.5 # an immediate repetition would count as the first signal
  for rank in 0 1; do ! is_gone "$(cat pid.$rank)" || fail "rank $rank did not wait"; done
  kill -TERM "$job"
  ends_with 137
  grep -q 'second signal: killing the ranks' err
}

@test "local: a second signal kills ranks that ignore the first" { second_signal local; }
@test "mpirun: a second signal kills ranks that ignore the first" { second_signal mpirun; }
@test "Hydra: a second signal kills ranks that ignore the first" { second_signal hydra; }

# --- what is killed

run_killed() {
  by "$1"
  start 2 -- sh -c "$waiting"
  kill -9 "$job"
  ends_with 137
  rm pid.*
  start 2 -- sh -c "$stubborn"
  sleep 0.2
  kill -9 "$job"
  ends_with 137
}

@test "local: kill -9 of run leaves nothing" { run_killed local; }
@test "mpirun: kill -9 of run leaves nothing" { run_killed mpirun; }
@test "Hydra: kill -9 of run leaves nothing" { run_killed hydra; }

rank_killed() {
  by "$1"
  start 2 -- sh -c "$waiting"
  kill -9 "$(cat pid.1)"
  ends_with 137
  [[ $(last_words err) == "hpcboot run: rank 1 of 2 on $(hostname) (pid $(cat pid.1)) failed first: signal 9 (Killed)" ]] || fail "$(cat err)"
}

@test "local: kill -9 of a rank ends the others, and it is named" { rank_killed local; }
@test "mpirun: kill -9 of a rank ends the others, and it is named" { rank_killed mpirun; }
@test "Hydra: kill -9 of a rank ends the others, and it is named" { rank_killed hydra; }

parent_killed() {
  by "$1"
  start 2 -- sh -c "$waiting"
  kill -9 "$(ps -o ppid= -p "$(cat pid.1)")"
  ended
  [ "$status" -ne 0 ] || fail "$(cat err)"
  await all_gone "${family[@]}" || fail "left: $(ps -o pid,ppid,stat,args -p "$(IFS=,; echo "${family[*]}")")"
}

@test "local: kill -9 of the agent leaves nothing" {
  parent_killed local
  [ "$status" -eq 44 ] && grep -q "host $(hostname) was lost" err || fail "$status: $(cat err)"
}
@test "mpirun: kill -9 of a rank's parent leaves nothing" { parent_killed mpirun; }
@test "Hydra: kill -9 of a rank's parent leaves nothing" { parent_killed hydra; }

@test "local: a limit of this host is reported as such" {
  ulimit -n 24
  run -30 timeout 60 "$HPCBOOT" run -n 8 -- sleep 1000 3>&-
  [[ $output == *"found:    $(hostname): pipe: Too many open files"*"ulimit -n"* ]] || fail "$output"
}

launcher_killed() {
  by "$1"
  start 2 -- sh -c "$waiting"
  kill -9 "$(ps -o pid= --ppid "$job")"
  ends_with 137
  grep -q 'was terminated by signal 9 (Killed)' err || fail "$(cat err)"
}

@test "mpirun: kill -9 of mpirun leaves nothing" { launcher_killed mpirun; }
@test "Hydra: kill -9 of mpirun leaves nothing" { launcher_killed hydra; }

# --- what is refused

# in_slurm TASKS, in_pbs TASKS [NAME=VALUE…]: "${job_of[@]}" is env of a made-up job with TASKS slots on this host.
in_slurm() {
  job_of=(env SLURM_JOB_ID=7 SLURM_JOB_NODELIST="$(hostname)" SLURM_JOB_NUM_NODES=1 SLURM_NTASKS="$1" SLURM_TASKS_PER_NODE="$1"
    SLURM_JOB_CPUS_PER_NODE="$1" "${@:2}")
}
in_pbs() {
  for ((i = 0; i < $1; ++i)); do hostname; done >nodes
  job_of=(env PBS_ENVIRONMENT=PBS_BATCH PBS_JOBID=7.server PBS_NODEFILE="$PWD/nodes" "${@:2}")
}

@test "more ranks than granted are refused, but for --oversubscribe" {
  for scheduler in slurm pbs; do
    "in_$scheduler" 2
    for asked in '-n 3' '--ranks-per-node 3'; do
      # shellcheck disable=SC2086 # words
      run -22 timeout 60 "${job_of[@]}" "$HPCBOOT" run --launcher local $asked -- touch started
      [[ $output == *granted*--oversubscribe* && ! -e started ]] || fail "$output"
      # shellcheck disable=SC2086 # words
      run -0 timeout 60 "${job_of[@]}" "$HPCBOOT" run --launcher local $asked --oversubscribe -- sh -c 'echo $WORLD_SIZE'
      [ "$output" = $'3\n3\n3' ]
    done
    run -0 timeout 60 "${job_of[@]}" "$HPCBOOT" run --launcher local -n 1 -- sh -c 'echo $WORLD_SIZE'
    [ "$output" = 1 ]
  done
}

@test "one of several copies refuses before it starts anything; in a launch of one rank it works" {
  for launcher in mpirun hydra; do
    by $launcher
    # Hydra may lose what a rank writes just before it fails.
    run timeout 60 mpirun -np 2 sh -c '"$0" run -n 2 -- touch "$1/started" 2>>"$1/said.$2"' "$HPCBOOT" "$PWD" $launcher
    [[ $(cat said.$launcher) == *"2 copies of hpcboot run"*"hpcboot exec"* && ! -e started ]] || fail "$output" "$(cat said.*)"
    run timeout 60 mpirun -np 1 "$HPCBOOT" run --no-prefix -n 2 -- sh -c 'echo $RANK of $WORLD_SIZE'
    [ "$status" -eq 0 ] || fail "$launcher: $output"
    [ "$(grep -c '^[01] of 2$' <<<"$output")" -eq 2 ] || fail "$launcher: $output"
  done
  by mpirun
  run -22 env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=4 "$HPCBOOT" run -- touch started
  [[ $output == *"4 copies"* && ! -e started ]]
}

@test "within a rank of its own: of one it starts others, of two it refuses" {
  for outer in local mpirun; do
    for inner in local mpirun; do
      by $inner
      run --separate-stderr timeout 60 "$HPCBOOT" run --launcher $outer -n 1 -- "${by[@]}" -n 2 -- sh -c 'echo $RANK of $WORLD_SIZE at $MASTER_PORT'
      [ "$status" -eq 0 ] || fail "$outer, $inner: $output" "$stderr"
      [ "$(cut -d' ' -f1-3 <<<"$output" | sort)" = $'0 of 2\n1 of 2' ] || fail "$outer, $inner: $output"
      run timeout 60 "$HPCBOOT" run --launcher $outer -n 2 -- "${by[@]}" -n 2 -- touch started
      [ "$status" -eq 22 ] && [ ! -e started ] || fail "$outer, $inner: $status $output"
    done
  done
}

@test "several programs in one command, and what is no command, are refused" {
  run -20 timeout 60 "$HPCBOOT" run -n 1 -- touch started : -n 1 -- touch started
  [[ $output == *MPMD* && ! -e started ]]
  for arguments in 'touch started' '--' '-n 0 -- touch started' '-n x -- touch started' '--nodes 0 -- touch started' \
    '--timeout 0 -- touch started' '--gpu-bind x -- touch started' '--nonsense -- touch started' '-n'; do
    # shellcheck disable=SC2086 # a list of words
    run -2 timeout 60 "$HPCBOOT" run $arguments
  done
  run -20 timeout 60 "$HPCBOOT" run --launcher mpiru -- touch started
  [[ $output == *"write mpirun"* ]]
  run -20 timeout 60 "$HPCBOOT" run --env 'A B=secret' -- touch started
  [[ $output != *secret* ]]
  run -22 timeout 60 "$HPCBOOT" run --launcher srun -- touch started
  run -22 timeout 60 "$HPCBOOT" run --nodes 2 -- touch started
  [ ! -e started ]
}

@test "options behind -- are the program's" {
  run -0 timeout 60 "$HPCBOOT" run -n 1 -- echo --help -n 3 -- --version
  [ "$output" = "--help -n 3 -- --version" ]
}

# --- MPI

@test "an MPI program gets the world of its MPI, with and without --launcher" {
  hello=$(dirname "$HPCBOOT")/hello_mpi
  [ -x "$hello" ] || skip "hello_mpi is not built"
  ldd "$hello" | grep -q libmpi.so || skip "hello_mpi is not linked to Open MPI"
  by mpirun
  run -0 --separate-stderr timeout 60 "${by[@]}" -n 3 -- "$hello" --timeout 50 --size 1
  [[ $output == *"rank 2 of 3"* ]] || [[ $output == *"3 ranks"* ]] || fail "$output"
  run -0 timeout 60 "$HPCBOOT" run -n 2 --dry-run -- "$hello"
  [[ $output == *"launcher: mpirun"* ]] || fail "$output"
  run -0 timeout 60 "$HPCBOOT" run -n 2 --launcher local --dry-run -- "$hello"
  [[ $output == *"without mpirun, MPI sees each rank as rank 0 of 1"* ]] || fail "$output"
}

# --- hosts and agents, with an ssh that stays here

@test "--hostfile and --nodes: over ssh; --timeout names the host that does not answer" {
  mkdir bin
  printf '#!/bin/sh\n[ "$1 $2 $3 $4" = "-o BatchMode=yes -o ConnectTimeout=10" ] || exit 90\nshift 4\n[ "$1" != -v ] || shift\n[ "$1" = -- ] || exit 91\nshift\nhost=$1\nshift\necho "$host" >>called\n[ "$host" != silent ] || exec sleep 100\nexec sh -c "$*"\n' >bin/ssh
  chmod +x bin/ssh
  printf '%s slots=2\n' one.invalid two.invalid three.invalid >hosts
  PATH=$PWD/bin:$PATH
  run -0 --separate-stderr timeout 60 "$HPCBOOT" run --hostfile hosts --launcher ssh --launcher-args -v --nodes 2 -- \
    sh -c 'echo $RANK $WORLD_SIZE $LOCAL_RANK $GROUP_RANK $GROUP_WORLD_SIZE'
  [ "$(sort <<<"$output")" = $'0 4 0 0 2\n1 4 1 0 2\n2 4 0 1 2\n3 4 1 1 2' ] || fail "$output" "$stderr"
  [ "$(sort called)" = $'one.invalid\ntwo.invalid' ]
  echo silent >>hosts
  run -32 timeout 60 "$HPCBOOT" run --hostfile hosts --launcher ssh --timeout 1 -- touch started
  [[ $output == *"no agent within 1 s: silent: "* && ! -e started ]] || fail "$output"
}

@test "local: --torchrun: one torchrun, which starts the ranks and is told to end" { one_torchrun local; }
@test "mpirun: --torchrun: one torchrun, which starts the ranks and is told to end" { one_torchrun mpirun; }

one_torchrun() {
  mkdir bin
  cat >bin/torchrun <<'SH'
#!/bin/sh
trap 'echo told; exit 5' TERM
echo "torchrun $*"
# Its workers are ranks of a separate launch: they know only torchrun's numbers.
env | grep -E '^(RANK|WORLD_SIZE|LOCAL_RANK|HPCBOOT_RANK|HPCBOOT_WORLD_SIZE|HPCBOOT_RUN_|HPCBOOT_EXPORTED)'
echo $$ >pid.0
while :; do sleep 0.05; done
SH
  chmod +x bin/torchrun
  PATH=$PWD/bin:$PATH
  by "$1"
  "${by[@]}" --torchrun --ranks-per-node 2 -- train.py --lr 1 >out 2>err 3>&- &
  job=$!
  await have_started 1
  mapfile -t family < <(descendants "$job")
  kill -TERM "$job"
  ends_with 5
  grep -qxE 'torchrun --nnodes=1 --nproc_per_node=2 --node_rank=0 --master_addr=[0-9a-f.:]+ --master_port=[0-9]+ train.py --lr 1' out || fail "$(cat out)"
  [ "$(tail -n 1 out)" = told ]
  [ "$(wc -l <out)" -eq 2 ] || fail "$(cat out)"
}

# --- what is shown

@test "--dry-run starts nothing and shows no secret" {
  for launcher in local mpirun hydra; do
    by $launcher
    export API_KEY=murmur
    run -0 timeout 60 "${by[@]}" -n 2 --dry-run --env TOKEN=hush --env API_KEY --env A=b --output-dir logs -- touch started
    [[ $output == *"2 ranks on 1 host"*A=b*"touch started"* && $output != *hush* && $output != *murmur* ]] || fail "$launcher: $output"
    [ -z "$(ls)" ] || fail "$launcher: $(ls)"
  done
}

@test "--help fits a terminal of 80 columns, and has the options that are tested here" {
  run -0 env COLUMNS=80 "$HPCBOOT" run --help
  for line in "${lines[@]}"; do [ ${#line} -le 100 ] || fail "$line"; done
  options=$(grep -oE '^ +(-[a-z] \[ )?--[a-z-]+' <<<"$output" | grep -oE -- '--[a-z-]+')
  [ "$(wc -l <<<"$options")" -ge 17 ]
  for option in $options; do
    grep -hv 'for option in' "$BATS_TEST_DIRNAME"/{{run,requeue,silence,stage,study,jobscripts}.bats,../cluster/submit.bats} | grep -qE -- "${option/--ranks/(-n|--ranks)}( |=)" || fail "no test of $option"
  done
  run -0 timeout 60 "$HPCBOOT" run --ranks 2 --no-prefix -- sh -c 'echo $WORLD_SIZE'
  [ "$output" = $'2\n2' ]
}

@test "--silence is a number of seconds; its tests are in silence.bats" {
  for seconds in 0 -1 soon; do
    run -2 "$HPCBOOT" run --silence "$seconds" -- touch started
    [ ! -e started ] || fail "$seconds"
  done
}

@test "run-rank, which launchers are told to start, is not shown to people" {
  for text in --help "completion bash" "completion zsh" "completion fish" manual; do
    # shellcheck disable=SC2086 # words
    run "$HPCBOOT" $text
    [ "$status" -eq 0 ] || [ "$text" = "completion fish" ] || fail "$text: $status"
    [[ $output != *run-rank* && $output != *run-agent* ]] || fail "$text"
  done
  run -0 "$HPCBOOT" completion bash
  [[ $output == *oversubscribe* ]]
}
