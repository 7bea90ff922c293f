#!/usr/bin/env bats
# Job scripts: those that are committed are those that are rendered, and they do by themselves what they say.
# The launchers and the trainer are fakes here; tests/cluster/jobs.bats submits the scripts for real.
# shellcheck disable=SC2030,SC2031,SC2317 # each test is a shell of its own; functions are called by scripts

bats_require_minimum_version 1.5.0
load ../support/background

setup() {
  ROOT=$(realpath "$BATS_TEST_DIRNAME/../..")
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$ROOT/build/bin}")/hpcboot
  unset HPCBOOT_BIN_DIR RUNS_DIR DATA_DIR TRAINER_ARGS # the scripts read them
  GOLDEN=$ROOT/tests/golden/jobscripts
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  "$HPCBOOT" script --list >"$BATS_TEST_TMPDIR/list" 2>&1 || skip "this build has no job scripts (toml++, mstch)"
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/none
}

teardown() { end_jobs; }

script() { "$HPCBOOT" script "$@"; }

# A folder like hpcboot's, whose programs write down how they are started: log has a line for each.
enter_fakes() {
  mkdir -p "$BATS_TEST_TMPDIR"/work/{build/bin,data/mnist,fakes}
  cd "$BATS_TEST_TMPDIR/work" || return
  local program
  for program in build/bin/{trainer,hpcboot,runtable} fakes/{srun,mpirun,mpiexec,qstat}; do
    printf '#!/bin/bash\n%s\n' 'name=$(basename "$0")
if [ "$name $*" = "mpirun --version" ]; then echo "mpirun (Open MPI) 4.1.4"; exit; fi
printf "%s" "$name" >>log; printf " <%s>" "$@" >>log; echo " OMP=$OMP_NUM_THREADS SITE=$HPCBOOT_SITE" >>log
case $name in trainer) [ -z "$FAKE_TRAINER" ] || eval "$FAKE_TRAINER" ;;
srun) while [[ $1 == --* ]]; do shift; done; "$@" ;;
mpirun|mpiexec) while [[ $# -gt 0 && $1 != build/* ]]; do shift; done; "$@" ;; esac' >"$program"
    chmod +x "$program"
  done
  PATH=$PWD/fakes:$PATH
  printf '%s\n' n1 n1 n2 n2 >nodefile
}

# Commands that queue job 12 again; log has a line for each.
fake_requeue() {
  local command
  for command in scontrol qrerun brequeue; do
    printf '#!/bin/bash\necho "%s $*" >>log\n' $command >fakes/$command
    chmod +x fakes/$command
  done
  export SLURM_JOB_ID=12
}

# Until a fake trainer has touched `started`.
await_trainer() { await test -e started; }

@test "the committed scripts are what is rendered today" {
  mkdir "$BATS_TEST_TMPDIR/now"
  "$ROOT/jobscripts/render" "$HPCBOOT" "$BATS_TEST_TMPDIR/now"
  for file in "$BATS_TEST_TMPDIR"/now/*; do
    diff -u "$ROOT/jobscripts/$(basename "$file")" "$file" || { echo "do: jobscripts/render"; return 1; }
  done
  # No script stays behind whose site or job has gone.
  for file in "$ROOT"/jobscripts/*.sh "$ROOT"/jobscripts/*.yaml; do
    [ -e "$BATS_TEST_TMPDIR/now/$(basename "$file")" ]
  done
}

@test "the golden scripts are what is rendered today" {
  mkdir "$BATS_TEST_TMPDIR/now"
  "$GOLDEN/render" "$HPCBOOT" "$BATS_TEST_TMPDIR/now"
  diff -ru --exclude=config --exclude=render "$GOLDEN" "$BATS_TEST_TMPDIR/now" ||
    { echo "do: tests/golden/jobscripts/render build/bin/hpcboot tests/golden/jobscripts"; return 1; }
}

@test "every site has golden scripts and a page" {
  for file in "$ROOT"/jobscripts/sites/*.toml; do
    site=$(basename "$file" .toml)
    echo "$site"
    compgen -G "$GOLDEN/$site/full.*"
    grep -q "^### $site\$" "$ROOT/jobscripts/README.md"
  done
}

@test "every key of a profile is documented" {
  while read -r key; do
    grep -qF "\`$key\`" "$ROOT/jobscripts/README.md" || { echo "missing: $key"; return 1; }
  done < <(grep -oE '^ *\{"[a-z_.]+",( T::.*)?$' "$ROOT/bootstrap/jobs/profile_keys.cpp" | cut -d'"' -f2)
}

@test "every script is bash" {
  for file in "$ROOT"/jobscripts/*.sh "$GOLDEN"/*/*.sh; do
    bash -n "$file"
    [[ $(head -n 1 "$file") == "#!/bin/bash"* ]]
    run ! grep -q $'\r' "$file"
  done
}

@test "hpcboot lint has nothing to say" {
  for file in "$ROOT"/jobscripts/*.sh "$GOLDEN"/*/*.sh; do
    run -0 "$HPCBOOT" lint --strict "$file"
  done
}

@test "every launcher's script is bash, and clean for shellcheck" {
  command -v shellcheck >/dev/null || skip "no shellcheck on this machine"
  while read -r site launcher; do
    for program in '' train.py ./solver; do
      file=$BATS_TEST_TMPDIR/${site}_$launcher.sh
      script --site "$site" --job multinode_mpirun --launcher "$launcher" ${program:+--program "$program"} \
        --set launch.options=--verbose -o "$file"
      bash -n "$file"
      shellcheck --exclude=SC2016 "$file"
    done
  done < <(printf '%s\n' 'generic_slurm srun' {generic_slurm,generic_pbs,lab}' mpirun' 'polaris pals' 'lab ssh' \
    {generic_slurm,generic_pbs,polaris}' torchrun')
}

@test "wrong use says what was found and what is nearest" {
  run ! script --site vectro --job ddp
  [[ $output == *"there is no site vectro"*"write vector"* ]]
  run ! script --site cc --job ddpp
  [[ $output == *"write ddp"* ]]
  run -20 script --site narval --job ddp
  [[ $output == *"one of cc, "*"write one of these, or give the file as --site-file"* ]]
  run -0 script --site cc --job single --launcher mpirun
  [[ $output == *"note: --launcher has no effect: the job single is one process"* ]]
  run -20 script --site cc --job ddp --time 2-00:00:00
  [[ $output == *"write 48:00:00"* ]]
  run ! script --site cc --job ddp --launcher ssh
  [[ $output == *"the launcher ssh with the scheduler slurm"* ]]
  run ! script --site cc --job ddp --set queue.nam=short
  [[ $output == *"write queue.name"* ]]
  run ! script --site cc --job ddp --set node.gpus=many
  [[ $output == *"a whole number"* ]]
  for arguments in '--job ddp' '--site cc' '--site cc --site-file x --job ddp' '--site cc --job ddp --set x' \
    '--site lab --job ddp --submit' '--site sockeye --job ddp --check'; do
    # shellcheck disable=SC2086 # a list of words
    run script $arguments
    echo "$arguments: $status $output"
    [ "$status" -eq 2 ]
  done
  printf 'description = 3\n' >"$BATS_TEST_TMPDIR/bad.toml"
  run -28 script --site-file "$BATS_TEST_TMPDIR/bad.toml" --job ddp
  [[ $output == *"bad.toml:1: description"* ]]
  run -42 script --site cc --job ddp -o "$BATS_TEST_TMPDIR/absent/x.sh"
}

@test "options and --set reach the script" {
  run -0 script --site generic_slurm --job multinode_srun --nodes 3 --gpus-per-node 2 --time 00:30:00 --account me-1 \
    --mail me@example.org --set queue.name=gpu --set queue.requeue=false --set node.gpu_type=a100
  for line in --nodes=3 --ntasks-per-node=2 --gpus-per-node=a100:2 --time=00:30:00 --account=me-1 \
    --mail-user=me@example.org --partition=gpu --no-requeue --signal=B:USR1@120; do
    grep -qx -- "#SBATCH $line" <<<"$output"
  done
}

@test "a script names the file that it is, and the arguments that give it again" {
  enter_fakes
  mkdir "my jobs"
  script --site cc --job multinode_srun --nodes 4 --time 12:00:00 --set container.image='${HOME}/my.sif' --set queue.name=big \
    --account def-me -o big.sh
  grep -qx '#   sbatch big.sh .*' big.sh
  run ! grep -F jobscripts/ big.sh
  arguments=$(sed -n 's/^# Written by `hpcboot script \(.*\)`\.$/\1/p' big.sh)
  [[ $arguments == *"--nodes 4 --time 12:00:00 --account def-me"*"--set 'container.image=\${HOME}/my.sif' --set queue.name=big" ]]
  cp big.sh first.sh
  eval "script $arguments -o big.sh"
  diff first.sh big.sh
  export XDG_CONFIG_HOME=$GOLDEN/config
  for site in cc generic_pbs own_sge own_lsf own_torque lab; do
    script --site $site --job single --set queue.requeue=false -o "my jobs/$site.sh"
    run -0 grep -c "^#   .*'my jobs/$site.sh'" "my jobs/$site.sh"
  done
  # To stdout: the one that hpcboot comes with, where it is that; else a name like it.
  script --site cc --job ddp | grep -qx '#   sbatch jobscripts/cc_ddp.sh .*'
  script --site cc --job ddp --nodes 1 | grep -qx '#   sbatch cc_ddp.sh .*'
  script --site own_sge --job ddp | grep -qx '#   qsub own_sge_ddp.sh .*'
  script --site kubernetes --job pytorchjob -o k.yaml
  grep -qx '#   kubectl apply -f k.yaml' k.yaml
  grep -qx '# Written by `hpcboot script --site kubernetes --job pytorchjob`.' k.yaml
  run -20 script --site cc --job ddp -o $'x\n#SBATCH --hold'
  [[ $output == *"--output"* ]]
}

@test "-o writes a file that may be started as far as the umask allows, and leaves the mode of all else alone" {
  cd "$BATS_TEST_TMPDIR"
  for mask in 022 077 027; do
    (umask $mask && script --site cc --job ddp -o "with_$mask.sh")
  done
  [ "$(stat -c %a with_022.sh with_077.sh with_027.sh | tr '\n' ' ')" = "755 700 750 " ]
  # What its owner gave to others stays as well.
  chmod 640 with_022.sh
  (umask 077 && script --site cc --job ddp -o with_022.sh)
  [ "$(stat -c %a with_022.sh)" = 740 ]
  mkfifo -m 600 pipe
  cat pipe >through_pipe &
  reader=$!
  timeout 60 "$HPCBOOT" script --site cc --job ddp -o pipe
  wait "$reader"
  [ "$(stat -c '%a %F' pipe)" = "600 fifo" ]
  run -0 script --site cc --job ddp -o -
  diff <(echo "$output") "$ROOT/jobscripts/cc_ddp.sh"
  [ ! -e - ]
  diff through_pipe <(echo "${output//jobscripts\/cc_ddp.sh/pipe}")
}

@test "directives stand before the first command, and placeholders in comments only" {
  for file in "$ROOT"/jobscripts/*.sh; do
    awk 'FNR == 1 { body = 0 } /^[^#]/ { body = 1 } body && /^#(SBATCH|PBS|BSUB|\$) / { exit 1 }' "$file"
    run ! grep -E '^#(SBATCH|PBS) .*(your|example)' "$file"
  done
}

@test "sites of one's own, by folder and by file" {
  mkdir -p "$BATS_TEST_TMPDIR/config/hpcboot/sites"
  sed 's/^description.*/description = "my cluster"/' "$ROOT/jobscripts/sites/generic_slurm.toml" \
    >"$BATS_TEST_TMPDIR/config/hpcboot/sites/mine.toml"
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
  script --list | grep -q '^mine .*my cluster'
  script --site mine --job ddp | grep -q 'at my cluster'
  script --site-file "$BATS_TEST_TMPDIR/config/hpcboot/sites/mine.toml" --job ddp | grep -q 'HPCBOOT_SITE=mine'
  HOME=$BATS_TEST_TMPDIR run ! env -u XDG_CONFIG_HOME "$HPCBOOT" script --site mine --job ddp
}

@test "--list names a broken profile of one's own, and lists all others" {
  mkdir -p "$BATS_TEST_TMPDIR/config/hpcboot/sites"
  echo 'description = 3' >"$BATS_TEST_TMPDIR/config/hpcboot/sites/broken.toml"
  cp "$ROOT/jobscripts/sites/generic_slurm.toml" "$BATS_TEST_TMPDIR/config/hpcboot/sites/zebra.toml"
  XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config run -28 --separate-stderr script --list
  for site in cc vector zebra; do grep -q "^$site " <<<"$output"; done
  run ! grep broken <<<"$output"
  # shellcheck disable=SC2154 # of run
  [[ $stderr == *"broken.toml:1: description"* ]]
  [ "$(grep -c '^hpcboot: error' <<<"$stderr")" -eq 1 ]
}

@test "a program that was moved alone says where hpcboot's own sites should be" {
  mkdir -p "$BATS_TEST_TMPDIR/moved/bin"
  cp "$HPCBOOT" "$BATS_TEST_TMPDIR/moved/bin"
  for arguments in --list '--site cc --job ddp'; do
    # shellcheck disable=SC2086 # a list of words
    run -27 "$BATS_TEST_TMPDIR/moved/bin/hpcboot" script $arguments
    [[ $output == *"hpcboot's own sites are not where they should be, in "*"/moved/share/hpcboot/jobscripts/sites"* ]]
  done
}

@test "an installation has templates and sites" {
  build=$(dirname "$(dirname "$HPCBOOT")")
  [ -e "$build/cmake_install.cmake" ] || skip "$build is no build folder"
  cmake --install "$build" --prefix "$BATS_TEST_TMPDIR/prefix" --component programs >/dev/null
  cd /
  "$BATS_TEST_TMPDIR/prefix/bin/hpcboot" script --site cc --job ddp | diff "$ROOT/jobscripts/cc_ddp.sh" -
  mv "$BATS_TEST_TMPDIR/prefix" "$BATS_TEST_TMPDIR/moved"
  "$BATS_TEST_TMPDIR/moved/bin/hpcboot" script --site cc --job ddp | diff "$ROOT/jobscripts/cc_ddp.sh" -
}

@test "--submit hands the script over and prints the job's id; --check asks" {
  mkdir "$BATS_TEST_TMPDIR/fakes"
  printf '#!/bin/sh\necho "$@" >%s\ncp "$2" %s\necho 4711\n' "$BATS_TEST_TMPDIR/words" "$BATS_TEST_TMPDIR/script" \
    >"$BATS_TEST_TMPDIR/fakes/sbatch"
  chmod +x "$BATS_TEST_TMPDIR/fakes/sbatch"
  PATH=$BATS_TEST_TMPDIR/fakes:$PATH
  run -0 script --site cc --job ddp --submit
  [ "$output" = 4711 ]
  grep -q '^--parsable ' "$BATS_TEST_TMPDIR/words"
  diff "$BATS_TEST_TMPDIR/script" "$ROOT/jobscripts/cc_ddp.sh"
  [ ! -e "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/words")" ]
  script --site cc --job ddp --check -o "$BATS_TEST_TMPDIR/kept.sh"
  [ "$(cat "$BATS_TEST_TMPDIR/words")" = "--test-only $BATS_TEST_TMPDIR/kept.sh" ]
  printf '#!/bin/sh\necho "invalid partition" >&2; exit 1\n' >"$BATS_TEST_TMPDIR/fakes/sbatch"
  run -1 script --site cc --job ddp --check
  [[ $output == *"invalid partition"* ]]
  rm "$BATS_TEST_TMPDIR/fakes/sbatch"
  PATH=$BATS_TEST_TMPDIR/fakes run -30 script --site cc --job ddp --submit
}

@test "what is missing is named, with how to build" {
  cd "$BATS_TEST_TMPDIR"
  run -1 bash "$ROOT/jobscripts/cc_single.sh"
  [[ $output == *"there is no program build/bin/trainer in $PWD"*"module load StdEnv/2023"*"cmake --build build"* ]]
  enter_fakes
  rmdir data/mnist
  run -1 bash "$ROOT/jobscripts/cc_single.sh"
  [[ $output == *"there is no data in data/mnist"*get-mnist* ]]
  run -1 bash "$ROOT/jobscripts/sockeye_ddp.sh"
  [[ $output == *"PBS_NODEFILE"*qsub* ]]
}

@test "Slurm: srun gets nodes and tasks, the trainer its share of the cores, its own and the user's options" {
  enter_fakes
  mkdir "with space"
  mv build data "with space"
  cd "with space" && export SLURM_SUBMIT_DIR=$PWD SLURM_JOB_NUM_NODES=1 SLURM_NTASKS_PER_NODE=4 SLURM_CPUS_ON_NODE=64
  TRAINER_ARGS="--epochs 5  --lr 1e-2" bash "$ROOT/jobscripts/cc_ddp.sh" --comment "two words"
  [ "$(sed -n 2p log)" = "trainer <--mode> <ddp> <--data> <data/mnist> <--runs-dir> <runs> <--resume> <auto> <--threads> <16> <--epochs> <5> <--lr> <1e-2> <--comment> <two words> OMP=16 SITE=cc" ]
  [[ $(sed -n 1p log) == "srun <--nodes=1> <--ntasks=4> <--ntasks-per-node=4> <--kill-on-bad-exit=1> <--wait=60> <build/bin/trainer>"* ]]
}

@test "modules are loaded where there are any, also by functions that use unset variables" {
  enter_fakes
  # shellcheck disable=SC2154 # that it is not set is the point
  module() { echo "module $* $not_set" >>log; }
  export -f module
  bash "$ROOT/jobscripts/polaris_single.sh"
  [ "$(head -n 2 log)" = $'module use /soft/modulefiles \nmodule load PrgEnv-gnu cudatoolkit-standalone ' ]
  module() { return 1; }
  run -1 bash "$ROOT/jobscripts/polaris_single.sh"
  [[ $output == *"could not be loaded"*"module spider"* ]]
}

@test "a check goes before a run on several nodes; if it fails there is no run" {
  enter_fakes
  export SLURM_JOB_NUM_NODES=3 SLURM_NTASKS_PER_NODE=2 SLURM_CPUS_ON_NODE=8
  bash "$ROOT/jobscripts/generic_slurm_multinode_srun.sh"
  [ "$(grep -c '^srun <--nodes=3> <--ntasks=6> <--ntasks-per-node=2>' log)" -eq 2 ]
  [ "$(grep -E '^(hpcboot|trainer)' log | cut -d' ' -f1,2)" = $'hpcboot <check>\ntrainer <--mode>' ]
  rm log
  printf '#!/bin/sh\nexit 1\n' >build/bin/hpcboot
  run -1 bash "$ROOT/jobscripts/generic_slurm_multinode_srun.sh"
  [[ $output == *"the ranks do not find each other"* ]]
  run ! grep -q '^trainer' log
}

@test "PBS: hosts from the nodefile, cores of NCPUS shared by the ranks whatever OMP_NUM_THREADS says" {
  enter_fakes
  export PBS_NODEFILE=$PWD/nodefile PBS_O_WORKDIR=$PWD PBS_JOBID=7.pbs NCPUS=24 OMP_NUM_THREADS=24
  RANKS_PER_NODE=2 bash "$ROOT/jobscripts/sockeye_multinode_mpirun.sh"
  [[ $(grep -c "^mpirun <-np> <4> .*<-x> <HPCBOOT_SITE> <--map-by> <ppr:2:node> <--bind-to> <none> <--hostfile> <$PWD/nodefile>" log) == 2 ]]
  grep -q '^trainer .*<--threads> <12> OMP=12 SITE=sockeye' log
}

@test "PALS: mpiexec with ranks per node and depth; the site's network and device order" {
  enter_fakes
  export PBS_NODEFILE=$PWD/nodefile PBS_O_WORKDIR=$PWD PBS_JOBID=7.pbs
  FAKE_TRAINER='echo "order=$HPCBOOT_DEVICE_ORDER suffix=$HPCBOOT_HOST_SUFFIX" >>log' \
    bash "$ROOT/jobscripts/polaris_multinode_mpirun.sh"
  [ "$(grep -c '^mpiexec <-n> <8> <--ppn> <4> <--depth> <8> <--cpu-bind> <depth>' log)" -eq 2 ]
  grep -qx 'order=reverse suffix=.hsn.cm.polaris.alcf.anl.gov' log
}

@test "Grid Engine, LSF and Torque: hosts from their own files" {
  enter_fakes
  export XDG_CONFIG_HOME=$GOLDEN/config
  for site in own_sge own_lsf own_torque; do script --site $site --job multinode_mpirun -o $site.sh; done
  printf '%s\n' 'n1 4 gpu.q UNDEFINED' 'n2 4 gpu.q UNDEFINED' >pe
  sed -i 's|^printf "%s" "$name"|[ ! -f "${hostfile:-}" ] \|\| cat "$hostfile" >>hosts; &|' fakes/mpirun
  PE_HOSTFILE=pe NHOSTS=2 JOB_ID=5 SGE_O_WORKDIR=$PWD bash own_sge.sh
  LSB_DJOB_HOSTFILE=nodefile LSB_JOBID=5 LS_SUBCWD=$PWD bash own_lsf.sh
  PBS_NODEFILE=nodefile PBS_JOBID=5 PBS_O_WORKDIR=$PWD bash own_torque.sh
  [ "$(grep -c '^mpirun <-np> <8>' log)" -eq 6 ]
  [ "$(grep -c '<--hostfile> <nodefile>' log)" -eq 4 ]
}

@test "the exit code is the training's; compare goes on and ends with the table" {
  enter_fakes
  export SLURM_JOB_NUM_NODES=2 SLURM_NTASKS_PER_NODE=1 SLURM_CPUS_ON_NODE=1 SLURM_JOB_ID=12
  export FAKE_TRAINER='[[ "$*" != *single* ]] || exit 44'
  run -44 bash "$ROOT/jobscripts/cc_single.sh"
  run -44 bash "$ROOT/jobscripts/cc_compare.sh"
  [ "$(grep -c '^trainer' log)" -eq 6 ]
  [[ $(tail -n 1 log) == "runtable <runs/compare_12>"* ]]
}

@test "an array's task takes its own options; one without options is an error" {
  enter_fakes
  for task in 0 1 2; do SLURM_ARRAY_TASK_ID=$task bash "$ROOT/jobscripts/cc_array.sh"; done
  [ "$(grep -o '<--lr> <[^>]*>' log | sort -u | wc -l)" -eq 3 ]
  SLURM_ARRAY_TASK_ID=3 run ! bash "$ROOT/jobscripts/cc_array.sh"
  [[ $output == *"no set of options for task 3"* ]]
}

@test "a signal before the walltime is passed on, and the end of the training is waited for" {
  enter_fakes
  export FAKE_TRAINER='trap "sleep 0.3; echo told >>log; exit 7" USR1; touch started; while :; do sleep 0.1; done'
  bash "$ROOT/jobscripts/cc_single.sh" 2>messages &
  job=$!
  await_trainer
  kill -USR1 "$job"
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 7 ]
  grep -q '^told$' log
  grep -q 'signal USR1 arrived' messages
}

@test "a run that was stopped in order is queued again, where the scheduler allows it" {
  enter_fakes
  fake_requeue
  export FAKE_TRAINER='exit 46' PBS_JOBID='7[2].pbs' PBS_O_WORKDIR=$PWD NCPUS=4 LSB_JOBID=8 LS_SUBCWD=$PWD
  run -46 bash "$ROOT/jobscripts/cc_single.sh"
  [[ $(tail -n 1 log) == "scontrol requeue 12" ]]
  SLURM_ARRAY_TASK_ID=1 run -46 bash "$ROOT/jobscripts/cc_array.sh"
  [[ $(tail -n 1 log) == "scontrol requeue 12" ]]
  run -46 bash "$ROOT/jobscripts/generic_pbs_single.sh"
  [[ $(tail -n 1 log) == "qrerun 7[2].pbs" ]]
  # Refused: what the user may do. The options of sbatch are not known to the script.
  printf '#!/bin/sh\nexit 1\n' >fakes/scontrol
  run -46 bash "$ROOT/jobscripts/cc_single.sh" --epochs 3
  [[ $output == *"submitted again with the same options and arguments it goes on from the checkpoint"* ]]
  run -46 bash "$ROOT/jobscripts/lab_single.sh" --epochs 3
  [[ $output == *"that is not possible here; submitted again"* ]]
  export XDG_CONFIG_HOME=$GOLDEN/config
  for site in own_sge own_lsf; do script --site $site --job single --set queue.requeue=true -o $site.sh; done
  JOB_ID=5 SGE_O_WORKDIR=$PWD run -99 bash own_sge.sh
  run -46 bash own_lsf.sh
  [[ $(tail -n 1 log) == "brequeue 8" ]]
  script --site own_sge --job single --set queue.requeue=false -o never.sh
  JOB_ID=5 SGE_O_WORKDIR=$PWD run -46 bash never.sh
  # compare has no run of its own to go on with.
  rm log
  run -46 bash "$ROOT/jobscripts/cc_compare.sh"
  run ! grep -E 'scontrol|resume' log
}

# stopped_by_usr1 SCRIPT: it is started, its training told to end, and its messages written to `messages`.
stopped_by_usr1() {
  rm -f started log
  bash "$1" 2>messages &
  local job=$!
  await_trainer
  kill -USR1 "$job"
  code=0
  wait "$job" || code=$?
}

@test "a walltime that is not longer than the warning does not queue the job again and again" {
  enter_fakes
  fake_requeue
  export FAKE_TRAINER='trap "exit 46" USR1; touch started; while :; do sleep 0.1; done'
  cat >fakes/scontrol <<'SH'
#!/bin/bash
if [ "$1" = show ]; then
  printf 'JobId=12 JobName=x\n   RunTime=00:00:01 TimeLimit=%s TimeMin=N/A\n   SubmitTime=2026-01-01T00:00:00\n' "$LIMIT"
else
  echo "scontrol $*" >>log
fi
SH
  for limit in 00:01:00 00:02:00; do
    LIMIT=$limit stopped_by_usr1 "$ROOT/jobscripts/cc_single.sh"
    [ "$code" -eq 46 ]
    run ! grep scontrol log
    grep -q 'the walltime is not longer than the warning before its end, 120 s' messages
    grep -q 'do: submit it again with a longer time, and all other options and arguments as before' messages
  done
  for limit in 00:03:00 01:01:00 2-00:01:00 UNLIMITED; do
    LIMIT=$limit stopped_by_usr1 "$ROOT/jobscripts/cc_single.sh"
    [[ $(tail -n 1 log) == "scontrol requeue 12" ]]
  done
  # LSF: a warning that comes within the first two minutes.
  export XDG_CONFIG_HOME=$GOLDEN/config LSB_JOBID=8 LS_SUBCWD=$PWD
  script --site own_lsf --job single --set queue.requeue=true -o lsf.sh
  stopped_by_usr1 lsf.sh
  [ "$code" -eq 46 ]
  run ! grep brequeue log
  # PBS: the script's own clock, which is not started.
  export PBS_JOBID=7.pbs PBS_O_WORKDIR=$PWD FAKE_TRAINER=
  printf '#!/bin/sh\necho "    Resource_List.walltime = 00:02:00"\n' >fakes/qstat
  run -0 bash "$ROOT/jobscripts/generic_pbs_single.sh"
  [[ $output == *"not longer than 120 s: there will be no warning"* ]]
}

@test "a job that is cancelled is not queued again" {
  enter_fakes
  fake_requeue
  # mpirun hands on USR1, while TERM makes it kill the ranks.
  export FAKE_TRAINER='trap "exit 46" USR1; touch started; while :; do sleep 0.1; done'
  bash "$ROOT/jobscripts/cc_single.sh" 2>messages &
  job=$!
  await_trainer
  kill -TERM "$job"
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 46 ]
  run ! grep scontrol log
}

@test "PBS gives no warning before the walltime: the script's own clock does" {
  enter_fakes
  export PBS_JOBID=7.pbs PBS_O_WORKDIR=$PWD
  # The warning comes 120 s before the end: after 3 s, in which the training begins.
  printf '#!/bin/sh\necho "    Resource_List.walltime = 00:02:03"\n' >fakes/qstat
  export FAKE_TRAINER='trap "echo told >>log; exit 7" USR1; for ((i = 0; i < 300; ++i)); do sleep 0.1; done'
  run -7 bash "$ROOT/jobscripts/generic_pbs_single.sh"
  grep -q '^told$' log
}

@test "a program of one's own gets no warning signal and no clock, and its end is said without a run's record" {
  enter_fakes
  export XDG_CONFIG_HOME=$GOLDEN/config PBS_JOBID=7.pbs
  for site in generic_slurm generic_pbs own_sge own_lsf own_torque lab; do
    script --site $site --job ddp -o with_trainer.sh
    script --site $site --job ddp --program ./solver -o with_program.sh
    [ $site = lab ] || grep -Eq 'USR1@|-wa USR1|s_rt=|^clock=|^  clock=' with_trainer.sh
    run ! grep -E 'USR1@|-wa USR1|s_rt=|clock=|sleep|warning|record' with_program.sh
  done
  script --site generic_slurm --job single --program ./solver -o job.sh
  # As long as a warning would kill it; what the user sends is passed on as it is.
  printf '#!/bin/bash\ntrap "echo told >>log; exit 7" USR1\ntouch started\nwhile :; do sleep 0.1; done\n' >solver
  printf '#!/bin/bash\nshift 2\nexec "$@"\n' >build/bin/hpcboot
  chmod +x solver
  bash job.sh 2>messages &
  job=$!
  await_trainer
  kill -USR1 "$job"
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 7 ]
  grep -q '^told$' log
  [[ $(tail -n 1 messages) == *": ended by signal USR1" ]]
}

@test "a program of one's own in a sweep gets its arguments and the task's, and nothing of the trainer's" {
  enter_fakes
  script --site generic_slurm --job array --program ./solver -o job.sh
  printf '#!/bin/bash\nprintf "solver" >>log; printf " <%%s>" "$@" >>log\n' >solver
  printf '#!/bin/bash\nshift 2\nexec "$@"\n' >build/bin/hpcboot
  chmod +x solver
  SLURM_ARRAY_TASK_ID=1 bash job.sh train.py --epochs 5
  [ "$(cat log)" = "solver <train.py> <--epochs> <5> <--lr> <3e-4>" ]
}

@test "compare and a command line of several words are refused as a program" {
  run -20 script --site cc --job compare --program ./solver
  [[ $output == *"the job compare with --program ./solver"*"leave --program out"* ]]
  run -20 script --site cc --job ddp --program "python train.py"
  [[ $output == *"one word"*"write --program python"*"sbatch p.sh train.py"* ]]
  run -0 script --help
  [[ $output == *"--launcher srun --program python"*"sbatch p.sh train.py"* ]]
}

@test "runs go to scratch where the folder of submission cannot be written" {
  enter_fakes
  export SCRATCH=$PWD/scratch RUNS_DIR=/proc/nowhere
  bash "$ROOT/jobscripts/cc_single.sh"
  grep -q "<--runs-dir> <$PWD/scratch/hpcboot/runs>" log
  run -1 bash "$ROOT/jobscripts/sockeye_slurm_single.sh"
  [[ $output == *"/proc/nowhere cannot be written"*RUNS_DIR* ]]
}

@test "STAGE=1 copies the data to the node's disk, into a folder of this job's own that goes with it" {
  enter_fakes
  touch data/mnist/file
  mkdir -p local/hpcboot-data-6 local/hpcboot-data
  export SLURM_JOB_ID=7 FAKE_TRAINER='ls local/hpcboot-data-7 >seen; exit 3'
  STAGE=1 SLURM_TMPDIR=$PWD/local run -3 bash "$ROOT/jobscripts/cc_single.sh"
  [ "$(cat seen)" = file ]
  grep -q "<--data> <$PWD/local/hpcboot-data-7>" log
  [[ ! -e local/hpcboot-data-7 && -e local/hpcboot-data-6 ]]
}

@test "STAGE=1 copies a file as a file, and needs nothing for synthetic data" {
  enter_fakes
  mkdir sets
  echo 4 >"sets/a set.h5"
  export SLURM_JOB_ID=7
  STAGE=1 DATA_DIR="sets/a set.h5" SLURM_TMPDIR=$PWD/local FAKE_TRAINER='cat "local/hpcboot-data-7/a set.h5" >seen' \
    bash "$ROOT/jobscripts/cc_single.sh"
  [ "$(cat seen)" = 4 ]
  grep -q "<--data> <$PWD/local/hpcboot-data-7/a set.h5>" log
  STAGE=1 DATA_DIR=synthetic:9x3x4x4 SLURM_TMPDIR=$PWD/nowhere bash "$ROOT/jobscripts/cc_single.sh"
  grep -q '<--data> <synthetic:9x3x4x4>' log
  [ ! -e nowhere ]
}

@test "data of any form is taken, and that which the options name is left to the trainer" {
  enter_fakes
  rmdir data/mnist
  touch set.h5
  DATA_DIR=$PWD/set.h5 bash "$ROOT/jobscripts/cc_single.sh"
  DATA_DIR=synthetic:9x3x4x4 bash "$ROOT/jobscripts/cc_single.sh"
  bash "$ROOT/jobscripts/cc_single.sh" --epochs 2 --data synthetic:9x3x4x4
  bash "$ROOT/jobscripts/cc_single.sh" --data=absent.h5
  TRAINER_ARGS="--data synthetic:9x3x4x4" bash "$ROOT/jobscripts/cc_single.sh"
  [ "$(grep -c ^trainer log)" -eq 5 ]
  grep -q "<--data> <$PWD/set.h5>" log
  grep -q '<--data=absent.h5> OMP' log
  DATA_DIR=$PWD/absent.h5 run -1 bash "$ROOT/jobscripts/cc_single.sh" --epochs 2
  [[ $output == *"there is no data in $PWD/absent.h5"*DATA_DIR* ]]
}

@test "a container sees the data, the runs and what is staged, wherever they are" {
  enter_fakes
  mkdir -p "$BATS_TEST_TMPDIR"/far/{mnist,runs}
  ln -s "$BATS_TEST_TMPDIR/far/runs" runs
  touch hpcboot.sif far.h5
  printf '#!/bin/bash\nprintf "apptainer" >>log; printf " <%%s>" "$@" >>log; echo >>log
while [ $# -gt 0 ] && [[ $1 != build/* ]]; do shift; done; "$@"\n' >fakes/apptainer
  chmod +x fakes/apptainer
  script --site cc --job single --set container.image=hpcboot.sif -o job.sh
  DATA_DIR=$BATS_TEST_TMPDIR/far/mnist bash job.sh
  far=$(realpath "$BATS_TEST_TMPDIR/far")
  [[ $(head -n 1 log) == "apptainer <exec> <--nv> <--bind> <$PWD> <--bind> <$far/runs> <--bind> <$far/mnist> <hpcboot.sif> <build/bin/trainer>"* ]]
  grep -q "^trainer .*<--data> <$far/mnist> <--runs-dir> <$far/runs>" log
  rm log
  SLURM_JOB_ID=7 STAGE=1 DATA_DIR=far.h5 SLURM_TMPDIR=$PWD/local bash job.sh
  [[ $(head -n 1 log) == *" <--bind> <$PWD/local/hpcboot-data-7/far.h5> <hpcboot.sif>"* ]]
  rm log
  DATA_DIR=synthetic:9x3x4x4 bash job.sh
  [[ $(head -n 1 log) == "apptainer <exec> <--nv> <--bind> <$PWD> <--bind> <$far/runs> <hpcboot.sif>"* ]]
  # A program of one's own has the folder of submission.
  rm log
  script --site cc --job single --set container.image=hpcboot.sif --gpus-per-node 0 --program ./solver -o job.sh
  bash job.sh
  [[ $(head -n 1 log) == "apptainer <exec> <--bind> <$PWD> <hpcboot.sif> <build/bin/hpcboot> <exec> <--> <./solver>" ]]
}

@test "the manifest for Kubernetes is YAML with workers, GPUs, RDMA devices, folders and TensorBoard" {
  python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
  script --site kubernetes --job pytorchjob --nodes 3 --gpus-per-node 2 --set kubernetes.rdma_devices=1 \
    --set kubernetes.image=registry/x:1 -o "$BATS_TEST_TMPDIR/job.yaml"
  python3 - "$BATS_TEST_TMPDIR/job.yaml" <<'PY'
import sys, yaml
job, board = yaml.safe_load_all(open(sys.argv[1]))
assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "PyTorchJob")
assert job["spec"]["nprocPerNode"] == "2"
replicas = job["spec"]["pytorchReplicaSpecs"]
assert replicas["Master"]["replicas"] == 1 and replicas["Worker"]["replicas"] == 2
for replica in replicas.values():
    pod = replica["template"]["spec"]
    container, = pod["containers"]
    assert container["name"] == "pytorch" and container["image"] == "registry/x:1"
    limits = container["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == "2" and limits["rdma/rdma_shared_device_a"] == "1", limits
    assert container["args"][container["args"].index("--runs-dir") + 1] == "/runs"
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    assert set(mounts) == {v["name"] for v in pod["volumes"]} and mounts["runs"] == "/runs"
assert board["kind"] == "Deployment"
container, = board["spec"]["template"]["spec"]["containers"]
assert "--logdir=/runs" in container["command"]
PY
  script --site kubernetes --job pytorchjob --nodes 1 --gpus-per-node 0 -o "$BATS_TEST_TMPDIR/job.yaml"
  python3 - "$BATS_TEST_TMPDIR/job.yaml" <<'PY'
import sys, yaml
job, _ = yaml.safe_load_all(open(sys.argv[1]))
assert list(job["spec"]["pytorchReplicaSpecs"]) == ["Master"]
assert not any("gpu" in k for k in job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["resources"]["limits"])
PY
}
