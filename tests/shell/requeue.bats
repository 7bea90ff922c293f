#!/usr/bin/env bats
# `hpcboot run --warn` and `--requeue` in a PBS job with fake PBS commands, with each kind of launcher: our own agents,
# Open MPI, Hydra. Real schedulers are tested in tests/cluster/requeue.bats.
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
  export HOME=$PWD
  be_in_a_job
}

teardown() { end_jobs; }

# be_in_a_job: simulates a PBS job with four slots on this host, started just now. The file `walltime` holds its length
# in seconds, or "ends": 40 s remain once the ranks are ready, more before. qrerun writes its arguments to `requeued`.
be_in_a_job() {
  mkdir bin
  cat >bin/qstat <<'SH'
#!/bin/sh
cd "$BATS_TEST_TMPDIR" && [ -e walltime ] || { echo "qstat: cannot connect to server" >&2; exit 111; }
walltime=$(cat walltime)
if [ "$walltime" = ends ]; then
  left=55
  if [ -e ready.0 ] && [ -e ready.1 ]; then left=40; fi
  walltime=$(($(date +%s) - $(cat began) + left))
fi
cat <<TEXT
Job Id: 7.server
    Job_Name = job
    job_state = R
    Resource_List.walltime = 00:$(printf %02d:%02d $((walltime / 60)) $((walltime % 60)))
    Rerunable = True
    stime = $(LC_ALL=C date -d "@$(cat began)" '+%a %b %d %H:%M:%S %Y')
    substate = 42
TEXT
SH
  printf '#!/bin/sh\necho "$@" >>"$BATS_TEST_TMPDIR/requeued"\n' >bin/qrerun
  # An ssh that runs the command on this host.
  printf '#!/bin/sh\nwhile [ "${1#n}" = "$1" ]; do shift; done\nshift\nexec sh -c "$*"\n' >bin/ssh
  chmod +x bin/*
  for _ in 1 2 3 4; do hostname; done >nodes
  echo 50 >walltime
  date +%s >began
  PATH=$PWD/bin:$PATH
  export PBS_JOBID=7.server PBS_NODEFILE=$PWD/nodes PBS_ENVIRONMENT=PBS_BATCH PBS_O_WORKDIR=$PWD
}

# by LAUNCHER: sets "${by[@]}" to `hpcboot run` of 2 ranks with this launcher: local, mpirun (Open MPI) or hydra.
by() {
  local launcher
  use_launcher "$1"
  by=("$HPCBOOT" run -n 2 --launcher "$launcher")
}

# write_saving_program: a program that stops cleanly on SIGUSR1, with exit code 46.
write_saving_program() {
  cat >saves.py <<'PY'
import os, signal, sys, time
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(46))
open("ready." + os.environ["RANK"], "w").close()
while not got:
    time.sleep(0.05)
open("saved." + os.environ["RANK"], "w").close()
while not (os.path.exists("saved.0") and os.path.exists("saved.1")):
    time.sleep(0.05)
time.sleep(1)  # time for a second signal to arrive
open("got." + os.environ["RANK"], "w").write(str(len(got)))
time.sleep(0.5)
sys.exit(46)
PY
}

is_warned_and_queued_again() { # LAUNCHER
  local by
  by "$1"
  write_saving_program
  echo ends >walltime
  run -46 --separate-stderr timeout 120 "${by[@]}" --requeue --warn 50 -- python3 saves.py
  [[ $stderr == *"hpcboot run: the walltime ends in "[34]?" s: sending SIGUSR1 to every rank"* ]]
  [[ $stderr == *"stopped cleanly: exit code 46"* ]]
  [[ $stderr == *"queued again: qrerun 7.server"* ]]
  [ "$(cat requeued)" = 7.server ]
  for rank in 0 1; do [ "$(cat "got.$rank")" = 1 ]; done
}

@test "ranks are warned once before the walltime is over, and the job is queued again: own agents" { is_warned_and_queued_again local; }
@test "ranks are warned once before the walltime is over, and the job is queued again: Open MPI" { is_warned_and_queued_again mpirun; }
@test "ranks are warned once before the walltime is over, and the job is queued again: Hydra" { is_warned_and_queued_again hydra; }

# saves_to_the_end LAUNCHER: rank 1 needs longer than rank 0, and SIGTERM would kill it.
saves_to_the_end() {
  local by
  by "$1"
  echo 20 >walltime
  date +%s >began
  run -46 --separate-stderr timeout 60 "${by[@]}" --requeue --warn 16 -- \
    bash -c 'trap "[ $RANK = 0 ] || sleep 4; : >saved.$RANK; exit 46" USR1; while :; do sleep 0.1; done'
  [ -e saved.0 ] && [ -e saved.1 ]
  [[ $stderr == *"rank 0 "*"stopped cleanly: exit code 46"* ]]
  [ "$(cat requeued)" = 7.server ]
}

@test "a rank that saves longer than another is not ended: own agents" { saves_to_the_end local; }
@test "a rank that saves longer than another is not ended: Open MPI" { saves_to_the_end mpirun; }
@test "a rank that saves longer than another is not ended: Hydra" { saves_to_the_end hydra; }

# ends_those_that_do_not LAUNCHER: ranks that keep running get half of the remaining time.
ends_those_that_do_not() {
  local by
  by "$1"
  echo 20 >walltime
  date +%s >began
  run -46 --separate-stderr timeout 60 "${by[@]}" --requeue --warn 16 -- \
    bash -c 'trap "[ $RANK = 1 ] || exit 46" USR1; while :; do sleep 0.1; done'
  (($(date +%s) < $(cat began) + 20))
  [ "$(cat requeued)" = 7.server ]
}

@test "a rank that does not end when another has stopped is ended before the walltime: own agents" { ends_those_that_do_not local; }
@test "a rank that does not end when another has stopped is ended before the walltime: Open MPI" { ends_those_that_do_not mpirun; }
@test "a rank that does not end when another has stopped is ended before the walltime: Hydra" { ends_those_that_do_not hydra; }

# is_cancelled LAUNCHER: the same program also saves on SIGTERM.
is_cancelled() {
  local by
  by "$1"
  write_saving_program
  "${by[@]}" --requeue -- python3 saves.py >out 2>err 3>&- &
  local job=$! code=0
  for rank in 0 1; do await test -e "ready.$rank"; done
  kill -TERM "$job"
  wait "$job" || code=$?
  [ "$code" -eq 46 ]
  grep -q "the run was told to end: the job is not queued again" err
  [ ! -e requeued ]
}

@test "what is told to end is not queued again: own agents" { is_cancelled local; }
@test "what is told to end is not queued again: Open MPI" { is_cancelled mpirun; }
@test "what is told to end is not queued again: Hydra" { is_cancelled hydra; }

# hold_the_answers: from now on qstat creates `asked` and waits for `answer`.
hold_the_answers() {
  mv bin/qstat bin/qstat.now
  printf '#!/bin/sh\ncd "$BATS_TEST_TMPDIR" || exit\n: >asked\nwhile [ ! -e answer ]; do sleep 0.05; done\nexec bin/qstat.now\n' >bin/qstat.held
  chmod +x bin/qstat.held
  mv bin/qstat.held bin/qstat
}

@test "a warning of the scheduler's that comes after the ranks' end does not end the run" {
  mkfifo go
  "$HPCBOOT" run -n 1 --requeue --warn 10 -- sh -c 'read -r _ <go; exit 46' >out 2>err 3>&- &
  local job=$! code=0
  exec 4>go
  hold_the_answers
  echo >&4
  exec 4>&-
  await test -e asked
  for signal in USR1 USR2 XCPU; do kill "-$signal" "$job"; done
  : >answer
  wait "$job" || code=$?
  [ "$code" -eq 46 ]
  [ "$(cat requeued)" = 7.server ]
}

# queued_without_readers LAUNCHER: the reader of standard error exits first.
queued_without_readers() {
  local by
  by "$1"
  mkfifo err go
  exec 4<>err 5<>go
  "${by[@]}" --requeue --warn 10 -- sh -c ': >"began.$RANK"; read -r _ <go; exit 46' >out 2>err 3>&- 4>&- 5>&- &
  local job=$! code=0
  for rank in 0 1; do await test -e "began.$rank"; done
  exec 4>&-
  echo >&5
  echo >&5
  exec 5>&-
  wait "$job" || code=$?
  [ "$code" -eq 46 ]
  [ "$(cat requeued)" = 7.server ]
}

@test "a job whose standard error is no longer read is queued again: own agents" { queued_without_readers local; }
@test "a job whose standard error is no longer read is queued again: Open MPI" { queued_without_readers mpirun; }
@test "a job whose standard error is no longer read is queued again: Hydra" { queued_without_readers hydra; }

# keeps_no_core_busy PID: the process uses less than one second of CPU time until it exits.
keeps_no_core_busy() {
  local first='' last most=0
  while last=$(awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null) && [ "$last" ]; do
    first=${first:-$last} most=$last
    sleep 0.1
  done
  ((most - first < $(getconf CLK_TCK))) || fail "$((most - first)) ticks"
}

@test "a warning that is due while a run waits for its agents keeps no core busy" {
  { hostname; echo n7; } >nodes
  printf '#!/bin/sh\nexec sleep 100\n' >bin/ssh
  echo 10 >walltime
  date +%s >began
  "$HPCBOOT" run --launcher ssh --timeout 8 --warn 9 -- true >out 2>err 3>&- &
  keeps_no_core_busy $!
}

# rests_while_ranks_save LAUNCHER: the end of the walltime approaches after the ranks were told to stop.
rests_while_ranks_save() {
  local by
  by "$1"
  echo 20 >walltime
  date +%s >began
  "${by[@]}" --warn 17 -- sh -c 'trap "" USR1; trap "sleep 9; exit" TERM; : >ready.$RANK; while :; do sleep 0.1; done' >out 2>err 3>&- &
  local job=$!
  for rank in 0 1; do await test -e "ready.$rank"; done
  kill -TERM "$job"
  keeps_no_core_busy "$job"
}

@test "a warning that is due while ranks save keeps no core busy: own agents" { rests_while_ranks_save local; }
@test "a warning that is due while ranks save keeps no core busy: Open MPI" { rests_while_ranks_save mpirun; }
@test "a warning that is due while ranks save keeps no core busy: Hydra" { rests_while_ranks_save hydra; }

@test "without --requeue nothing is asked for and nothing is queued again" {
  rm walltime
  run -46 --separate-stderr "$HPCBOOT" run -n 1 -- sh -c 'exit 46'
  [[ $stderr != *qstat* ]]
  [ ! -e requeued ]
}

@test "--warn alone warns" {
  write_saving_program
  echo ends >walltime
  run -46 --separate-stderr timeout 120 "$HPCBOOT" run -n 2 --warn 50 -- python3 saves.py
  [ ! -e requeued ]
}

@test "other exit codes are the end" {
  for code in 0 1 44; do
    run "-$code" "$HPCBOOT" run -n 1 --requeue -- sh -c "exit $code"
    [ ! -e requeued ]
  done
}

@test "a walltime that is not longer than the warning is reported, and the job is not queued again" {
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue -- sh -c 'exit 46'
  [[ $stderr == *"note: the walltime of 50 s is not longer than the warning time of 120 s: no warning is sent"* ]]
  [[ $stderr == *"every attempt would end at once"*"request a longer walltime"* ]]
  [ ! -e requeued ]
}

@test "a program that stops at once is queued again as often as --retries says" {
  for attempt in 1 2; do
    run -46 "$HPCBOOT" run -n 1 --requeue --warn 10 --retries 2 -- sh -c 'exit 46'
    [ "$(wc -l <requeued)" -eq "$attempt" ]
  done
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue --warn 10 --retries 2 -- sh -c 'exit 46'
  [[ $stderr == *"3 attempts in a row without progress: the job is not queued again (--retries 2)"* ]]
  [ "$(wc -l <requeued)" -eq 2 ]
  # The count is then reset: a newly submitted job has all its retries.
  [ -z "$(ls -A .local/state/hpcboot/jobs)" ]
}

@test "a host that is lost with its agent queues the job again, at most --retries times" {
  { hostname; echo n7; } >nodes
  for attempt in 1 2; do
    "$HPCBOOT" run --launcher ssh --requeue --warn 10 --retries 1 -- \
      sh -c 'test $RANK = 0 || echo $PPID >agent.new; test $RANK = 0 || mv agent.new agent; sleep 1000' >out 2>err 3>&- &
    job=$! code=0
    await test -e agent
    kill -KILL "$(cat agent)"
    rm agent
    wait "$job" || code=$?
    [ "$code" -eq 44 ]
    [ "$(wc -l <requeued)" -eq 1 ]
  done
}

@test "a host with a low limit is not lost" {
  { hostname; for _ in 1 2 3 4 5 6 7 8; do echo n7; done; } >nodes
  sed -i 's/^exec/ulimit -n 24; exec/' bin/ssh
  run -30 --separate-stderr timeout 60 "$HPCBOOT" run --launcher ssh --requeue --warn 10 -- sleep 1000
  [[ $stderr == *"found:    n7: pipe: Too many open files"* ]]
  [ ! -e requeued ]
}

@test "a scheduler that does not answer at the start is reported, asked again, and then the ranks are warned" {
  rm walltime
  run -0 --separate-stderr "$HPCBOOT" run -n 1 --requeue -- true
  [[ $stderr == *"note: the end of the walltime is not known yet; the scheduler is asked again: "*qstat* ]]
  write_saving_program
  echo $(($(date +%s) - 60)) >began
  run -46 --separate-stderr timeout 120 "$HPCBOOT" run -n 2 --warn 50 -- \
    sh -c '[ $RANK = 1 ] || { echo ends >new; mv new walltime; }; exec python3 saves.py'
  [[ $stderr == *"note: the end of the walltime is not known yet"*"sending SIGUSR1 to every rank"* ]]
}

@test "a walltime that becomes known late and is not longer than the warning keeps the job from being queued again" {
  rm walltime
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue -- sh -c 'echo 50 >walltime; exit 46'
  [[ $stderr == *"every attempt would end at once"*"request a longer walltime"* ]]
  [ ! -e requeued ]
}

@test "a scheduler that refuses is reported with what it printed, and the program's exit code stays" {
  for name in qrerun qsub; do printf '#!/bin/sh\necho "%s: not allowed here" >&2\nexit 1\n' "$name" >"bin/$name"; done
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue --warn 10 -- sh -c 'exit 46'
  [[ $stderr == *"the job is not queued again"* ]]
}

@test "a scheduler that takes the job and does not say so has no second one, and the attempt counts" {
  printf '#!/bin/sh\nexec sleep 1000\n' >bin/qrerun
  printf '#!/bin/sh\ntouch "$BATS_TEST_TMPDIR/submitted"\n' >bin/qsub
  chmod +x bin/qsub
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue --warn 10 -- sh -c 'exit 46'
  [[ $stderr == *"cannot tell whether the job was queued again"* ]]
  [ ! -e submitted ]
  [ "$(cat .local/state/hpcboot/jobs/*)" = 1 ]
}

@test "outside a job --requeue has no effect but a note" {
  unset PBS_JOBID PBS_NODEFILE PBS_ENVIRONMENT PBS_O_WORKDIR
  run -46 --separate-stderr "$HPCBOOT" run -n 1 --requeue -- sh -c 'exit 46'
  [[ $stderr == *"note: not in a scheduler's job: --requeue has no effect"* ]]
}

@test "--warn and --retries that are no numbers are refused" {
  for option in --warn=0 --warn=-5 --warn=x --retries=-1 --retries=x; do
    run -2 "$HPCBOOT" run --requeue "$option" -- true
  done
}
