# Shared by the .bats files of this folder.

bats_require_minimum_version 1.5.0
load ../support/background

CLUSTER=$BATS_TEST_DIRNAME/cluster
# ctest sets a folder per build, so that two builds can be tested side by side.
export HPCBOOT_CLUSTER_DIR=${HPCBOOT_CLUSTER_DIR:-/tmp/hpcboot-cluster-test-$UID}

as_tester() {
  "$CLUSTER" as tester n0 "$@"
}

# Creates a folder for this test that all hosts and users see, and enters it.
enter_shared_folder() {
  local dir=$HPCBOOT_CLUSTER_DIR/shared/$BATS_TEST_NUMBER
  mkdir -m 1777 "$dir"
  cd "$dir" || return
}

# kill_host HOST: the host does not come back. Its kernel closes its connections and then does not respond.
kill_host() {
  local pid
  pid=$("$CLUSTER" status | awk -v host="$1" '$1 == host { print $3 }')
  nsenter --target "$pid" --net sh -c 'kill -KILL "$0"; sleep 0.2; ip link set eth0 down' "$pid"
}

# keep_lost_hosts_in_slurm SECONDS: for setup_file. Slurm 22.05 fails a job that starts again in the second in which it
# ended ("Job credential revoked"). So it must not give up a lost host before, or just when, `hpcboot run` has queued the
# job again, which takes about 25 s, and longer on a busy machine.
keep_lost_hosts_in_slurm() {
  "$CLUSTER" on n0 sh -c 'sed -i "s/^SlurmdTimeout=.*/SlurmdTimeout=$1/" /etc/slurm/slurm.conf && scontrol reconfigure' sh "$1"
}

# What Slurm knows of its jobs and hosts, for the message of a failed test.
slurm_state() {
  "$CLUSTER" on n0 sh -c 'scontrol show job; scontrol show node; tail -n 60 /var/log/slurm/slurmctld.log'
}

# For setup_file of the tests of `hpcboot show`; the options are those of `cluster up`.
start_for_show() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/hpcboot")}
  [[ -x $HPCBOOT_BIN ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")" "$@"
}

# shows_the_truth FORM: `hpcboot show --json` of every rank matches placement.py.
shows_the_truth() {
  as_tester "$BATS_TEST_DIRNAME/lib/launch.sh" "$1" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
    "$HPCBOOT_BIN" show --json
  "$BATS_TEST_DIRNAME/lib/placement.py" check "$1" "$PWD"
}

# recorded JOB SITE MODE NODES DEVICES_PER_NODE LAUNCHER: such a run of this job has finished.
recorded() {
  python3 - "$@" << 'PY'
import glob, json, sys
job, site, mode, nodes, devices, launcher = sys.argv[1:]
runs = [json.load(open(f)) for f in glob.glob("runs/**/run.json", recursive=True)]
found = [(r["job_id"], r["site"], r["config"]["mode"], str(r["nodes"]), str(r["devices_per_node"]), r["launcher"],
          r["exit_reason"], len(r["ranks"])) for r in runs]
ranks = int(nodes) * int(devices) if mode == "ddp" else 1
assert (job, site, mode, nodes, devices, launcher, "finished", ranks) in found, found
PY
}

# swept SITE: each task of the array has trained with its own learning rate.
swept() {
  python3 - "$1" << 'PY'
import glob, json, sys
runs = [json.load(open(f)) for f in glob.glob("runs/*task-*/run.json")]
found = sorted((r["config"]["comment"], r["config"]["lr"], r["site"], r["exit_reason"]) for r in runs)
rates = [("task 0", 1e-3), ("task 1", 3e-4), ("task 2", 1e-4)]
assert found == [(task, rate, sys.argv[1], "finished") for task, rate in rates], found
PY
}
