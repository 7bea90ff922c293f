#!/usr/bin/env bats
# `hpcboot run --requeue` in jobs of Slurm: which are queued again, how often, and as what.
# shellcheck disable=SC2016,SC2154 # ranks expand their scripts; run sets output

load helper

setup_file() {
  start_for_show -n 3
}

teardown_file() {
  "$CLUSTER" down
}

setup() {
  enter_shared_folder
}

teardown() {
  end_jobs
  "$CLUSTER" on n0 scancel --user tester
}

# submit OPTION… -- ARGUMENT…: `hpcboot run --requeue ARGUMENT…` in a batch script with two arguments, as job $id. Each
# attempt writes a line to attempts.TASK: job, restarts, what was granted, arguments.
submit() {
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  cat >job.sh <<'SH'
#!/bin/bash
export ATTEMPTS=attempts.${SLURM_ARRAY_TASK_ID:-0}
printf '%s ' "$SLURM_JOB_ID" "${SLURM_RESTART_COUNT:-0}" "$SLURM_JOB_NODELIST" "$SLURM_NTASKS" "$SLURM_GPUS_PER_NODE" \
  "$SLURM_MEM_PER_CPU" "$SLURM_JOB_NAME" "${SLURM_ARRAY_TASK_ID:-}" "<$1>" "<$2>" >>"$ATTEMPTS"
echo >>"$ATTEMPTS"
SH
  [[ ! -d bin ]] || echo "PATH=$PWD/bin:\$PATH" >>job.sh
  { printf '%q ' "$HPCBOOT_BIN" run --requeue "$@"; echo; } >>job.sh
  id=$(as_tester sbatch --parsable --output=out --open-mode=append --time=5 "${options[@]}" job.sh 'a  b' '')
}

# A program that asks to continue in another job, the first time.
once=(-- sh -c '[ "$(wc -l <"$ATTEMPTS")" -gt 1 ] || exit 46')

is_over() { [[ -z $(as_tester squeue --noheader --user tester) ]]; }

# Columns $1 of all attempts of task $2, one per line.
attempts() { cut -d' ' -f"$1" "attempts.${2:-0}"; }

shown() { fail "$(head attempts.*)" "$(cat out)"; }

# scontrol refuses to requeue a job, as configured on some sites.
refuse_in_place() {
  mkdir bin
  cat >bin/scontrol <<'SH'
#!/bin/sh
[ "$1" != requeue ] || { echo "Requested operation is presently disabled for job $2" >&2; exit 1; }
exec /usr/bin/scontrol "$@"
SH
  chmod +x bin/scontrol
}

@test "exit code 46 queues the job again in place, until it ends with another one" {
  submit -N2 --ntasks-per-node=2 -- "${once[@]}"
  await is_over
  [[ $(attempts 1,2) == "$id 0"$'\n'"$id 1" ]] || shown
}

@test "a rank that saves longer than another is not ended by srun" {
  submit -N2 -- --launcher srun -- sh -c '[ "$(wc -l <"$ATTEMPTS")" -gt 1 ] || { [ "$RANK" = 0 ] || { sleep 4; : >saved; }; exit 46; }'
  await is_over
  [[ -e saved && $(attempts 1,2) == "$id 0"$'\n'"$id 1" ]] || shown
}

@test "a job that was submitted with --no-requeue, too" {
  submit -N2 --no-requeue -- "${once[@]}"
  await is_over
  [[ $(attempts 1,2) == "$id 0"$'\n'"$id 1" ]] || shown
}

@test "other exit codes do not" {
  submit -N2 -- -- sh -c 'exit 45'
  await is_over
  [[ $(attempts 1,2) == "$id 0" ]] || shown
}

@test "a task of an array is queued again alone" {
  submit -N1 --array=3-5 -- -- sh -c '[ "$SLURM_ARRAY_TASK_ID $(wc -l <"$ATTEMPTS")" != "4 1" ] || exit 46'
  await is_over
  [[ $(attempts 2 3) == 0 && $(attempts 2 4) == $'0\n1' && $(attempts 2 5) == 0 ]] || shown
}

# Slurm passes the variables of the calling task on to sbatch.
@test "a job that a task of an array has submitted is queued again itself, and the task is not" {
  cat >job.sh <<SH
#!/bin/bash
echo "\$SLURM_JOB_ID \${SLURM_RESTART_COUNT:-0}" >>attempts.0
$HPCBOOT_BIN run --requeue -n 1 -- sh -c '[ "\$(wc -l <attempts.0)" -gt 1 ] || exit 46'
SH
  cat >task.sh <<'SH'
#!/bin/bash
echo "$SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}" >>attempts.3
[[ -e inner ]] || { sbatch --parsable --output=out --open-mode=append --time=5 job.sh >inner.new && mv inner.new inner; }
until [[ $(wc -l <attempts.0) -gt 1 ]]; do sleep 0.1; done
SH
  as_tester sbatch --parsable --output=task.out -N1 --array=3 --time=2 task.sh
  await is_over
  inner=$(cat inner)
  [[ $(attempts 1,2) == "$inner 0"$'\n'"$inner 1" && $(wc -l <attempts.3) == 1 ]] || shown
}

@test "no more often than --retries has it" {
  submit -N1 -- --retries 1 -- sh -c 'exit 46'
  await is_over
  [[ $(attempts 2) == $'0\n1' ]] || shown
}

@test "a job that is cancelled is not queued again, whatever its program ends with" {
  submit -N2 -- -- sh -c 'trap "exit 46" TERM; : >is.$RANK; while :; do sleep 0.1; done'
  await test -e is.0
  await test -e is.1
  as_tester scancel "$id"
  await is_over
  [[ $(attempts 1,2) == "$id 0" ]] || shown
  [[ $(as_tester squeue --noheader --states=all --format=%T --jobs "$id") == CANCELLED ]]
}

@test "a program that is warned before the walltime goes on in the next attempt" {
  submit -N1 --time=1 -- --warn 50 -- sh -c '[ "$(wc -l <"$ATTEMPTS")" -gt 1 ] || { trap "exit 46" USR1; while :; do sleep 0.1; done; }'
  await is_over
  [[ $(attempts 1,2) == "$id 0"$'\n'"$id 1" ]] || shown
}

@test "where scontrol refuses, the job submits itself as it was granted, with its arguments" {
  refuse_in_place
  submit -N2 --ntasks-per-node=2 --gpus-per-node=h200:1 --mem-per-cpu=10 --exclude=n2 -J 'x EndTime=2000-01-01T00:00:00' \
    -- "${once[@]}"
  await is_over
  [[ $(wc -l <attempts.0) == 2 && $(attempts 1 | sort -u | wc -l) == 2 && $(attempts 2 | sort -u) == 0 ]] || shown
  [[ $(attempts 3- | sort -u) == "n[1,3] 4 h200:1 10 x EndTime=2000-01-01T00:00:00  <a  b> <> " ]] || shown
  grep -q 'sbatch, as ' out || shown
}

@test "where scontrol refuses, a task of an array submits itself alone" {
  refuse_in_place
  submit -N1 --array=3-4 -- -- sh -c '[ "$SLURM_ARRAY_TASK_ID $(wc -l <"$ATTEMPTS")" != "4 1" ] || exit 46'
  await is_over
  [[ $(wc -l <attempts.3) == 1 && $(wc -l <attempts.4) == 2 && $(attempts 1 4 | sort -u | wc -l) == 2 ]] || shown
}

# preempted GRACE: a job is preempted, and its program ends with 46.
preempted() {
  local conf=$HPCBOOT_CLUSTER_DIR/etc/slurm/slurm.conf
  cp "$conf" "$BATS_TEST_TMPDIR/slurm.conf"
  sed -i -e "s/^PartitionName=main .*/& PriorityTier=1 GraceTime=$1/" -e '$a PreemptType=preempt/partition_prio' \
    -e '$a PreemptMode=REQUEUE' -e '$a PartitionName=high Nodes=ALL PriorityTier=9 PreemptMode=OFF' "$conf"
  "$CLUSTER" on n0 scontrol reconfigure
  submit -N3 --exclusive -- -n 1 -- sh -c '[ "$(wc -l <"$ATTEMPTS")" -gt 1 ] || { trap "exit 46" TERM; : >is.$RANK; while :; do sleep 0.1; done; }'
  await test -e is.0
  as_tester sbatch --partition=high --output=/dev/null --wrap=true
  await is_over
  cat "$BATS_TEST_TMPDIR/slurm.conf" >"$conf"
  "$CLUSTER" on n0 scontrol reconfigure
  [[ $(attempts 1,2) == "$id 0"$'\n'"$id 1" ]] || shown
}

@test "a job that is preempted is queued again by Slurm, and not a second time" { preempted 0; }
# Slurm does not requeue a job that ends by itself.
@test "a job that is preempted and has time left is queued again" { preempted 20; }

# The last test: n2 does not come back.
@test "a job that has lost a host runs again without it, once" {
  submit -N2 -- --launcher srun -- sh -c '[ "$(wc -l <"$ATTEMPTS")" -gt 1 ] || { : >is.$RANK; while :; do sleep 0.1; done; }'
  await test -e is.0
  await test -e is.1
  [[ $(attempts 3) == 'n[1-2]' ]] || shown
  kill -KILL "$("$CLUSTER" status | awk '$1 == "n2" { print $3 }')"
  await is_over
  [[ $(attempts 1-3) == "$id 0 n[1-2]"$'\n'"$id 1 n[1,3]" ]] || shown
}
