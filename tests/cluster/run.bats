#!/usr/bin/env bats
# `hpcboot run` on several hosts: over ssh, over mpirun, and in jobs of Slurm.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output in the test's own shell

load helper

setup_file() {
  start_for_show -n 3
}

teardown_file() {
  "$CLUSTER" down
}

# Four ranks: two on n1, one each on n2 and n3.
setup() {
  enter_shared_folder
  printf '%s\n' 'n1 slots=2' 'n2 slots=1' 'n3 slots=1' >hosts
  cat >waits.py <<'PY'
"""Writes which signals it gets; ends with the given code some time after the first that asks for it."""
import os, signal, socket, sys, time
rank = os.environ["RANK"]
got = []
for name in ("SIGHUP", "SIGINT", "SIGTERM"):
    signal.signal(getattr(signal, name), lambda number, _: got.append(signal.Signals(number).name))
with open("part." + rank, "w") as file:
    print(socket.gethostname(), os.getpid(), os.environ["HPCBOOT_RUN_SECRET"], file=file)
os.rename("part." + rank, "is." + rank)
while not got:
    time.sleep(0.02)
time.sleep(float(sys.argv[2]))
with open("got." + rank, "w") as file:
    print(*got, file=file)
sys.exit(int(sys.argv[1]))
PY
}

teardown() {
  end_jobs
  "$CLUSTER" on n0 scancel --user tester
}

on_n1() {
  "$CLUSTER" as tester n1 "$@"
}

# start N ARGUMENT…: `hpcboot run ARGUMENT… -- waits.py 0` on n1 in the background, as $job, until N ranks have started;
# its process id on n1 is in run.pid.
start() {
  local ranks=$1
  shift
  on_n1 sh -c 'echo $$ >run.pid; exec "$0" run "$@"' "$HPCBOOT_BIN" "$@" -- python3 "$PWD/waits.py" 0 1 >out 2>&1 &
  job=$!
  are_there "$ranks"
}

# submit OPTION… -- ARGUMENT…: the same in a job of Slurm, $id, until 4 ranks have started, which take $time s to end.
submit() {
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  printf '#!/bin/bash\n%s run %s -- python3 %s 0 %s\n' "$HPCBOOT_BIN" "$*" "$PWD/waits.py" "${time:-1}" >job.sh
  id=$(as_tester sbatch --parsable --output=out "${options[@]}" job.sh)
  are_there 4
}

are_there() {
  local rank
  for ((rank = 0; rank < $1; ++rank)); do await test -e "is.$rank" || fail "$(cat out)" || return; done
}

# Facts about rank $1: its host, its process id there, the secret of the launch.
host_of() { cut -d' ' -f1 "is.$1"; }
pid_of() { cut -d' ' -f2 "is.$1"; }
secret() { cut -d' ' -f3 is.0; }

# nobody_left: no process of this test's programs exists on any host.
nobody_left() {
  local host
  for host in n0 n1 n2 n3; do
    [[ $("$CLUSTER" status) == *"$host "* ]] || continue
    ! "$CLUSTER" on "$host" ps -eo stat,args 2>/dev/null | grep -v '^Z' | grep -qF "$PWD/waits.py" || return 1
  done
}

# ended CODE: the run in the background ended with CODE and left no process.
ended() {
  local status=0
  wait "$job" || status=$?
  [[ $status == "$1" ]] || fail "exit code $status" "$(cat out)" || return
  await nobody_left || fail "a process is left"
}

# No process of any host has the secret on its command line.
secret_is_kept() {
  local host
  [[ $(secret) =~ ^[0-9a-f]{64}$ ]] || fail "no secret: $(cat is.0)" || return
  for host in n0 n1 n2 n3; do
    "$CLUSTER" on "$host" bash -c 'cat /proc/[0-9]*/cmdline 2>/dev/null' | tr '\0' ' ' >"commands.$host"
    ! grep -qF "$(secret)" "commands.$host" || fail "$host: $(cat "commands.$host")" || return
  done
  grep -qF waits.py "commands.$(host_of 3)" # the search did see the ranks' host
}

each_was_told() {
  [[ $(cat got.* | sort | uniq -c | tr -s ' ') == " $1 $2" ]] || fail "$(head got.*)" "$(cat out)"
}

identity='echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE $(hostname)'
placed=$'0 4 0 2 0 3 n1\n1 4 1 2 0 3 n1\n2 4 0 1 1 3 n2\n3 4 0 1 2 3 n3'

# --- hosts without a scheduler

on_lab_hosts() {
  run -0 on_n1 timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" -- sh -c "$identity"
  [[ $(grep '^[0-9]' <<<"$output" | sort) == "$placed" ]] || fail "$output"
  run -0 on_n1 timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" -- "$HPCBOOT_BIN" check
  [[ $output == *"authenticated by a secret that hpcboot run handed over"*"ok: 4 ranks"* ]] || fail "$output"
  # From a host that has no rank.
  run -0 as_tester timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" --env GIVEN='a b' -- sh -c 'echo $RANK $(hostname) "$GIVEN" $(pwd)'
  # On a busy machine, mpirun may warn that a child was faster than its setpgid().
  [[ $(grep -v 'plm:rsh: Warning: setpgid' <<<"$output" | sort) == "0 n1 a b $PWD"$'\n'"1 n1 a b $PWD"$'\n'"2 n2 a b $PWD"$'\n'"3 n3 a b $PWD" ]] || fail "$output"
}

@test "--hostfile, over ssh" { on_lab_hosts ssh; }
@test "--hostfile, over mpirun" { on_lab_hosts mpirun; }

@test "--hostfile: mpirun if there is one, else ssh" {
  run -0 on_n1 "$HPCBOOT_BIN" run --hostfile hosts --dry-run -- true
  [[ $output == "launcher: mpirun (Open MPI)"* ]] || fail "$output"
  mkdir bin
  ln -s "$(command -v ssh)" bin/
  run -0 on_n1 env PATH="$PWD/bin" "$HPCBOOT_BIN" run --hostfile hosts --dry-run -- true
  [[ $output == "launcher: ssh"* ]] || fail "$output"
}

killed_on_another_host() {
  start 4 --hostfile hosts --launcher "$1"
  secret_is_kept
  "$CLUSTER" on n3 kill -9 "$(pid_of 3)"
  ended 137
  grep -q "^hpcboot run: rank 3 of 4 on n3 (pid $(pid_of 3)) failed first: signal 9 (Killed)" out || fail "$(cat out)"
}

@test "ssh: no secret on a command line; a rank that is killed on another host is named, the others are ended" {
  killed_on_another_host ssh
}
@test "mpirun: no secret on a command line; a rank that is killed on another host is named, the others are ended" {
  killed_on_another_host mpirun
}

told_once() {
  start 4 --hostfile hosts --launcher "$1"
  "$CLUSTER" on n1 kill "-$2" "$(cat run.pid)"
  ended 0
  each_was_told 4 "SIG$2"
}

@test "ssh: every rank is told SIGTERM once" { told_once ssh TERM; }
@test "mpirun: every rank is told SIGINT once" { told_once mpirun INT; }

run_killed() {
  start 4 --hostfile hosts --launcher "$1"
  "$CLUSTER" on n1 kill -9 "$(cat run.pid)"
  ended 137
}

@test "ssh: kill -9 of run leaves nobody on any host" { run_killed ssh; }
@test "mpirun: kill -9 of run leaves nobody on any host" { run_killed mpirun; }

@test "kill -9 of mpirun leaves nobody on any host" {
  start 4 --hostfile hosts --launcher mpirun
  "$CLUSTER" on n1 bash -c "kill -9 \$(ps -o pid= --ppid $(cat run.pid))"
  ended 137
  grep -q 'was terminated by signal 9 (Killed)' out || fail "$(cat out)"
}

# --- jobs of Slurm

# in_a_job OPTION… -- ARGUMENT…: `hpcboot run ARGUMENT…` in a batch script; its output is in job.log.
in_a_job() {
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  as_tester bash -c '. "$0"; options=($1); batch "${options[@]}" -- "$2" "${@:3}"' "$BATS_TEST_DIRNAME/lib/batch.sh" "${options[*]}" \
    "$HPCBOOT_BIN"' run "$@"' "$@"
}

slurm() { # LAUNCHER
  in_a_job -N2 --ntasks-per-node=2 -- --launcher "$1" -- sh -c "$identity"
  [[ $(sort job.log) == $'0 4 0 2 0 2 n1\n1 4 1 2 0 2 n1\n2 4 0 2 1 2 n2\n3 4 1 2 1 2 n2' ]] || fail "$(cat job.log)"
  in_a_job -N3 -n4 -- --launcher "$1" -- sh -c "$identity"
  [[ $(sort job.log) == "$placed" ]] || fail "$(cat job.log)"
  in_a_job -N2 --ntasks-per-node=2 -- --launcher "$1" -n 3 -- sh -c "$identity"
  [[ $(sort job.log) == $'0 3 0 2 0 2 n1\n1 3 1 2 0 2 n1\n2 3 0 1 1 2 n2' ]] || fail "$(cat job.log)"
  in_a_job -N2 --ntasks-per-node=2 -- --launcher "$1" -- "$HPCBOOT_BIN" check
  [[ $(cat job.log) == *"authenticated by a secret that hpcboot run handed over"*"ok: 4 ranks"* ]] ||
    fail "$(cat job.log)"
}

@test "sbatch: by srun, even and uneven" { slurm srun; }
@test "sbatch: by mpirun, even and uneven" { slurm mpirun; }

# The options after ":" are those of the second component.
components=(-N1 -n1 : -N2 --ntasks-per-node=2)
@test "sbatch: by srun in every component of a heterogeneous job" {
  in_a_job "${components[@]}" -- -- sh -c "$identity"
  [[ $(sort job.log) == $'0 5 0 1 0 3 n1\n1 5 0 2 1 3 n2\n2 5 1 2 1 3 n2\n3 5 0 2 2 3 n3\n4 5 1 2 2 3 n3' ]] || fail "$(cat job.log)"
  in_a_job "${components[@]}" -- -- "$HPCBOOT_BIN" check
  [[ $(cat job.log) == *"authenticated by a secret that hpcboot run handed over"*"ok: 5 ranks"* ]] || fail "$(cat job.log)"
  # A host of another component than that of `run`.
  submit "${components[@]}" --
  "$CLUSTER" on "$(host_of 3)" kill -9 "$(pid_of 3)"
  await grep -q "^hpcboot run: rank 3 of 5 on n3 (pid $(pid_of 3)) failed first: signal 9 (Killed)" out || fail "$(cat out)"
  await nobody_left
}

@test "sbatch: a scaling study in one allocation" {
  cat >job.sh <<SH
#!/bin/bash
$HPCBOOT_BIN run --study strong --ranks 1,2,4 --repeat 2 -- bash -c 'echo "of \$WORLD_SIZE on \$(hostname)"'
SH
  as_tester bash -c '. "$0"; wait_for_job "$(sbatch --parsable --output=job.log -N2 --ntasks-per-node=2 job.sh)"' "$BATS_TEST_DIRNAME/lib/batch.sh"
  [[ $(grep -c '^of 1 on' job.log) == 2 && $(grep -c '^of 2 on' job.log) == 4 && $(grep -c '^of 4 on' job.log) == 8 ]] || fail "$(cat job.log)"
  [[ $(grep '^of 4 on' job.log | sort -u | wc -l) == 2 ]] || fail "$(cat job.log)"
  grep -qE '^ +4 +2 +0 +[0-9.]+ ' job.log || fail "$(cat job.log)"
}

@test "sbatch: srun unless something else is asked for, also where nothing is exported to steps" {
  in_a_job -N2 --ntasks-per-node=2 -- --dry-run -- true
  grep -q '^launcher: srun' job.log || fail "$(cat job.log)"
  in_a_job -N2 --ntasks-per-node=2 --export=NONE -- -- "$HPCBOOT_BIN" check
  grep -q 'authenticated by a secret that hpcboot run handed over' job.log || fail "$(cat job.log)"
  SLURM_EXPORT_ENV=NONE in_a_job -N2 --ntasks-per-node=2 -- -- "$HPCBOOT_BIN" check
  grep -q 'authenticated by a secret that hpcboot run handed over' job.log || fail "$(cat job.log)"
}

cancelled() {
  submit -N2 --ntasks-per-node=2 -- --launcher "$1"
  secret_is_kept
  "$CLUSTER" on n0 scancel "$id"
  await nobody_left || fail "$(cat out)"
}

@test "scancel: every rank by srun gets the signal once, and has time to end" {
  cancelled srun
  each_was_told 4 SIGTERM
}

# Slurm signals each process of the job, and Open MPI's daemons signal the ranks again before they kill them.
@test "scancel: every rank by mpirun gets the signal, and has a moment to end" {
  time=0.3 cancelled mpirun
  sed -i 's/\( SIGTERM\)*$//' got.*
  each_was_told 4 SIGTERM
}

stands_still() {
  [[ $("$CLUSTER" on "$(host_of 3)" ps -o stat= -p "$(pid_of 3)") == T* ]]
}
goes_on() { ! stands_still; }

# suspended LAUNCHER: the ranks stop and continue, no part of the run considers another lost, and the run can be ended.
suspended() {
  submit -N2 --ntasks-per-node=2 -- --launcher "$1"
  "$CLUSTER" on n0 scontrol suspend "$id"
  await stands_still
  "$CLUSTER" on n0 scontrol resume "$id"
  await goes_on
  "$CLUSTER" on n0 scancel "$id"
  await nobody_left || fail "$(cat out)"
  sed -i 's/\( SIGTERM\)*$//' got.*
  each_was_told 4 SIGTERM
  [[ $(cat out) != *lost* ]] || fail "$(cat out)"
}

@test "sbatch: a job that is suspended goes on: srun" { suspended srun; }
@test "sbatch: a job that is suspended goes on: mpirun" { time=0.3 suspended mpirun; }

killed_in_a_job() {
  submit -N2 --ntasks-per-node=2 -- --launcher "$1"
  "$CLUSTER" on "$(host_of 3)" kill -9 "$(pid_of 3)"
  await grep -q "^hpcboot run: rank 3 of 4 on $(host_of 3) (pid $(pid_of 3)) failed first: signal 9 (Killed)" out || fail "$(cat out)"
  await nobody_left
}

@test "sbatch: a rank by srun that is killed on another host is named, the others are ended" { killed_in_a_job srun; }
@test "sbatch: a rank by mpirun that is killed on another host is named, the others are ended" { killed_in_a_job mpirun; }

@test "standard input is rank 0's under srun and mpirun of a job" {
  echo typed >input
  for launcher in srun mpirun; do
    printf '#!/bin/bash\n%s run --launcher %s -- sh -c '"'"'echo "$RANK:$(cat)"'"'"' <input\n' "$HPCBOOT_BIN" $launcher >job.sh
    as_tester bash -c '. "$0"; wait_for_job "$(sbatch --parsable --output=job.log -N2 --ntasks-per-node=2 job.sh)"' "$BATS_TEST_DIRNAME/lib/batch.sh"
    [[ $(sort job.log) == $'0:typed\n1:\n2:\n3:' ]] || fail "$launcher: $(cat job.log)"
  done
  sed -i s/mpirun/srun/ job.sh
  as_tester bash -c '. "$0"; wait_for_job "$(sbatch --parsable --output=job.log -N1 : -N1 job.sh)"' "$BATS_TEST_DIRNAME/lib/batch.sh"
  [[ $(sort job.log) == $'0:typed\n1:' ]] || fail "components: $(cat job.log)"
}

@test "srun -n 4 hpcboot run is refused before anything is started" {
  run as_tester timeout 60 srun --mpi=none -N2 -n4 "$HPCBOOT_BIN" run -- touch "$PWD/started"
  [[ $status == 22 && $output == *"4 copies of hpcboot run"*"drop srun, or use hpcboot exec"* && ! -e started ]] || fail "$status: $output"
}

# --- data on each host's own disk

is_unstaged() {
  local host
  for host in n0 n1 n2 n3; do ! "$CLUSTER" on "$host" sh -c 'ls -d /tmp/hpcboot-stage-*' 2>/dev/null || return 1; done
}

reads='[ {staged} = $HPCBOOT_STAGED ]; echo $RANK $(hostname) $(cat $HPCBOOT_STAGED/a) $(ls /tmp | grep -c hpcboot-stage) ${HPCBOOT_STAGED%-*}'

# each_has_read FILE RANKS: these ranks have read it, one line "RANK HOST one" each, with one folder on each host and
# one note about it.
each_has_read() {
  [[ $(sed -n 's,^\([0-3] n[1-3] one\) 1 /tmp/hpcboot-stage-4242-[0-9a-f]*$,\1,p' "$1" | sort) == "$2" ]] || fail "$(cat "$1")" || return
  [[ $(grep -oE "^note: n[123]: 4 bytes staged" "$1" | sort) == "$(cut -d' ' -f2 <<<"$2" | sort -u | sed 's/.*/note: &: 4 bytes staged/')" ]] || fail "$(cat "$1")"
  await is_unstaged || fail "a copy is left"
}

staged_on_hosts() {
  mkdir data
  echo one >data/a
  run -0 on_n1 timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" --stage data -- sh -c "$reads"
  echo "$output" >out
  each_has_read out $'0 n1 one\n1 n1 one\n2 n2 one\n3 n3 one'
  run -27 on_n1 timeout 60 "$HPCBOOT_BIN" run --hostfile hosts --launcher "$1" --stage /proc/sys/fs/none -- touch started
  [[ ! -e started && $output == *"/proc/sys/fs/none cannot be staged: No such file"* ]] || fail "$output"
  start 4 --hostfile hosts --launcher "$1" --stage data
  "$CLUSTER" on n1 kill -9 "$(cat run.pid)"
  ended 137
  await is_unstaged || fail "a copy is left"
}

@test "ssh: --stage copies to each of three hosts, and leaves nothing there" { staged_on_hosts ssh; }
@test "mpirun: --stage copies to each of three hosts, and leaves nothing there" { staged_on_hosts mpirun; }

# The process that copies on n3 is stopped as soon as it exists.
late_copy() {
  mkdir data
  truncate -s 200M data/large
  "$CLUSTER" on n3 timeout 60 bash -c 'until pkill -STOP -x hpcboot-stage; do :; done' &
  local stopper=$!
  on_n1 sh -c 'echo $$ >run.pid; exec "$0" run "$@"' "$HPCBOOT_BIN" --hostfile hosts --launcher "$1" --timeout 5 --stage data -- \
    python3 "$PWD/waits.py" 0 1 >out 2>&1 &
  job=$!
  wait $stopper
  for host in n1 n2; do await "$CLUSTER" on $host sh -c 'ls -d /tmp/hpcboot-stage-*/data' >/dev/null; done
  sleep 7 # longer than --timeout
  ! compgen -G 'is.*' || fail "ranks have started" || return
  "$CLUSTER" on n3 pkill -CONT -x hpcboot-stage
  are_there 4
  "$CLUSTER" on n1 kill -TERM "$(cat run.pid)"
  ended 0
  await is_unstaged || fail "a copy is left"
}

@test "ssh: no rank starts before the last host has its copy, however long that takes" { late_copy ssh; }
@test "mpirun: no rank starts before the last host has its copy, however long that takes" { late_copy mpirun; }

staged_in_a_job() {
  mkdir data
  echo one >data/a
  in_a_job -N2 --ntasks-per-node=2 -- --launcher "$1" --stage "$PWD/data" -- sh -c "$reads" >job.out 2>&1 || fail "$(cat job.log job.out)"
  each_has_read job.log $'0 n1 one\n1 n1 one\n2 n2 one\n3 n2 one'
  time=0.3 submit -N2 --ntasks-per-node=2 -- --launcher "$1" --stage "$PWD/data"
  "$CLUSTER" on n0 scancel "$id"
  await nobody_left || fail "$(cat out)"
  await is_unstaged || fail "a copy is left"
}

@test "sbatch: --stage by srun, also when the job is cancelled" { staged_in_a_job srun; }
@test "sbatch: --stage by mpirun, also when the job is cancelled" { staged_in_a_job mpirun; }

# --- programs

@test "torch.distributed, with gloo, over ssh, mpirun and srun" {
  as_tester /usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "/usr/bin/python3 has no torch"
  cat >adds.py <<'PY'
import torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(value)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {value.item()}")
PY
  everyone=$'rank 0 of 4: 10.0\nrank 1 of 4: 10.0\nrank 2 of 4: 10.0\nrank 3 of 4: 10.0'
  for launcher in ssh mpirun; do
    run -0 on_n1 timeout 120 "$HPCBOOT_BIN" run --hostfile hosts --launcher $launcher -- /usr/bin/python3 adds.py
    [[ $(grep '^rank' <<<"$output" | sort) == "$everyone" ]] || fail "$output"
  done
  batch_timeout=120 in_a_job -N2 --ntasks-per-node=2 -- -- /usr/bin/python3 "$PWD/adds.py"
  [[ $(grep '^rank' job.log | sort) == "$everyone" ]] || fail "$(cat job.log)"
}

# The last tests: hosts that are killed do not come back.
@test "ssh: a host that is killed is named, and the ranks of the others are ended" {
  start 4 --hostfile hosts --launcher ssh
  kill_host n2
  ended 44
  grep -q 'host n2 was lost: rank 2; ' out || fail "$(cat out)"
}

@test "mpirun: a host that is killed is named, and the ranks of the others are ended" {
  printf '%s\n' 'n1 slots=2' 'n3 slots=2' >hosts
  start 4 --hostfile hosts --launcher mpirun
  kill_host n3
  ended 44
  grep -q 'host n3 was lost' out || fail "$(cat out)"
}
