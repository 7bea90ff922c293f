#!/usr/bin/env bats
# The trainer under `hpcboot run --requeue` in jobs of Slurm on two hosts: how much work is lost at the end of the
# walltime, by scancel, and with a lost host.
# shellcheck disable=SC2154 # run sets output

load helper

setup_file() {
  export TRAINER=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/trainer")}
  [[ -x $TRAINER ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 3 --bind "$(dirname "$TRAINER")"
  keep_lost_hosts_in_slurm 60
  as_tester "$TRAINER" digits "$HPCBOOT_CLUSTER_DIR/shared/data" --train 256 --test 16
}

teardown_file() {
  "$CLUSTER" down
}

# submit TIME WARNING: submits a training that would take hours, as job $id, with a checkpoint every 20 steps.
submit() {
  enter_shared_folder
  cat >job.sh <<SH
#!/bin/bash
echo \$SLURM_JOB_NODELIST >>attempts
exec $(dirname "$TRAINER")/hpcboot run --requeue --warn $2 -- $TRAINER --mode ddp --model mnistnet --image-size 28 --batch-size 8 \
  --threads 1 --epochs 100000 --data ../data --runs-dir runs --resume auto --checkpoint-every 20s --keep-checkpoints 2
SH
  id=$(as_tester sbatch --parsable --output=out --open-mode=append -N2 -n2 --time="$1" job.sh)
}

said() { grep -q "$1" out; }
is_over() { [[ -z $("$CLUSTER" on n0 squeue --noheader --job="$id" 2>/dev/null) ]]; }

# The first number after "step " in the first line that contains $1.
step_in() { grep -m1 "$1" out | sed 's/.*after step \([0-9]*\).*/\1/'; }

# record KEY…: of the only run.
record() {
  python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[int(key) if key.isdigit() else key]
print(value)' runs/*/run.json "$@"
}

@test "the end of the walltime: nothing is lost" {
  submit 2 95
  await said '^stopped (signal USR1)' || fail "$(cat out)"
  await said '^resumed from'
  [[ $(step_in '^stopped (signal USR1)') -gt 0 ]]
  [[ $(step_in '^stopped (signal USR1)') == "$(step_in '^resumed from')" ]] || fail "$(cat out)"
  as_tester scancel "$id"
  await is_over
  [[ $(record resumed 0 steps_again) == 0 ]]
  [[ $(wc -l <attempts) == 2 ]]
}

@test "scancel: nothing is lost, and the job stays away" {
  submit 10 60
  await said '^first step done'
  as_tester scancel "$id"
  await is_over
  said '^stopped (signal TERM) after step' || fail "$(cat out)"
  [[ $(record exit_reason) == 'signal TERM' ]]
  [[ $(wc -l <attempts) == 1 ]]
}

# This must be the last test: n2 does not come back.
@test "a host dies: the job goes on without it, from the last checkpoint" {
  submit 10 60
  await compgen -G 'runs/*/checkpoints/epoch_*'
  kill_host n2
  # Slurm starts a requeued job once the lost host is down, which takes it a minute, or longer on a busy machine.
  AWAIT_SECONDS=180 await said '^resumed from' ||
    fail "$(slurm_state)" "$(cat out)"
  [[ $(cat attempts) == $'n[1-2]\nn[1,3]' ]] || fail "$(cat attempts out)"
  as_tester scancel "$id"
  await is_over
  lost=$(record resumed 0 steps_again)
  echo "# $lost steps are done again" >&3
  # metrics.csv lags by up to a second.
  [[ $lost -le 40 ]] || fail "$lost steps are lost" "$(cat out)"
}
