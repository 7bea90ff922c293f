#!/usr/bin/env bats
# The trainer under PyTorch's torchrun, which has its own exit codes and does not handle USR1, in a job script.
# shellcheck disable=SC2154 # $trainer is set in helper.bash

load helper

# A folder like hpcboot's, as a PBS job with two cores of this host, whose scheduler only logs requests.
setup() {
  need_mpirun
  "$HPCBOOT_TEST_PYTHON" -c 'import torch.distributed.run' || skip "no PyTorch for $HPCBOOT_TEST_PYTHON"
  cd "$BATS_TEST_TMPDIR" || return 1
  use_programs
  mkdir -p build fakes data/mnist
  ln -s "$(dirname "$trainer")" build/bin
  build/bin/hpcboot script --list >/dev/null || skip "this build has no job scripts (toml++, mstch)"
  build/bin/hpcboot script --site generic_pbs --job ddp --launcher torchrun -o job.sh
  "$trainer" digits data/mnist --train 640 --test 100 >/dev/null
  # PyTorch 1.13 with Python 3.11 needs the options about output.
  printf '#!/bin/bash\nexec "%s" -m torch.distributed.run --redirects=2 --tee=2 "$@"\n' "$HPCBOOT_TEST_PYTHON" >fakes/torchrun
  printf '#!/bin/bash\necho "qrerun $*" >>log\n' >fakes/qrerun
  cat >fakes/qstat <<SH
#!/bin/sh
cat <<TEXT
Job Id: \$PBS_JOBID
    job_state = R
    Resource_List.walltime = 01:00:00
    Rerunable = True
    stime = $(LC_ALL=C date '+%a %b %d %H:%M:%S %Y')
    substate = 42
TEXT
SH
  chmod +x fakes/*
  for _ in 1 2; do hostname; done >nodefile
  # The port of rank 0 is derived from the job id, which differs from that of another build's tests on this host.
  export PATH=$PWD/fakes:$PATH PBS_JOBID=$$.pbs PBS_O_WORKDIR=$PWD PBS_NODEFILE=$PWD/nodefile NCPUS=2
  unset HPCBOOT_BIN_DIR
  export TRAINER_ARGS="--model mnistnet --image-size 28 --batch-size 4 --no-tensorboard"
}

@test "a run that is stopped under torchrun by the walltime's signal is queued again and goes on" {
  bash job.sh --epochs 5000 >out 2>&1 &
  job=$!
  await has_line out 'first step done'
  kill -USR1 "$job"
  status=0
  wait "$job" || status=$?
  cat out
  [ "$status" -eq 1 ] # torchrun's, whatever its ranks end with
  [ "$(value runs/* "['launcher']")" = torchrun ]
  [ "$(value runs/* "['devices_per_node']")" = 2 ]
  [ "$(value runs/* "['exit_reason']")" = "signal USR1" ]
  [ "$(cat log)" = "qrerun $PBS_JOBID" ]
  run -1 bash job.sh --epochs 5000 --time-limit 1
  echo "$output"
  [[ $output == *"resumed from "* ]]
  [ "$(value runs/* "['exit_reason']")" = "time limit" ]
}

@test "a run that fails under torchrun is not queued again" {
  run -1 bash job.sh --lr 1e30
  echo "$output"
  [[ $output == *"the training loss is "* ]]
  [ ! -e log ]
}
