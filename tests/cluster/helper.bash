# What the .bats files of this folder share.

bats_require_minimum_version 1.5.0
load ../support/background

CLUSTER=$BATS_TEST_DIRNAME/cluster
# ctest gives a folder that is this build's own, so that two builds can be tested side by side.
export HPCBOOT_CLUSTER_DIR=${HPCBOOT_CLUSTER_DIR:-/tmp/hpcboot-cluster-test-$UID}

as_tester() {
  "$CLUSTER" as tester n0 "$@"
}

# A folder of this test's own that all hosts and users see; the test goes there.
enter_shared_folder() {
  local dir=$HPCBOOT_CLUSTER_DIR/shared/$BATS_TEST_NUMBER
  mkdir -m 1777 "$dir"
  cd "$dir" || return
}

# kill_host HOST: it does not come back. Its kernel closes its connections and then answers nobody.
kill_host() {
  local pid
  pid=$("$CLUSTER" status | awk -v host="$1" '$1 == host { print $3 }')
  nsenter --target "$pid" --net sh -c 'kill -KILL "$0"; sleep 0.2; ip link set eth0 down' "$pid"
}

# What setup_file of the tests of `hpcboot show` does; options are those of `cluster up`.
start_for_show() {
  export HPCBOOT_BIN=${HPCBOOT_BIN:-$(realpath "$BATS_TEST_DIRNAME/../../build/bin/hpcboot")}
  [[ -x $HPCBOOT_BIN ]]
  "$CLUSTER" down
  "$CLUSTER" up -n 2 --bind "$(dirname "$HPCBOOT_BIN")" "$@"
}

# shows_the_truth FORM: `hpcboot show --json` of every rank is as placement.py says.
shows_the_truth() {
  as_tester "$BATS_TEST_DIRNAME/lib/launch.sh" "$1" "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" \
    "$HPCBOOT_BIN" show --json
  "$BATS_TEST_DIRNAME/lib/placement.py" check "$1" "$PWD"
}
