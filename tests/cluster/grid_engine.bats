#!/usr/bin/env bats
# `hpcboot run` in jobs of a real Grid Engine, with agents over `qrsh -inherit` and with Open MPI's mpirun. Every job
# has two slots on n1, where its script runs, and one on n2.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # ranks expand their scripts; run sets output in the test's own shell

load helper

setup_file() {
  local packages part
  packages=$(realpath "$BATS_TEST_DIRNAME/../..")/.deps/launchers/gridengine
  [[ -d $packages ]] || skip "no Grid Engine: tests/cluster/get-launchers gridengine"
  start_for_show
  export GRID_ENGINE=$HPCBOOT_CLUSTER_DIR/shared/gridengine
  for part in n0:install n1:install n2:install n0:master n1:exec n2:exec; do
    "$CLUSTER" on "${part%:*}" "$BATS_TEST_DIRNAME/lib/grid_engine.sh" "${part#*:}" "$packages" "$GRID_ENGINE"
  done
  await are_up || fail "$(engine qstat -f)"
}

# Both hosts have reported their load.
are_up() {
  [[ $(engine qstat -f | grep -c '^all.q@n[12] .* lx-amd64 *$') == 2 ]]
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
  here=$PWD
  mkdir -m 1777 qrsh mpirun
  cat >waits.py <<'PY'
"""Writes who it is, and which signals it gets. Ends with CODE once it has got one of WANTED."""
import os, signal, socket, sys, time
rank, got = os.environ["RANK"], []

def write(name, *words):
    with open("part." + rank, "w") as file:
        print(*words, file=file)
    os.rename("part." + rank, name + "." + rank)

for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2"):
    signal.signal(getattr(signal, name), lambda number, _: got.append(signal.Signals(number).name))
print("waiting", rank, flush=True)
write("got")
write("is", socket.gethostname(), os.getpid())
while not set(sys.argv[1].split(",")) & set(got):
    time.sleep(0.02)
    write("got", *got)
time.sleep(0.3)  # time for a second signal to arrive
write("got", *got)
sys.exit(int(sys.argv[2]))
PY
}

teardown() {
  engine qdel -u tester >/dev/null || true
}

engine() {
  as_tester bash -c '. "$0/env.sh" && exec "$@"' "$GRID_ENGINE" "$@"
}

# each COMMAND…: runs it in the folder of each launcher ($launcher), so that the jobs of both run at the same time.
each() {
  for launcher in qrsh mpirun; do
    cd "$here/$launcher" || return
    "$@" || return
  done
}

# submit OPTION… -- ARGUMENT…: submits a script that ends with `hpcboot run ARGUMENT…`. The job number goes to `id`, its
# output to `out`, and every attempt writes a line to attempts.TASK.
submit() {
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  printf '#!/bin/bash\necho $JOB_ID >>attempts.$SGE_TASK_ID\necho $$ >run.pid\nexec %s run "$@"\n' "$HPCBOOT_BIN" >job.sh
  engine qsub -terse -cwd -S /bin/bash -j y -o "$PWD/out" -pe robin "${slots:-3}" "${options[@]}" job.sh --launcher "$launcher" "$@" |
    cut -d. -f1 >id
  [[ -s id ]] || fail "no job was submitted"
}

are_there() {
  local rank
  for rank in 0 1 2; do await test -e "is.$rank" || return; done
}

# start OPTION… -- ARGUMENT…: submits a job for each launcher, and waits until three ranks of each are running.
start() {
  each submit "$@"
  each are_there
}

pid_of() { cut -d' ' -f2 "is.$1"; }

# nobody_left: no process of this test's programs runs on any host.
nobody_left() {
  local host
  for host in n1 n2; do
    ! "$CLUSTER" on "$host" ps -eo stat,args | grep -v '^Z' | grep -F "$here/waits.py" >left || return 1
  done
}

# The exit code of each attempt, from the accounting of Grid Engine.
codes() { engine qacct -j "$(cat id)" | awk '$1 == "exit_status" { printf "%s%s", separator, $2; separator = " " }'; }

is_known() { engine qstat -j "$(cat id)" >/dev/null 2>&1; }
is_gone() { ! is_known; }

# A task that is queued again may reach its host before the qmaster's answer to the end of its last attempt. The host
# then ignores it, and the qmaster sends it again only after 5 minutes.
await_job() {
  AWAIT_SECONDS=400 await is_gone ||
    fail "$(engine qstat -f -u '*')" "$(head attempts*)" "$(tail "$GRID_ENGINE/qmaster/messages")"
}

# ended CODE…: the job has ended, with one attempt per exit code, and has left no processes.
ended() {
  await_job || return
  await engine qacct -j "$(cat id)" >/dev/null || return
  [[ $(codes) == "$*" ]] || fail "exit codes $(codes)" "$(cat out)" || return
  await nobody_left || fail "$(cat left)"
}

deleted() { engine qdel "$(cat id)" >/dev/null; }

@test "ranks on the slots of PE_HOSTFILE, and check" {
  each submit -- -- sh -c 'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE $(hostname); exec $0 check' "$HPCBOOT_BIN"
  is_right() {
    ended 0
    [[ $(grep '^[0-9]' out | sort) == $'0 3 0 2 0 2 n1\n1 3 1 2 0 2 n1\n2 3 0 1 1 2 n2' ]] || fail "$(cat out)" || return
    [[ $(cat out) == *"authenticated by a secret that hpcboot run handed over"*"ok: 3 ranks"* ]] || fail "$(cat out)"
  }
  each is_right
}

@test "a rank that fails is named last, the others are ended, and its exit code is the job's" {
  start -- -- python3 "$here/waits.py" SIGUSR2,SIGTERM 7
  fails() { "$CLUSTER" on n2 kill -USR2 "$(pid_of 2)"; }
  each fails
  is_named() {
    ended 7
    [[ $(tail -n 2 out) == "hpcboot run: rank 2 of 3 on n2 (pid $(pid_of 2)) failed first: exit code 7; last lines:"$'\n'"  waiting 2" ]] ||
      fail "$(cat out)"
  }
  each is_named
}

@test "qdel: ranks that heed no signal are gone before long" {
  start -- --requeue -- python3 "$here/waits.py" never 0
  each deleted
  each ended 137
  cd "$here" || return
  # Grid Engine kills process after process. What has lost its parent meanwhile tells its rank to end, at most once.
  local got
  for got in qrsh/got.* mpirun/got.*; do
    [[ $(cat "$got") =~ ^(SIGTERM)?$ ]] || fail "$got: $(cat "$got")"
  done
}

# On each host, both Grid Engine and the rank's parent deliver the signal.
@test "qdel -notify: every rank is told SIGUSR2, and what stops then is not queued again" {
  start -notify -- --requeue -- python3 "$here/waits.py" SIGUSR2 46
  each deleted
  are_told() {
    ended 46
    [[ $(cut -d' ' -f1 got.* | uniq -c | tr -s ' ') == ' 3 SIGUSR2' ]] || fail "$(head got.*)" || return
    grep -q 'the scheduler is ending the job' out || fail "$(cat out)"
  }
  each are_told
}

@test "kill -9 of run leaves nobody on any host" {
  start -- --requeue -- python3 "$here/waits.py" never 0
  run_is_killed() { "$CLUSTER" on n1 kill -9 "$(cat run.pid)"; }
  each run_is_killed
  each ended 137
}

@test "--requeue: every rank is warned once before the walltime, and the job goes on under its number" {
  start -l h_rt=14 -- --requeue --warn 8 -- sh -c '[ $(wc -l <attempts.undefined) = 1 ] || exit 0; exec python3 "$0" SIGUSR1 46' "$here/waits.py"
  goes_on() {
    ended 99 0
    # The first rank that exits with 46 stops the others.
    [[ $(sed 's/ SIGTERM$//' got.*) == $'SIGUSR1\nSIGUSR1\nSIGUSR1' ]] || fail "$(head got.*)" "$(cat out)" || return
    [[ $(uniq -c attempts.undefined | tr -s ' ') == " 2 $(cat id)" ]] || fail "$(cat attempts.*)"
  }
  each goes_on
}

# The following tests do not depend on the launcher.

@test "--requeue: a task of an array is queued again alone" {
  launcher=local slots=1 submit -t 2-4:2 -- --requeue -- sh -c '[ "$SGE_TASK_ID $(wc -l <attempts.$SGE_TASK_ID)" != "4 1" ] || exit 46'
  await_job
  [[ $(codes | tr ' ' '\n' | sort -n) == $'0\n0\n99' ]] || fail "exit codes $(codes)" "$(cat out)"
  [[ $(uniq -c attempts.2 | tr -s ' ') == " 1 $(cat id)" && $(uniq -c attempts.4 | tr -s ' ') == " 2 $(cat id)" ]] ||
    fail "$(head attempts.*)"
}

@test "--requeue: a walltime that is not longer than the warning" {
  launcher=qrsh submit -l h_rt=60 -- --requeue --warn 60 -- sh -c 'exit 46'
  ended 46
  grep -q '^note: the walltime of 60 s is not longer than the warning time of 60 s: no warning is sent' out || fail "$(cat out)"
  grep -q 'every attempt would end at once, so the job is not queued again' out || fail "$(cat out)"
}

@test "every job of generic_sge, submitted as it is" {
  local trainer job more='--comment a,b' site=generic_sge # commas separate the variables of qsub -v
  local -A id
  trainer=$(dirname "$HPCBOOT_BIN")/trainer
  [[ -x $trainer ]] || skip "the trainer is not built"
  as_tester "$trainer" digits "$PWD/data/mnist" --train 64 --test 16
  mkdir build
  ln -s "$(dirname "$HPCBOOT_BIN")" build/bin
  ln -s "$(realpath "$BATS_TEST_DIRNAME/../../jobscripts")" jobscripts
  for job in single dp ddp multinode_mpirun compare array; do
    id[$job]=$(engine env RANKS_PER_NODE=2 \
      TRAINER_ARGS="--model mnistnet --image-size 28 --batch-size 32 --threads 1 --start-up-timeout 60 $more" \
      qsub -terse -v TRAINER_ARGS,RANKS_PER_NODE "jobscripts/${site}_$job.sh")
    more=
  done
  for ((i = 0; i < 400; ++i)); do
    [[ -n $(engine qstat) ]] || break
    sleep 0.5
  done
  recorded "${id[single]}" $site single 1 1 hpcboot || fail "$(cat ./*.o*)"
  recorded "${id[dp]}" $site dp 1 2 hpcboot || fail "$(cat ./*.o*)"
  recorded "${id[ddp]}" $site ddp 1 2 hpcboot || fail "$(cat ./*.o*)"
  recorded "${id[multinode_mpirun]}" $site ddp 2 2 openmpi || fail "$(cat ./*.o*)"
  recorded "${id[compare]}" $site ddp 2 2 openmpi || fail "$(cat ./*.o*)"
  grep -E '^ +2 +2 +DDP +mnistnet +openmpi +'$site hpcboot_compare.o"${id[compare]}" || fail "$(cat ./*.o*)"
  swept $site || fail "$(cat ./*.o*)"
  grep -q '"comment": "a,b"' runs/*/run.json
}

@test "hpcboot site probe describes this Grid Engine, and a script of that starts a program on both hosts" {
  engine "$HPCBOOT_BIN" site probe --scheduler sge >probed.toml
  grep -x 'gpus = 4' probed.toml
  grep -E '^parallel_environment = "(fill|mpi|robin)"' probed.toml
  grep -E '^parallel_environment_of_one_host = "(one|smp)"' probed.toml
  sed -i 's/^parallel_environment = .*/parallel_environment = "mpi"/' probed.toml
  printf '#!/bin/sh\necho "$RANK of $WORLD_SIZE on $(hostname)" >rank.$RANK\n' >program.sh
  chmod +x program.sh
  as_tester "$HPCBOOT_BIN" script --site-file probed.toml --set node.cores=4 --job multinode_mpirun --program ./program.sh -o job.sh
  engine qsub -terse job.sh
  await test -e rank.7 || fail "$(cat ./*.o*)"
  for rank in 0 1 2 3; do await grep -qx "$rank of 8 on n1" rank.$rank; done
  for rank in 4 5 6 7; do await grep -qx "$rank of 8 on n2" rank.$rank; done
}

hpcboot() {
  as_tester bash -c '. "$0/env.sh" && exec env XDG_STATE_HOME="$1/state" XDG_CONFIG_HOME="$1/config" "${@:2}"' "$GRID_ENGINE" "$PWD" \
    "$HPCBOOT_BIN" "$@"
}

@test "site probe, run --submit, jobs, logs and cancel" {
  cat >train.py <<'PY'
import glob, os, sys, time
for step in range(int(sys.argv[1])):
    print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "step", step, flush=True)
    time.sleep(0.1)
open("done." + os.environ["RANK"], "w").close()
while len(glob.glob("done.*")) < int(os.environ["WORLD_SIZE"]):  # the first to fail ends the others
    time.sleep(0.1)
sys.exit(int(sys.argv[2]))
PY
  mkdir -p config/hpcboot/sites state
  chmod -R 1777 state
  # n0 also has Slurm.
  hpcboot site probe --scheduler sge >config/hpcboot/sites/mine.toml
  run --separate-stderr -7 hpcboot run --submit --nodes 2 -n 4 --gpus-per-node 2 --time 00:05:00 --follow -- python3 train.py 2 7
  [[ $(grep -c '^rank [0-3] of 4 step 1$' <<<"$output") == 4 && $stderr == *'has ended: failed, exit code 7'* ]] ||
    fail "$output" "$stderr"
  run --separate-stderr -20 hpcboot run --submit --nodes 2 -n 4 --set queue.parallel_environment=absent -- python3 train.py 1 0
  [[ $stderr == *'qsub says: '*absent* ]] || fail "$stderr"
  # More GPUs than exist: qsub would accept the job, and it would wait forever.
  run --separate-stderr -20 hpcboot run --submit --nodes 3 -n 6 --gpus-per-node 4 -- python3 train.py 1 0
  [[ $stderr == *'qsub says: '* ]] || fail "$stderr"
  run --separate-stderr -0 hpcboot run --submit -n 2 --time 00:05:00 --name slow -- python3 train.py 3000 0
  number=$output
  has_begun() { run -0 hpcboot logs -n 1 "$number" && [[ $output == 'rank '* ]]; }
  await has_begun || fail "$output"
  run -0 hpcboot jobs --scheduler sge
  [[ $output == *"$number "*"slow "*running*n[12]*train.py*'failed 7'* ]] || fail "$output"
  run --separate-stderr -1 hpcboot cancel "$number" 4711
  [[ $output == "job $number is cancelled" && $stderr == *'job 4711 is unknown'* ]] || fail "$output" "$stderr"
  is_over() { run -0 hpcboot jobs "$number" && [[ $output == *'state      killed, exit code 137'* ]]; }
  await is_over || fail "$output"
}
