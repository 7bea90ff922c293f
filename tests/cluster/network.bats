#!/usr/bin/env bats
# Realistic networks: a docker0 with the same address on every host, host names that resolve to 127.0.1.1. `hpcboot
# show` chooses eth0 and an address at which rank 0 is reachable from every host (placement.py checks both).

load helper

setup_file() {
  start_for_show --decoy-docker0 --loopback-name
}

teardown_file() {
  "$BATS_TEST_DIRNAME/cluster" down
}

setup() {
  enter_shared_folder
}

@test "the network is as bad as it should be" {
  run -0 "$CLUSTER" as tester n1 bash -c 'getent ahostsv4 "$(hostname)"; ip -o -4 addr show docker0'
  [[ $output == *127.0.1.1* && $output == *172.17.0.1/16* ]]
}

@test "show under srun_none_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth srun_none_2x2; }
@test "show under srun_pmix_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth srun_pmix_2x2; }
@test "show under sbatch_srun_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth sbatch_srun_2x2; }
@test "show under sbatch_mpirun_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth sbatch_mpirun_2x2; }
@test "show under ssh_mpirun_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth ssh_mpirun_2x2; }
@test "show under ssh_hydra_2x2, in spite of docker0 and 127.0.1.1" { shows_the_truth ssh_hydra_2x2; }

@test "ranks of mpirun on one host name its address on eth0" {
  as_tester mpirun.openmpi --host n1:2 "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" "$HPCBOOT_BIN" show --json
  [[ $(cat n1.* | grep -c '"master_addr": "10.77.0.11"') == 2 ]]
}
