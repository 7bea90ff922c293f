#!/usr/bin/env bats
# The job scripts of jobscripts/, submitted unchanged to a Slurm whose hosts have the sites' cores, memory and GPU
# types; PBS scripts go through Debian's qsub, which submits them to the same Slurm, so that srun starts their ranks.
# Every host has an unroutable docker0, and its own name resolves to 127.0.1.1.

load helper

setup_file() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/trainer")}
  [[ -x $HPCBOOT_BIN ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 3 --cores 64 --memory 512000 --gpus h100:4,l40s:4 --spank-pbs --decoy-docker0 --loopback-name \
    --bind "$(dirname "$HPCBOOT_BIN")"
  keep_lost_hosts_in_slurm 300 # Slurm's default
  as_tester "$HPCBOOT_BIN" digits "$HPCBOOT_CLUSTER_DIR/shared/data" --train 64 --test 16
}

teardown_file() {
  "$CLUSTER" down
}

# The submission folder, with user settings for a small training.
setup() {
  enter_shared_folder
  ln -s "$(realpath "$BATS_TEST_DIRNAME/../../jobscripts")" jobscripts
  mkdir -p build data
  ln -s "$(dirname "$HPCBOOT_BIN")" build/bin
  ln -s ../../data data/mnist
  chmod 1777 .
  user_settings=(TRAINER_ARGS="--model mnistnet --image-size 28 --batch-size 32 --threads 1 --start-up-timeout 60")
  # A real PBS provides a nodefile; Debian's qsub does not.
  cat > nodefile.sh << SH
if [ -n "\${PBS_JOBID:-}" ] && [ -z "\${PBS_NODEFILE:-}" ]; then
  export PBS_NODEFILE=$PWD/nodefile.\$PBS_JOBID
  for host in \$(scontrol show hostnames "\$SLURM_JOB_NODELIST"); do
    for ((i = 0; i < 4; ++i)); do echo "\$host"; done
  done >"\$PBS_NODEFILE"
fi
SH
}

# submit SLURM_OPTION… SCRIPT [OPTION…]: prints the job's id.
submit() {
  as_tester env "${user_settings[@]}" sbatch --parsable "$@"
}

qsubmit() {
  as_tester env "${user_settings[@]}" RANKS_PER_NODE=2 BASH_ENV="$PWD/nodefile.sh" qsub -o "$PWD/pbs-%j.out" "$@"
}

state_of() {
  "$CLUSTER" on n0 squeue --noheader --states=all --format=%T --job="$1" | sort -u | tr '\n' ' '
}

# ended STATE JOB…: waits until every job has ended, each as STATE.
ended() {
  local wanted=$1 job state end=$((SECONDS + 240))
  shift
  for job in "$@"; do
    while state=$(state_of "$job"); [[ $state == *@(PENDING|CONFIGURING|RUNNING|COMPLETING)* ]]; do
      ((SECONDS < end)) || fail "job $job is still $state" "$(cat ./*.out)" "$(slurm_state)" || return
      sleep 0.3
    done
    [[ $state == "$wanted " ]] || fail "job $job: $state" "$(cat ./*"$job"*.out)" "$(slurm_state)" || return
  done
}

# A Slurm site: submits every job of it, and checks their run records.
every_slurm_job() {
  local site=$1 single dp ddp srun mpirun compare array task
  ddp=$(submit "jobscripts/${site}_ddp.sh")
  single=$(submit "jobscripts/${site}_single.sh")
  dp=$(submit "jobscripts/${site}_dp.sh")
  srun=$(submit --ntasks-per-node=2 "jobscripts/${site}_multinode_srun.sh")
  mpirun=$(submit --ntasks-per-node=2 "jobscripts/${site}_multinode_mpirun.sh")
  compare=$(submit --ntasks-per-node=2 "jobscripts/${site}_compare.sh")
  array=$(submit "jobscripts/${site}_array.sh")
  ended COMPLETED "$ddp" "$single" "$dp" "$srun" "$mpirun" "$compare" "$array"
  recorded "$ddp" "$site" ddp 1 4 slurm
  recorded "$single" "$site" single 1 1 slurm
  recorded "$dp" "$site" dp 1 2 slurm
  recorded "$srun" "$site" ddp 2 2 slurm
  recorded "$mpirun" "$site" ddp 2 2 openmpi
  recorded "$compare" "$site" single 1 1 slurm
  recorded "$compare" "$site" ddp 1 2 slurm
  recorded "$compare" "$site" ddp 2 2 slurm
  recorded "$compare" "$site" ddp 2 2 openmpi
  grep -E '^ +2 +2 +DDP +mnistnet +openmpi +'"$site" "hpcboot_compare-$compare.out"
  for task in 0 1 2; do grep -q '^epoch 1/1' "hpcboot_array-${array}_$task.out"; done
  swept "$site"
}

# The same for a PBS site.
every_pbs_job() {
  local site=$1 single dp ddp mpirun compare array
  [[ -x /usr/bin/qsub ]] || skip "slurm-wlm-torque is not installed"
  ddp=$(qsubmit "jobscripts/${site}_ddp.sh")
  single=$(qsubmit "jobscripts/${site}_single.sh")
  dp=$(qsubmit "jobscripts/${site}_dp.sh")
  mpirun=$(qsubmit "jobscripts/${site}_multinode_mpirun.sh")
  compare=$(qsubmit "jobscripts/${site}_compare.sh")
  array=$(qsubmit "jobscripts/${site}_array.sh")
  ended COMPLETED "$ddp" "$single" "$dp" "$mpirun" "$compare" "$array"
  recorded "$ddp" "$site" ddp 1 2 slurm
  recorded "$single" "$site" single 1 1 slurm
  recorded "$dp" "$site" dp 1 2 slurm
  recorded "$mpirun" "$site" ddp 2 2 openmpi
  recorded "$compare" "$site" ddp 2 2 openmpi
  grep -E '^ +2 +2 +DDP +mnistnet +openmpi +'"$site" "pbs-$compare.out"
  swept "$site"
}

@test "sbatch: every job of cc" { every_slurm_job cc; }
@test "sbatch: every job of vector" { every_slurm_job vector; }
@test "qsub: every job of sockeye" { every_pbs_job sockeye; }
@test "qsub: every job of generic_pbs" { every_pbs_job generic_pbs; }

@test "hpcboot script --check and --submit" {
  run -0 as_tester "$(dirname "$HPCBOOT_BIN")/hpcboot" script --site cc --job multinode_srun --check
  [[ $output == *"to start at"* ]]
  run ! as_tester "$(dirname "$HPCBOOT_BIN")/hpcboot" script --site cc --job multinode_srun --set queue.name=absent --check
  run -0 as_tester env "${user_settings[@]}" "$(dirname "$HPCBOOT_BIN")/hpcboot" script --site generic_slurm --job single \
    --set node.gpu_type=h100 --submit
  id=$output
  ended COMPLETED "$id"
  recorded "$id" generic_slurm single 1 1 slurm
  # The state, the output file, and the run folder.
  run -0 as_tester "$(dirname "$HPCBOOT_BIN")/hpcboot" jobs "$id"
  [[ $output == *"state      completed, exit code 0"*"output     $PWD/hpcboot_single-$id.out"*"run        $PWD/runs/"*"$id"* ]] ||
    fail "$output"
}

@test "hpcboot site probe describes this Slurm, and a script of that trains" {
  local hpcboot
  hpcboot=$(dirname "$HPCBOOT_BIN")/hpcboot
  as_tester "$hpcboot" site probe > probed.toml
  grep -x 'cores = 64' probed.toml
  grep -x 'gpu_type = "h100"' probed.toml
  as_tester "$hpcboot" script --site-file probed.toml --job ddp --gpus-per-node 2 -o probed.sh
  job=$(submit probed.sh)
  ended COMPLETED "$job"
  recorded "$job" probed ddp 1 2 slurm
}

@test "mpirun and Hydra by hostfile over ssh, in spite of docker0 and 127.0.1.1" {
  printf '%s slots=2\n' n1 n2 > hosts.txt
  printf '%s:2\n' n1 n2 > hosts.hydra
  # shellcheck disable=SC2086 # words
  as_tester timeout 100 mpirun.openmpi --hostfile hosts.txt build/bin/trainer --mode ddp ${user_settings[0]#*=}
  # shellcheck disable=SC2086
  as_tester timeout 100 mpiexec.hydra -f hosts.hydra build/bin/trainer --mode ddp ${user_settings[0]#*=}
  python3 - << 'PY'
import glob, json
runs = [json.load(open(f)) for f in glob.glob("runs/*/run.json")]
assert sorted(r["launcher"] for r in runs) == ["hydra", "openmpi"], runs
for run in runs:
    assert (run["exit_reason"], run["nodes"], run["devices_per_node"]) == ("finished", 2, 2), run
    assert [(r["rank"], r["host"]) for r in run["ranks"]] == [(0, "n1"), (1, "n1"), (2, "n2"), (3, "n2")], run["ranks"]
PY
}

# running JOB: waits until the job's training has started.
running() {
  local end=$((SECONDS + 120))
  until grep -qs '"exit_reason": "running"' runs/*/run.json; do
    ((SECONDS < end)) || fail "job $1 does not train: $(state_of "$1")" "$(cat ./*.out)" || return
    sleep 0.2
  done
}

long_training() {
  user_settings=(TRAINER_ARGS="--model mnistnet --image-size 28 --batch-size 8 --threads 1 --epochs 100000")
}

@test "a rank is killed: the job ends soon and fails, and the trainer says who has left" {
  long_training
  job=$(submit --ntasks-per-node=2 jobscripts/cc_multinode_srun.sh)
  running "$job"
  pid=$(python3 -c 'import glob, json; print(json.load(open(glob.glob("runs/*/run.json")[0]))["ranks"][3]["pid"])')
  killed=$SECONDS
  "$CLUSTER" on n2 kill -KILL "$pid"
  ended FAILED "$job"
  ((SECONDS - killed <= 15)) || fail "it took $((SECONDS - killed)) s"
  grep -F "rank 3 of 4 on n2 (pid $pid) has left" hpcboot_multinode_srun-"$job".out || fail "$(cat ./*.out)"
}

# come FILE PATTERN: waits until a line of the file matches.
come() {
  local end=$((SECONDS + 200))
  until grep -qs -- "$2" "$1"; do
    ((SECONDS < end)) || fail "no '$2' in $1" "$(cat ./*.out)" "$(slurm_state)" || return
    sleep 0.2
  done
}

# went_on [JOB HOST]: there is exactly one run, which has finished and was resumed by its own job, or by job JOB without
# host HOST.
went_on() {
  python3 - "$@" << 'PY'
import glob, json, sys
runs = [json.load(open(f)) for f in glob.glob("runs/*/run.json")]
assert [(r["exit_reason"], len(r["resumed"]) > 0) for r in runs] == [("finished", True)], runs
run = runs[0]
resumed = run["resumed"][0]
job, restarts = (sys.argv[1], 0) if sys.argv[1:] else (run["job_id"], 1)
assert (resumed["job_id"], resumed["restart_count"] or 0) == (job, restarts), resumed
assert [e["epoch"] for e in run["epochs"]] == list(range(1, run["config"]["epochs"] + 1)), run["epochs"]
assert not set(sys.argv[2:]) & {rank["host"] for rank in run["ranks"]}, run["ranks"]
steps = [line.split(",")[1] for line in open(glob.glob("runs/*/metrics.csv")[0])][1:]
assert steps == [str(i + 1) for i in range(8 * run["config"]["epochs"])], len(steps)
PY
}

# 8 steps per epoch, long enough to be interrupted.
some_training() {
  user_settings=(TRAINER_ARGS="--model mnistnet --image-size 28 --batch-size 8 --threads 1 --epochs 40 --start-up-timeout 60")
}

@test "a job of one rank that is told to stop is queued again, goes on in its run, and stays away once it is cancelled" {
  long_training
  job=$(submit jobscripts/cc_single.sh)
  come hpcboot_single-"$job".out 'first step done'
  "$CLUSTER" on n0 scancel --batch --signal=USR1 "$job"
  come hpcboot_single-"$job".out '^stopped (signal USR1) after step'
  come hpcboot_single-"$job".out 'queued again: scontrol requeue'
  come hpcboot_single-"$job".out '^resumed from .*: epoch'
  "$CLUSTER" on n0 scancel "$job"
  ended CANCELLED "$job"
  [[ $(grep -c 'queued again: ' hpcboot_single-"$job".out) = 1 ]]
}

@test "a signal to a job on two hosts, by srun and by mpirun: it is queued again and ends in the same run" {
  some_training
  for launcher in srun mpirun; do
    rm -rf runs
    job=$(submit --ntasks-per-node=2 jobscripts/cc_multinode_$launcher.sh)
    come hpcboot_multinode_$launcher-"$job".out 'first step done'
    "$CLUSTER" on n0 scancel --batch --signal=USR1 "$job"
    come hpcboot_multinode_$launcher-"$job".out '^resumed from .*: epoch'
    ended COMPLETED "$job"
    went_on
  done
}

@test "a signal to a job on two hosts whose ranks torchrun starts: it is queued again and ends in the same run" {
  as_tester /usr/bin/python3 -c 'import torch.distributed.run' 2> /dev/null || skip "/usr/bin/python3 has no torch"
  mkdir bin
  # PyTorch 1.13 with Python 3.11 needs the output options.
  printf '#!/bin/sh\nexec /usr/bin/python3 -m torch.distributed.run --redirects=2 --tee=2 "$@"\n' > bin/torchrun
  chmod 755 bin bin/torchrun
  some_training
  user_settings+=(PATH="$PWD/bin:$PATH")
  "$(dirname "$HPCBOOT_BIN")/hpcboot" script --site cc --job multinode_srun --launcher torchrun -o torchrun.sh
  job=$(submit --ntasks-per-node=2 torchrun.sh)
  come hpcboot_multinode_srun-"$job".out 'first step done'
  "$CLUSTER" on n0 scancel --batch --signal=USR1 "$job"
  come hpcboot_multinode_srun-"$job".out '^\(\[default0\]:\)\?resumed from .*: epoch'
  ended COMPLETED "$job"
  went_on
}

@test "a host is killed: the job is queued again and resumes from its checkpoint on others" {
  some_training
  job=$(submit --nodes=2 --ntasks-per-node=1 jobscripts/cc_multinode_srun.sh)
  running "$job"
  end=$((SECONDS + 60))
  until compgen -G 'runs/*/checkpoints/epoch_*' > /dev/null; do
    ((SECONDS < end)) || fail "no checkpoint" "$(cat ./*.out)" || return
    sleep 0.1
  done
  host=$("$CLUSTER" on n0 squeue --noheader --format=%N --job="$job")
  host=n$(grep -oE '[0-9]+' <<< "$host" | tail -n 1)
  kill_host "$host"
  come hpcboot_multinode_srun-"$job".out 'queued again: sbatch, as '
  again=$(sed -n 's/.*queued again: sbatch, as //p' hpcboot_multinode_srun-"$job".out)
  ended COMPLETED "$again"
  went_on "$again" "$host"
}
