#!/usr/bin/env bats
# A new user's workflow on a real Slurm: a copied hpcboot, a folder with one Python program, `site probe`,
# `run --submit`, `jobs`, `logs`, `cancel`. The partition `short` allows ten minutes and one node.
# shellcheck disable=SC2154,SC2317 # run sets output; functions are called by await

load helper

setup_file() {
  start_for_show --cores 8 --memory 16000 --gpus h100:4
  "$CLUSTER" on n0 scontrol create PartitionName=short Nodes=n1 MaxTime=10 MaxNodes=1 State=UP
  mkdir -m 755 "$HPCBOOT_CLUSTER_DIR/shared/bin"
  cp "$HPCBOOT_BIN" "$HPCBOOT_CLUSTER_DIR/shared/bin/hpcboot"
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
  cat > train.py << 'PY'
import os, signal, sys, time
rank, steps, code = os.environ["RANK"], int(sys.argv[1]), int(sys.argv[2])
# Not print(): the signal may arrive while the loop prints, and Python refuses the second one.
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, f"stopped {rank}\n".encode()), os._exit(0)))
for step in range(steps):
    print("rank", rank, "of", os.environ["WORLD_SIZE"], "step", step, flush=True)
    time.sleep(0.1)
sys.exit(code)
PY
}

teardown() {
  as_tester scancel --user=tester
}

hpcboot() {
  as_tester env XDG_STATE_HOME="$PWD/state" XDG_CONFIG_HOME="$PWD/config" "$HPCBOOT_CLUSTER_DIR/shared/bin/hpcboot" "$@"
}

state_is() { [[ $(hpcboot jobs --json "$1" | jq -r '.[0].state') == "$2" ]]; }

@test "a profile of this machine, a job, its output while it runs, its end" {
  as_tester mkdir -p config/hpcboot/sites
  hpcboot site probe > "$BATS_TEST_TMPDIR/mine.toml"
  as_tester cp /dev/stdin config/hpcboot/sites/mine.toml < "$BATS_TEST_TMPDIR/mine.toml"
  run --separate-stderr -0 hpcboot run --submit --nodes 2 --ranks-per-node 2 --time 00:10:00 -- python3 train.py 30 0
  id=$output
  [[ $id =~ ^[0-9]+$ ]]
  run --separate-stderr -0 hpcboot logs -f
  [[ $(grep -c '^rank [0-3] of 4 step 29$' <<< "$output") == 4 ]] || fail "$output" "$stderr"
  [[ $stderr == *"job $id has ended: completed, exit code 0"* ]]
  run -0 hpcboot jobs
  [[ $output == "JOB "*$'\n'"$id "*"train.py  completed"* ]] || fail "$output"
  run -0 hpcboot jobs "$id"
  [[ $output == *"from       $PWD"*"by         hpcboot run "*"-- python3 train.py 30 0"*"output     $PWD/train.py-$id.out"* ]] ||
    fail "$output"
  run -0 hpcboot logs -n 1 "$id"
  [[ ${#lines[@]} == 1 && $output == *"step 29" ]] || fail "$output"
  [[ $(stat -c %a state/hpcboot/submitted state/hpcboot/submitted/*) == $'700\n600' ]]
}

@test "without a profile the scheduler is asked; --wait ends with the program's exit code, --follow shows its output" {
  run --separate-stderr -7 hpcboot run --submit -n 2 --time 00:05:00 --wait -- python3 train.py 1 7
  [[ $output =~ ^[0-9]+$ && $stderr == *"no --site: using what slurm reports"*"has ended: failed, exit code 7"* ]] || fail "$stderr"
  run -0 hpcboot jobs
  [[ $output == *"failed 7"* ]]
  run --separate-stderr -9 hpcboot run --submit -n 2 --time 00:05:00 --follow -- python3 train.py 2 9
  [[ $(sort <<< "$output" | grep '^rank') == $'rank 0 of 2 step 0\nrank 0 of 2 step 1\nrank 1 of 2 step 0\nrank 1 of 2 step 1' ]] ||
    fail "$output"
}

@test "a job that could never start is not submitted, and one that never starts is reported" {
  run --separate-stderr -20 hpcboot run --submit --nodes 2 --set queue.name=short -- python3 train.py 1 0
  [[ $stderr == *"a walltime of 01:00:00"*"at most 00:10:00 (scontrol show partition short)"*"2 nodes"*"at most 1"* ]] || fail "$stderr"
  run --separate-stderr -20 hpcboot run --submit --set node.cores=64 -- python3 train.py 1 0
  [[ $stderr == *"sbatch says:"* ]] || fail "$stderr"
  run --separate-stderr -20 hpcboot run --submit --set queue.options=--partiton=main -- python3 train.py 1 0
  [[ $stderr == *"--partition"* ]] || fail "$stderr"
  [[ -z $("$CLUSTER" on n0 squeue --noheader) ]]
  run --separate-stderr -0 hpcboot run --submit --no-check --set queue.name=short --time 01:00:00 -- python3 train.py 1 0
  id=$output
  is_told() { run --separate-stderr hpcboot jobs && [[ $stderr == *"job $id will never start: PartitionTimeLimit"* ]]; }
  await is_told || fail "$output" "$stderr"
  run -0 hpcboot jobs "$id"
  [[ $output == *"state      pending: PartitionTimeLimit, it will never start: "* ]]
  run --separate-stderr -27 hpcboot logs "$id"
  [[ $stderr == *"no output yet: it is pending: PartitionTimeLimit"* ]]
  run -0 hpcboot cancel "$id"
  await state_is "$id" cancelled
}

@test "cancel ends the ranks, and knows what it cannot end" {
  run --separate-stderr -0 hpcboot run --submit -n 2 --time 00:05:00 --name slow -- python3 train.py 3000 0
  id=$output
  has_begun() { grep -q 'rank 1 of 2 step 3' "slow-$id.out"; }
  await has_begun
  run -0 hpcboot jobs
  [[ $output == *"$id "*"slow "*"running "*" of 5m "*n[12]* ]] || fail "$output"
  run --separate-stderr -1 hpcboot cancel "$id" 4711
  [[ $output == "job $id is cancelled" && $stderr == *"job 4711 is unknown"* ]] || fail "$output" "$stderr"
  await state_is "$id" cancelled
  [[ $(grep -c '^stopped' "slow-$id.out") == 2 ]] || fail "$(cat "slow-$id.out")"
  run --separate-stderr -0 hpcboot cancel "$id"
  [[ $stderr == *"has ended: cancelled"* ]]
}

@test "a program of a virtual environment is that one, and --env hands on by name" {
  mkdir -p venv/bin
  printf '#!/bin/sh\necho "the one of venv, $TOKEN"\n' > venv/bin/python3
  chmod -R a+rx venv
  run --separate-stderr -0 hpcboot run --submit --dry-run --env PATH -- python3 train.py
  [[ $output == *" run --env PATH -- /usr/bin/python3 train.py"* ]] || fail "$output"
  run --separate-stderr -0 as_tester env PATH="$PWD/venv/bin:$PATH" TOKEN=abc XDG_STATE_HOME="$PWD/state" \
    "$HPCBOOT_CLUSTER_DIR/shared/bin/hpcboot" run --submit -n 1 --time 00:05:00 --follow --env TOKEN -- python3 train.py
  [[ $output == "the one of venv, abc" ]] || fail "$output" "$stderr"
  run -1 grep -r abc state
  run --separate-stderr -2 hpcboot run --submit --env ABSENT -- python3 train.py
}

@test "a job of a script not written by hpcboot: listed, its output found" {
  printf '#!/bin/sh\necho "its output $1"\nsleep 1000\n' > plain.sh
  id=$(as_tester sbatch --parsable --output="$PWD/a b.txt" --job-name='a|b' plain.sh 5)
  is_there() { run hpcboot logs "$id" && [[ $output == "its output 5" ]]; }
  await is_there || fail "$output"
  run -0 hpcboot jobs
  [[ $output == *"a|b "*running* ]]
}

@test "a task of an array" {
  printf '#!/bin/sh\necho "task $SLURM_ARRAY_TASK_ID"\nsleep 1000\n' > plain.sh
  id=$(as_tester sbatch --parsable --array=1-2 --output="$PWD/%A-%a.txt" plain.sh)
  is_there() { run hpcboot logs "${id}_2" && [[ $output == "task 2" ]]; }
  await is_there || fail "$output"
  run -0 hpcboot cancel "${id}_2"
  await state_is "${id}_2" cancelled
  state_is "${id}_1" running
}

@test "an array ends as the first task that failed, and has the output of all" {
  printf '#!/bin/sh\necho "task $SLURM_ARRAY_TASK_ID"\n[ $SLURM_ARRAY_TASK_ID = 3 ] || exit 9\n' > plain.sh
  id=$(as_tester sbatch --parsable --array=3-4 --output="$PWD/%A-%a.txt" plain.sh)
  await state_is "$id" failed
  run --separate-stderr -9 hpcboot logs -f "$id"
  [[ $(grep ^task <<< "$output" | sort) == $'task 3\ntask 4' && $stderr == *"failed, exit code 9"* ]] || fail "$output" "$stderr"
}

@test "the name of a job is a name, whatever it looks like" {
  name=$'a\nb UserId=x JobState=COMPLETED ExitCode=0:0 StdOut=/etc/hostname Power=\n1|fake'
  id=$(as_tester sbatch --parsable --output="$PWD/out.txt" --job-name="$name" --wrap 'echo mine; sleep 2; exit 5')
  run --separate-stderr -5 hpcboot logs -f "$id"
  [[ $output == mine && $stderr == *"failed, exit code 5"* ]] || fail "$output" "$stderr"
  run -0 hpcboot jobs
  [[ $output != *$'\n1 '* ]] || fail "$output"
  run -2 hpcboot cancel main
  run -1 hpcboot cancel 0
}

@test "settings for sbatch, and an allocation around it, do not change the job" {
  run --separate-stderr -0 as_tester env SBATCH_TIMELIMIT=3 SBATCH_JOB_NAME=other SLURM_MEM_PER_CPU=100 SLURM_NTASKS=7 \
    XDG_STATE_HOME="$PWD/state" "$HPCBOOT_CLUSTER_DIR/shared/bin/hpcboot" run --submit --nodes 2 --ranks-per-node 2 \
    --time 00:05:00 --name mine --follow -- sh -c 'echo $RANK of $WORLD_SIZE'
  [[ $(grep -c ' of 4$' <<< "$output") == 4 && -e $(echo mine-*.out) ]] || fail "$output" "$stderr"
}

@test "a scaling study as jobs: one for each number of ranks and run" {
  run --separate-stderr -0 hpcboot run --study strong --ranks 1,2 --repeat 2 --submit --time 00:05:00 -- python3 train.py 1 0
  [[ $(wc -l <<<"$output") == 4 && $stderr == *"study: 2 ranks, run 2 of 2"* ]] || fail "$output" "$stderr"
  for id in $output; do await state_is "$id" completed; done
  [[ $(cat train.py-*.out | grep -c '^rank 0 of 1 step 0$') == 2 ]] || fail "$(cat train.py-*.out)"
  [[ $(cat train.py-*.out | grep -c '^rank [01] of 2 step 0$') == 4 ]] || fail "$(cat train.py-*.out)"
}
