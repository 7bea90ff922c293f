#!/usr/bin/env bats
# Job scripts: the committed scripts match the rendered ones, and the scripts work as documented.
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
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/none XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

teardown() { end_jobs; }

script() { "$HPCBOOT" script "$@"; }

# A folder like hpcboot's, whose programs log their command lines, one line per call. `hpcboot run` starts its program
# once.
enter_fakes() {
  mkdir -p "$BATS_TEST_TMPDIR"/work/{build/bin,data/mnist}
  cd "$BATS_TEST_TMPDIR/work" || return
  local program
  for program in build/bin/{trainer,hpcboot,runtable}; do
    printf '#!/bin/bash\n%s\n' 'name=$(basename "$0")
printf "%s" "$name" >>log; printf " <%s>" "$@" >>log; echo " SITE=$HPCBOOT_SITE" >>log
case $name in trainer) [ -z "$FAKE_TRAINER" ] || eval "$FAKE_TRAINER" ;;
hpcboot) [ -z "$FAKE_HPCBOOT" ] || eval "$FAKE_HPCBOOT"
  [ "$1" = run ] || exit 0
  while [ "$1" != -- ]; do shift; done
  shift
  [ ! -x "$1" ] || exec "$@" ;;
esac' >"$program"
    chmod +x "$program"
  done
}

@test "the committed scripts are what is rendered today" {
  mkdir "$BATS_TEST_TMPDIR/now"
  "$ROOT/jobscripts/render" "$HPCBOOT" "$BATS_TEST_TMPDIR/now"
  for file in "$BATS_TEST_TMPDIR"/now/*; do
    diff -u "$ROOT/jobscripts/$(basename "$file")" "$file" || { echo "do: jobscripts/render"; return 1; }
  done
  # No script remains of a removed site or job.
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
  [[ $output == *"one of cc, "*"write one of these, or create a profile of this name (hpcboot site probe)"* ]]
  run -0 script --site cc --job single --launcher mpirun
  [[ $output == *"note: --launcher has no effect: the job single runs one process"* ]]
  run -20 script --site cc --job ddp --time 2-00:00:00
  [[ $output == *"write 48:00:00"* ]]
  run ! script --site cc --job ddp --launcher ssh
  [[ $output == *"the launcher ssh with the scheduler slurm"* ]]
  run ! script --site cc --job ddp --set queue.nam=short
  [[ $output == *"write queue.name"* ]]
  run ! script --site cc --job ddp --set node.gpus=many
  [[ $output == *"a whole number"* ]]
  for arguments in '--job ddp' '--site cc' '--site cc --site-file x --job ddp' '--site cc --job ddp --set x' \
    '--site lab --job ddp --submit' '--site lab --job ddp --check'; do
    # shellcheck disable=SC2086 # a list of words
    run script $arguments
    echo "$arguments: $status $output"
    [ "$status" -eq 2 ]
  done
  mkdir "$BATS_TEST_TMPDIR/nothing"
  PATH=$BATS_TEST_TMPDIR/nothing run -30 script --site sockeye --job ddp --check
  [[ $output == *qstat* ]]
  printf 'description = 3\n' >"$BATS_TEST_TMPDIR/bad.toml"
  run -28 script --site-file "$BATS_TEST_TMPDIR/bad.toml" --job ddp
  [[ $output == *"bad.toml:1: description"* ]]
  run -42 script --site cc --job ddp -o "$BATS_TEST_TMPDIR/absent/x.sh"
  run -2 script --site cc --job ddp -o ""
  [[ $output == *"--output is ''; expected a path"* ]]
}

@test "options and --set reach the script" {
  run -0 script --site generic_slurm --job multinode_srun --nodes 3 --gpus-per-node 2 --time 00:30:00 --account me-1 \
    --mail me@example.org --set queue.name=gpu --set queue.requeue=false --set node.gpu_type=a100
  for line in --nodes=3 --ntasks-per-node=2 --gpus-per-node=a100:2 --time=00:30:00 --account=me-1 \
    --mail-user=me@example.org --partition=gpu --no-requeue; do
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
  # On stdout: the name of the shipped script if it is identical, else a name like it.
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
  # Permissions that the owner granted to others are kept.
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
  diff <(grep -v hpcboot= <<<"$output") <(grep -v hpcboot= "$ROOT/jobscripts/cc_ddp.sh" | sed "s/ (in hpcboot's folder)$//")
  [ ! -e - ]
  # For the checkout, or for this folder: they look for hpcboot in different places.
  diff <(grep -v hpcboot= through_pipe) <(grep -v hpcboot= <<<"${output//jobscripts\/cc_ddp.sh/pipe}")
}

@test "directives precede the first command, and placeholders in comments only" {
  for file in "$ROOT"/jobscripts/*.sh; do
    awk 'FNR == 1 { body = 0 } /^[^#]/ { body = 1 } body && /^#(SBATCH|PBS|BSUB|\$) / { exit 1 }' "$file"
    run ! grep -E '^#(SBATCH|PBS) .*(your|example)' "$file"
  done
}

@test "a user's own sites, by folder and by file" {
  mkdir -p "$BATS_TEST_TMPDIR/config/hpcboot/sites"
  sed 's/^description.*/description = "my cluster"/' "$ROOT/jobscripts/sites/generic_slurm.toml" \
    >"$BATS_TEST_TMPDIR/config/hpcboot/sites/mine.toml"
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
  script --list | grep -q '^mine .*my cluster'
  script --site mine --job ddp | grep -q 'on my cluster'
  script --site-file "$BATS_TEST_TMPDIR/config/hpcboot/sites/mine.toml" --job ddp | grep -q 'HPCBOOT_SITE=mine'
  HOME=$BATS_TEST_TMPDIR run ! env -u XDG_CONFIG_HOME "$HPCBOOT" script --site mine --job ddp
}

@test "site show prints a profile as it is, hpcboot's or one's own" {
  for file in "$ROOT"/jobscripts/sites/*.toml; do
    "$HPCBOOT" site show "$(basename "$file" .toml)" | diff "$file" -
  done
  export XDG_CONFIG_HOME=$GOLDEN/config
  "$HPCBOOT" site show own_sge | diff "$GOLDEN/config/hpcboot/sites/own_sge.toml" -
  run -20 "$HPCBOOT" site show vectro
  [[ $output == *"write vector"* ]]
  for arguments in '' show 'list cc' 'show cc vector'; do
    # shellcheck disable=SC2086 # a list of words
    run -2 "$HPCBOOT" site $arguments
  done
}

@test "--list names a user's broken profile, and lists all others" {
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

@test "a copy of the program alone, anywhere, has its sites, and names itself in its scripts" {
  mkdir -p "$BATS_TEST_TMPDIR/my programs" "$BATS_TEST_TMPDIR/work"
  cp "$HPCBOOT" "$BATS_TEST_TMPDIR/my programs"
  cd "$BATS_TEST_TMPDIR/work"
  copy="$BATS_TEST_TMPDIR/my programs/hpcboot"
  [ "$("$copy" script --list | grep -c ' slurm ')" -eq 4 ]
  "$copy" script --site lab --job ddp --program ./train.sh -o job.sh
  printf '#!/bin/sh\necho "I am rank $RANK of $WORLD_SIZE: $*"\n' >train.sh
  chmod +x train.sh
  run -0 bash job.sh --epochs 5
  [[ $output == *"I am rank 1 of 2: --epochs 5"* ]]
}

@test "scripts for the checkout look in build/bin, all others where the program lies that wrote them" {
  co=$BATS_TEST_TMPDIR/co
  mkdir -p "$co"/{jobscripts/sites,build/bin,build2/bin,mine} "$BATS_TEST_TMPDIR/elsewhere"
  cp "$HPCBOOT" "$co/build/bin"
  cp "$HPCBOOT" "$co/build2/bin"
  looks() { sed -n 's/^bin=${HPCBOOT_BIN_DIR:-\(.*\)} hpcboot=.*/\1/p'; }
  cd "$co"
  [ "$(build/bin/hpcboot script --site cc --job ddp | looks)" = build/bin ]
  build/bin/hpcboot script --site cc --job ddp -o mine/x.sh
  [ "$(looks <mine/x.sh)" = build/bin ]
  build/bin/hpcboot script --site cc --job ddp -o ../elsewhere/x.sh
  [ "$(looks <../elsewhere/x.sh)" = "$co/build/bin" ]
  [ "$(build2/bin/hpcboot script --site cc --job ddp | looks)" = "$co/build2/bin" ]
  cd ../elsewhere
  [ "$(../co/build/bin/hpcboot script --site cc --job ddp | looks)" = "$co/build/bin" ]
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
  diff "$BATS_TEST_TMPDIR/script" <(script --site cc --job ddp)
  [ ! -e "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/words")" ]
  script --site cc --job ddp --check -o "$BATS_TEST_TMPDIR/kept.sh"
  [ "$(cat "$BATS_TEST_TMPDIR/words")" = "--test-only $BATS_TEST_TMPDIR/kept.sh" ]
  printf '#!/bin/sh\necho "invalid partition" >&2; exit 1\n' >"$BATS_TEST_TMPDIR/fakes/sbatch"
  run -1 script --site cc --job ddp --check
  [[ $output == *"invalid partition"* ]]
  run -1 script --site cc --job ddp --submit
  [[ $output == *"invalid partition"*"the scheduler did not accept the job"*--check* ]]
  run -1 script --site cc --job ddp --check --set queue.options=--cpu-bind=cores
  [[ $output == *"of the script: sbatch has no option --cpu-bind; sbatch rejects the script: unrecognized option"$'\n'*"expected: a script without errors"$'\n'* ]]
  rm "$BATS_TEST_TMPDIR/fakes/sbatch"
  PATH=$BATS_TEST_TMPDIR/fakes run -30 script --site cc --job ddp --submit
}

@test "--check judges the partition that sbatch takes: by SBATCH_PARTITION, else queue.options, else queue.name" {
  local fakes=$BATS_TEST_TMPDIR/fakes
  mkdir "$fakes"
  printf '#!/bin/sh\n' >"$fakes/sbatch"
  cat >"$fakes/scontrol" <<'END'
#!/bin/sh
[ "$*" = '--oneliner show partition' ] || exit 1
echo 'PartitionName=debug Default=YES MaxNodes=UNLIMITED MaxTime=01:00:00 MinNodes=0 MaxCPUsPerNode=UNLIMITED State=UP TotalNodes=4 MaxMemPerNode=UNLIMITED'
echo 'PartitionName=gpu Default=NO MaxNodes=UNLIMITED MaxTime=7-00:00:00 MinNodes=0 MaxCPUsPerNode=UNLIMITED State=UP TotalNodes=4 MaxMemPerNode=UNLIMITED'
END
  chmod +x "$fakes/sbatch" "$fakes/scontrol"
  PATH=$fakes:$PATH
  unset SBATCH_PARTITION SBATCH_CLUSTERS SLURM_CLUSTERS
  set -- script --site generic_slurm --job ddp --time 24:00:00 --check
  run -1 "$@"
  [[ $output == *"at most 01:00:00 (scontrol show partition debug)"*"--set queue.name=… (gpu)"* ]]
  "$@" --set queue.name=gpu
  "$@" --set 'queue.options=-p gpu'
  run -1 "$@" --set queue.name=gpu --set queue.options=--partition=debug
  [[ $output == *"at most 01:00:00 (scontrol show partition debug)"*"--set queue.options=… (gpu)"* ]]
  SBATCH_PARTITION=gpu "$@"
  SBATCH_PARTITION=gpu "$@" --set queue.options=--partition=debug
  SBATCH_PARTITION=debug run -1 "$@" --set queue.name=gpu
  [[ $output == *"at most 01:00:00 (scontrol show partition debug)"*"SBATCH_PARTITION=… (gpu)"* ]]
}

@test "a signal reaches a scheduler that does not answer, and the script in /tmp is removed: --check, --submit, run --submit" {
  cd "$BATS_TEST_TMPDIR" || return
  mkdir fakes tmp
  local hangs number words code
  for hangs in --test-only --parsable; do
    printf '#!/bin/bash\nif [ "$1" = %s ]; then echo $$ >hung; exec sleep 300; fi\n' "$hangs" >fakes/sbatch
    printf '#!/bin/sh\nexit 1\n' >fakes/scontrol
    chmod +x fakes/sbatch fakes/scontrol
    for words in "script --site generic_slurm --job single --check" "script --site generic_slurm --job single --submit" \
      "run --submit --site generic_slurm --env PASSWORD=hush"; do
      case $hangs$words in *only*job*--submit | *parsable*--check) continue ;; esac
      if [[ $words = run* ]]; then words+=" -- true"; fi
      for number in INT TERM HUP; do
        rm -f hung
        # shellcheck disable=SC2086
        PATH=$PWD/fakes:$PATH TMPDIR=$PWD/tmp env --default-signal="$number" "$HPCBOOT" $words >said 2>&1 &
        await test -s hung
        [ -n "$(ls tmp)" ]
        kill "-$number" $!
        code=0
        wait $! || code=$?
        [ "$code" -eq $((128 + $(kill -l "$number"))) ] || fail "$hangs $words: exit code $code: $(cat said)"
        [ -z "$(ls tmp)" ] || fail "$hangs $words: $(ls tmp)"
        if kill -0 "$(cat hung)"; then fail "$hangs $words: sbatch is left"; fi
        [ "$hangs" = --test-only ] || grep -q "interrupted while the job was submitted" said
      done
    done
  done
}

@test "a second signal ends a scheduler that ignores the first" {
  cd "$BATS_TEST_TMPDIR" || return
  mkdir fakes
  printf '#!/bin/bash\ntrap "touch told" TERM\necho $$ >hung\nwhile :; do sleep 0.1; done\n' >fakes/sbatch
  chmod +x fakes/sbatch
  PATH=$PWD/fakes:$PATH "$HPCBOOT" script --site generic_slurm --job single --submit 3>&- &
  await test -s hung
  kill $!
  await test -e told
  kill $!
  local code=0
  wait $! || code=$?
  [ "$code" -eq 143 ]
  if kill -0 "$(cat hung)"; then fail "sbatch is left"; fi
}

@test "-o replaces what hpcboot has written, as a whole, and nothing else" {
  cd "$BATS_TEST_TMPDIR" || return
  echo 'my program' >train.py
  run -42 script --site cc --job ddp -o train.py
  [[ $output == *"train.py is there, and hpcboot has not written it"*"name another file"* ]]
  [ "$(cat train.py)" = 'my program' ]
  script --site cc --job array -o job.sh
  chmod 700 job.sh
  ln -s job.sh link.sh
  script --site cc --job ddp -o link.sh
  [ -L link.sh ]
  [ "$(stat -c %a job.sh)" = "$(printf '%o' $((0700 | 0111 & ~$(umask))))" ]
  cp job.sh before
  (ulimit -f 1; run -42 script --site cc --job array -o job.sh; [[ $output == *"job.sh: File too large"* ]])
  cmp before job.sh
  [ "$(echo job.sh*)" = job.sh ]
  # The mark, quoted.
  echo 'print("# Written by `hpcboot script`")' >quotes.py
  run -42 script --site cc --job ddp -o quotes.py
  [[ $output == *"quotes.py is there, and hpcboot has not written it"* ]]
  grep -q print quotes.py
  ln -s absent dangling.sh
  run -42 script --site cc --job ddp -o dangling.sh
  [[ $output == *"dangling.sh is a link to a file that is missing"* ]]
  [ -L dangling.sh ]
  : >empty.sh
  script --site cc --job ddp -o empty.sh
  [ -s empty.sh ]
  run -42 script --site cc --job ddp -o absent/x.sh
  [[ $output == *"absent/x.sh: No such file or directory"* ]]
}

@test "-o leaves a file that it cannot read" {
  cd "$BATS_TEST_TMPDIR" || return
  local unprivileged=()
  [ "$(id -u)" -ne 0 ] || unprivileged=(setpriv --bounding-set=-all)
  echo 'my program' >secret.sh
  chmod 200 secret.sh
  run -42 "${unprivileged[@]}" "$HPCBOOT" script --site cc --job ddp -o secret.sh
  [[ $output == *"secret.sh is there, and cannot be read: Permission denied"* ]]
  chmod 600 secret.sh
  [ "$(cat secret.sh)" = 'my program' ]
}

# made OPTION…: the script that `run --submit` would submit.
made() { "$HPCBOOT" run --submit --dry-run "$@"; }

@test "run --submit: the script of every scheduler is bash, clean for lint, and keeps every word of the command" {
  cd "$BATS_TEST_TMPDIR" || return
  local site nodes
  sed 's/^scheduler = .*/scheduler = "torque"/' "$ROOT/jobscripts/sites/generic_pbs.toml" >torque.toml
  sed 's/^scheduler = .*/scheduler = "lsf"/' "$ROOT/jobscripts/sites/generic_pbs.toml" >lsf.toml
  for site in cc vector sockeye sockeye_slurm polaris generic_slurm generic_pbs generic_sge torque lsf; do
    for nodes in 1 3; do
      if [ -e "$site.toml" ]; then set -- --site-file "$site.toml"; else set -- --site "$site"; fi
      made "$@" --nodes "$nodes" --output-dir 'an out' --env A="x y'z" --silence 60 --stage 'a b' -- \
        python3 train.py --name "it's \$HOME" $'two\nlines' '{staged}' >made.sh
      bash -n made.sh
      "$HPCBOOT" lint --strict made.sh
      # The last command as bash parses it; hpcboot is a fake.
      mkdir -p bin
      printf '#!/bin/bash\nprintf "<%%s>" "$@" >>words; echo >>words; printf "A=%%s\\n" "$A" >given\n' >bin/hpcboot
      chmod +x bin/hpcboot
      rm -f words
      env -u MODULEPATH HPCBOOT_BIN_DIR="$PWD/bin" PBS_JOBID=1 LSB_JOBID=1 bash made.sh
      tail -n 2 words | tr '\n' ' ' >last
      grep -F "<--output-dir><an out><--stage><a b><--silence><60><--env><A><--></" last || { cat words && return 1; }
      grep -qx "A=x y'z" given
      grep -F "python3><train.py><--name><it's \$HOME><two lines><{staged}>" last || { cat words && return 1; }
      [ "$nodes" = 1 ] || head -n 1 words | grep -F '><check>'
      grep -c . words | grep -qx "$((nodes == 1 ? 2 : 3))"
    done
  done
}

@test "run --submit: neither a value of --env nor a word of the command makes a directive, controls the terminal, or shows a secret" {
  cd "$BATS_TEST_TMPDIR" || return
  local site hostile=$'a\n#$ -pe evil 999\n#BSUB -q evil\n\e[31m\u202e'
  sed 's/^scheduler = .*/scheduler = "lsf"/' "$ROOT/jobscripts/sites/generic_pbs.toml" >lsf.toml
  for site in generic_sge generic_pbs cc lsf; do
    if [ -e "$site.toml" ]; then set -- --site-file "$site.toml"; else set -- --site "$site"; fi
    made "$@" --env NOTE="$hostile" --env API_KEY=hunter2 --env "PATH=/x:$hostile" --chdir "$hostile" -- echo "$hostile" >made.sh
    run -1 grep -aE '^#(\$|BSUB).*evil' made.sh
    run -1 grep -aP '\e|\x{202e}' made.sh
    [ "$(grep -c hunter2 made.sh)" = 1 ] # not in the comment that says how it was made
    grep -q '^NOTE=.* API_KEY=hunter2 exec "$hpcboot" run.* --env NOTE --env API_KEY --env ' made.sh
    # What follows the check of the hosts, with a fake hpcboot: the values are unchanged.
    mkdir -p bin
    # shellcheck disable=SC2016 # for the fake
    printf '%s\n' '#!/bin/bash' 'printf "%s" "$NOTE" >note; printf "%s" "${@: -1}" >word; [[ "$*" != *hunter2* ]]' >bin/hpcboot
    chmod +x bin/hpcboot
    env -u MODULEPATH HPCBOOT_BIN_DIR="$PWD/bin" PBS_JOBID=1 LSB_JOBID=1 JOB_ID=1 bash made.sh
    [ "$(cat note)" = "$hostile" ]
    [ "$(cat word)" = "$hostile" ]
  done
  run -2 made --site cc --env 'A B=1' -- true
  [[ $output == *"expected NAME or NAME=VALUE"* ]]
}

@test "run --submit: ranks, nodes and GPUs go together; what does not go with it is said" {
  cd "$BATS_TEST_TMPDIR" || return
  directives() { made --site cc "$@" -- true | sed -n 's/^#SBATCH --\(nodes\|ntasks-per-node\|gpus-per-node\)=//p' | tr '\n' ' '; }
  [ "$(directives)" = '1 4 h100:4 ' ]
  [ "$(directives -n 1)" = '1 1 h100:1 ' ]
  [ "$(directives -n 2)" = '1 2 h100:2 ' ]
  [ "$(directives -n 8)" = '2 4 h100:4 ' ]
  [ "$(directives --nodes 3 --ranks-per-node 2)" = '3 2 h100:2 ' ]
  [ "$(directives --nodes 3 --ranks-per-node gpu)" = '3 4 h100:4 ' ]
  [ "$(directives -n 6 --ranks-per-node 2)" = '3 2 h100:2 ' ]
  [ "$(directives --ranks-per-node 8 --gpus-per-node 0)" = '1 8 ' ]
  local words
  for words in '-n 5' '-n 6 --nodes 4' '-n 6 --nodes 2 --ranks-per-node 2' '--ranks-per-node numa' '--hostfile h' '--name 1a' \
    '--torchrun --launcher srun' '--site lab' '--env ABSENT_HERE' '--set x'; do
    # shellcheck disable=SC2086
    run -2 made --site cc $words -- true
  done
  run -2 "$HPCBOOT" run --site cc -- true
  [[ $output == *'--site needs --submit'* ]]
  run -20 made --site cc --time 3 -- true
  run -20 made --site cc --launcher qrsh -- true
  run -20 made --site cc --set queue.nme=x -- true
  [[ $output == *queue.name* ]]
  # Modules may replace a system program; a program of a virtual environment stays the same.
  mkdir venv
  printf '#!/bin/sh\n' >venv/env
  chmod +x venv/env
  PATH=/usr/bin:/bin made --site cc -- env X | grep -q ' run -- env X$'
  PATH=/usr/bin:/bin made --site generic_slurm -- env X | grep -q ' run -- /usr/bin/env X$'
  PATH=$PWD/venv:/usr/bin:/bin made --site cc -- env X | grep -q " run -- $PWD/venv/env X\$"
  # The job name: for an interpreter, the script that it runs.
  named() { made --site cc "$@" | sed -n 's/^#SBATCH --job-name=//p'; }
  [ "$(named -- python3 -u src/train.py)" = train.py ]
  [ "$(named -- ./0build/my_program+x)" = my_programx ]
  [ "$(named -- sh -c 'echo a; b')" = sh ]
  [ "$(named --name abc -- sh)" = abc ]
}

@test "a script is short: directives, modules, a folder and a line that starts the ranks" {
  for file in "$ROOT"/jobscripts/*.sh; do
    wc -l "$file"
    [ "$(wc -l <"$file")" -le 45 ]
  done
}

@test "hpcboot is looked for in HPCBOOT_BIN_DIR or build/bin, then in PATH; else how to build it is said" {
  cd "$BATS_TEST_TMPDIR"
  PATH=/usr/bin:/bin run -1 bash "$ROOT/jobscripts/cc_single.sh"
  [ "$output" = "no hpcboot in build/bin or PATH: submit from hpcboot's folder after building it: bash jobscripts/build cc" ]
  enter_fakes
  mkdir elsewhere
  mv build/bin elsewhere/bin
  HPCBOOT_BIN_DIR=elsewhere/bin bash "$ROOT/jobscripts/cc_single.sh"
  PATH=$PWD/elsewhere/bin:$PATH bash "$ROOT/jobscripts/cc_single.sh"
  ln -s elsewhere/bin/hpcboot hpcboot # the trainer is next to the target of the link
  PATH=$PWD:$PATH bash "$ROOT/jobscripts/cc_single.sh"
  [ "$(grep -o '<--> <[^>]*>' log | uniq)" = "<--> <elsewhere/bin/trainer>
<--> <$(realpath elsewhere)/bin/trainer>" ]
  mkdir -p folder/hpcboot
  HPCBOOT_BIN_DIR=$PWD/folder PATH=/usr/bin:/bin run -1 bash "$ROOT/jobscripts/cc_single.sh"
  [[ $output == "no hpcboot in $PWD/folder or PATH: "* ]]
}

@test "jobscripts/build does what the profile says, as every profile of hpcboot can be read, and stops at a failure" {
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/own
  mkdir -p "$XDG_CONFIG_HOME/hpcboot/sites"
  printf '%s\n' '[build]' 'commands = [' '  "where=\"$PWD/x y\"", # as the next shows' '  "echo $where",' '  "false",' '  "echo no",' ']' \
    >"$XDG_CONFIG_HOME/hpcboot/sites/mine.toml"
  run -1 bash "$ROOT/jobscripts/build" mine
  [ "$output" = "==> where=\"\$PWD/x y\"
==> echo \$where
$(realpath "$ROOT")/x y
==> false" ]
  printf '%s\n' '[build]' 'commands = [' '  "echo one",' '  # a comment' '    "echo two"' ']' >"$XDG_CONFIG_HOME/hpcboot/sites/mine.toml"
  run -0 bash "$ROOT/jobscripts/build" mine
  [[ $output == *$'\ntwo' ]]
  for list in $'[\n  \'echo one\',\n]' $'[\n  "echo", "one",\n]' '["echo one"]'; do
    printf '[build]\ncommands = %s\n' "$list" >"$XDG_CONFIG_HOME/hpcboot/sites/mine.toml"
    run -1 bash "$ROOT/jobscripts/build" mine
    [[ $output == *"on one line each, in double quotes; found: "* ]]
  done
  printf '[build]\nmodules = []\n' >"$XDG_CONFIG_HOME/hpcboot/sites/mine.toml"
  run -1 bash "$ROOT/jobscripts/build" mine
  [[ $output == *"mine.toml has no build.commands; "* ]]
  for file in "$ROOT"/jobscripts/sites/*.toml; do
    [ "$(grep -c '^  "' "$file")" -eq "$(grep -cE '^  "([^"\\]|\\")*",( #.*)?$' "$file")" ]
  done
  run -2 bash "$ROOT/jobscripts/build" absent
  [[ $output == *"one of cc generic_pbs "*", or a site of your own; "* ]]
  run -0 bash "$ROOT/jobscripts/build" --help
  [[ $output == *"site's modules"*"  bash jobscripts/build cc "* ]]
}

@test "Slurm: the ranks are those that were asked for; the user's options come last" {
  enter_fakes
  mkdir "with space"
  mv build data "with space"
  cd "with space" && export SLURM_SUBMIT_DIR=$PWD
  TRAINER_ARGS="--epochs 5  --lr 1e-2" bash "$ROOT/jobscripts/cc_ddp.sh" --comment "two words"
  [ "$(sed -n 1p log)" = "hpcboot <run> <--requeue> <--> <build/bin/trainer> <--mode> <ddp> <--data> <data/mnist> <--runs-dir> <runs> <--resume> <auto> <--epochs> <5> <--lr> <1e-2> <--comment> <two words> SITE=cc" ]
  bash "$ROOT/jobscripts/cc_single.sh"
  [[ $(tail -n 2 log | head -n 1) == "hpcboot <run> <--requeue> <-n> <1> <--> <build/bin/trainer> <--mode> <single>"* ]]
}

@test "a task and a --config file have data of their own, unless DATA_DIR names others" {
  enter_fakes
  bash "$ROOT/jobscripts/cc_ddp.sh" --task cifar
  grep -q '<--mode> <ddp> <--runs-dir> .*<--task> <cifar>' log
  TRAINER_ARGS="--task transformer" bash "$ROOT/jobscripts/lab_ddp.sh"
  tail -n 2 log | grep -q '<--mode> <ddp> <--runs-dir> .*<--task> <transformer>'
  bash "$ROOT/jobscripts/cc_ddp.sh" --config b.cfg
  tail -n 2 log | grep -q '<--mode> <ddp> <--runs-dir> .*<--config> <b.cfg>'
  DATA_DIR=set.h5 bash "$ROOT/jobscripts/cc_ddp.sh" --task transformer
  tail -n 2 log | grep -q '<--data> <set.h5> .*<--task> <transformer>'
  rm log
  "$HPCBOOT" script --site cc --job ddp --task cifar >task.sh
  HPCBOOT_BIN_DIR=build/bin bash task.sh
  grep -q '<--mode> <ddp> <--task> <cifar> <--runs-dir>' log
  run --separate-stderr "$HPCBOOT" script --site cc --job ddp --task cifar --program python
  [[ $stderr == *"--task has no effect: the script starts python"* ]]
  run "$HPCBOOT" script --site cc --job ddp --task $'a\nb'
  [ "$status" -ne 0 ]
  run script --site cc --job ddp --task ""
  [ "$status" -eq 2 ]
  [[ $output == *"--task is empty"* ]]
}

@test "TRAINER_ARGS are words, not patterns, and keep their commas" {
  enter_fakes
  touch star
  TRAINER_ARGS='--comment * --betas 0.9,0.99' bash "$ROOT/jobscripts/cc_single.sh"
  grep -q '<--comment> <\*> <--betas> <0.9,0.99>' log
}

@test "modules are loaded if there are any, also by functions that use unset variables" {
  enter_fakes
  # shellcheck disable=SC2154 # that it is not set is the point
  module() { echo "module $* $not_set" >>log; }
  export -f module
  bash "$ROOT/jobscripts/polaris_single.sh"
  [ "$(head -n 2 log)" = $'module use /soft/modulefiles \nmodule load PrgEnv-gnu cudatoolkit-standalone ' ]
  module() { return 1; }
  rm log
  run -1 bash "$ROOT/jobscripts/polaris_single.sh"
  [ ! -e log ]
}

@test "a check goes before a run on several nodes; if it fails there is no run" {
  enter_fakes
  bash "$ROOT/jobscripts/generic_slurm_multinode_srun.sh"
  [ "$(grep -v '^trainer' log | cut -d' ' -f1-5)" = $'hpcboot <run> <--> <build/bin/hpcboot> <check>\nhpcboot <check> SITE=generic_slurm\nhpcboot <run> <--requeue> <--> <build/bin/trainer>' ]
  rm log
  FAKE_HPCBOOT='[[ $1 != check ]] || exit 32' run -32 bash "$ROOT/jobscripts/generic_slurm_multinode_srun.sh"
  run ! grep -q '^trainer' log
}

@test "PBS: as many ranks as mpiprocs says, or RANKS_PER_NODE; of whole nodes too" {
  enter_fakes
  export PBS_O_WORKDIR=$PWD
  bash "$ROOT/jobscripts/sockeye_multinode_mpirun.sh"
  [ "$(grep -c '^hpcboot <run> <--launcher> <mpirun> <--> <build/bin/hpcboot> <check>\|^hpcboot <run> <--requeue> <--launcher> <mpirun> <--> <build/bin/trainer>' log)" -eq 2 ]
  RANKS_PER_NODE=2 bash "$ROOT/jobscripts/sockeye_ddp.sh"
  grep -q '^hpcboot <run> <--requeue> <--ranks-per-node> <2> <--> ' log
  bash "$ROOT/jobscripts/polaris_multinode_mpirun.sh"
  grep -q '^hpcboot <run> <--requeue> <--launcher> <pals> <--> ' log
  grep -qx '#PBS -l select=2:mpiprocs=4:system=polaris' "$ROOT/jobscripts/polaris_multinode_mpirun.sh"
}

@test "Grid Engine, LSF and Torque, whose slots are not ranks; a hostfile of machines without a scheduler" {
  enter_fakes
  export XDG_CONFIG_HOME=$GOLDEN/config
  for site in own_sge own_lsf own_torque; do
    script --site $site --job multinode_mpirun -o $site.sh
    HPCBOOT_BIN_DIR=build/bin bash $site.sh
  done
  [ "$(grep -o '^hpcboot <run> <--warn> .* <build/bin/trainer>' log)" = "hpcboot <run> <--warn> <120> <--launcher> <mpirun> <--> <build/bin/trainer>
hpcboot <run> <--warn> <120> <--ranks-per-node> <4> <--launcher> <mpirun> <--env> <OMP_NUM_THREADS=4> <--> <build/bin/trainer>
hpcboot <run> <--warn> <120> <--ranks-per-node> <4> <--launcher> <mpirun> <--> <build/bin/trainer>" ]
  bash "$ROOT/jobscripts/lab_multinode_mpirun.sh"
  HOSTFILE=mine RANKS_PER_NODE=3 bash "$ROOT/jobscripts/lab_multinode_mpirun.sh"
  [ "$(grep -o '<run> <--hostfile> .* <build/bin/trainer>' log)" = "<run> <--hostfile> <setup/hosts.txt> <--> <build/bin/trainer>
<run> <--hostfile> <mine> <--ranks-per-node> <3> <--> <build/bin/trainer>" ]
}

@test "Grid Engine: requests count for each slot, and the parallel environment is one of a host or of several" {
  requests() { script --site generic_sge "$@" | grep -E '^#\$ -(pe|l gpu|l h_vmem)' | tr '\n' ' '; }
  [ "$(requests --job ddp)" = '#$ -pe smp 4 #$ -l gpu=1 ' ]
  [ "$(requests --job dp)" = '#$ -pe smp 4 #$ -l gpu=1 ' ]
  [ "$(requests --job single)" = '#$ -l gpu=1 ' ]
  [ "$(requests --job multinode_mpirun --nodes 3)" = '#$ -pe mpi 12 #$ -l gpu=1 ' ]
  [ "$(requests --job ddp --gpus-per-node 0 --set node.memory_gb=64)" = '#$ -pe smp 32 #$ -l h_vmem=2048M ' ]
  script --site generic_sge --job ddp --set node.gpu_type=ngpus | grep -qx '#$ -l ngpus=1'
  run -20 script --site generic_sge --job ddp --ranks-per-node 8
  [[ $output == *"at most one rank per GPU"* ]]
}

@test "hpcboot run takes the numbers of the scripts, as each scheduler grants them" {
  enter_fakes
  export XDG_CONFIG_HOME=$GOLDEN/config
  printf '#!/bin/bash\nexec "%s" run --dry-run "${@:2}"\n' "$HPCBOOT" >build/bin/hpcboot
  printf '#!/bin/sh\necho "mpiexec version 1.2.12, PALS revision 1"\n' >mpiexec
  printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' >mpirun
  chmod +x mpiexec mpirun
  export PATH=$PWD:$PATH HPCBOOT_BIN_DIR=build/bin
  for host in n1 n2; do for _ in 1 2 3 4; do echo $host; done; done >four
  for host in n1 n2; do for _ in {1..16}; do echo $host; done; done >sixteen
  printf '%s\n' 'n1 4 gpu.q UNDEFINED' 'n2 4 gpu.q UNDEFINED' >slots
  for site in own_torque own_lsf generic_sge; do script --site $site --job multinode_mpirun -o $site.sh; done
  # The last line of the plan is for the training, not for the check.
  planned() { bash "$@" | tee plan; }
  PBS_JOBID=1.polaris-pbs-01 PBS_NODEFILE=$PWD/four NCPUS=64 planned "$ROOT/jobscripts/polaris_multinode_mpirun.sh"
  [ "$(grep -c 'mpiexec -n 8 --ppn 4 --depth 16 ' plan)" -eq 2 ]
  PBS_JOBID=1.pbs PBS_NODEFILE=$PWD/four NCPUS=24 planned "$ROOT/jobscripts/sockeye_multinode_mpirun.sh"
  grep -q 'mpirun -np 8 ' plan
  PBS_JOBID=1.pbs PBS_NODEFILE=$PWD/four NCPUS=24 RANKS_PER_NODE=8 planned "$ROOT/jobscripts/sockeye_multinode_mpirun.sh"
  grep -q 'mpirun -np 16 ' plan
  PBS_JOBID=1.pbs PBS_NODEFILE=$PWD/sixteen PBS_NUM_PPN=16 planned own_torque.sh
  grep -q 'mpirun -np 8 ' plan
  grep -q 'OMP_NUM_THREADS=4' plan
  JOB_ID=1 PE_HOSTFILE=$PWD/slots NSLOTS=8 NHOSTS=2 SGE_CELL=x planned generic_sge.sh
  grep -q 'mpirun -np 8 ' plan
  LSB_JOBID=1 LSB_MCPU_HOSTS="n1 4 n2 4" planned own_lsf.sh
  grep -q 'mpirun -np 8 ' plan
  grep -q 'OMP_NUM_THREADS=4' plan
}

@test "the exit code is the training's" {
  enter_fakes
  export FAKE_TRAINER='exit 44'
  run -44 bash "$ROOT/jobscripts/cc_single.sh"
}

@test "compare goes on after a method that failed, and ends with the table" {
  enter_fakes
  export FAKE_TRAINER='[[ "$*" != *single* ]] || exit 44'
  SLURM_JOB_ID=12 SLURM_CPUS_ON_NODE=64 run -44 bash "$ROOT/jobscripts/cc_compare.sh" --epochs 2
  [[ $output == *"== single -n 1"*"== ddp --launcher mpirun"* ]]
  [ "$(grep '^hpcboot' log | sed 's/ <--> .*//')" = "hpcboot <run> <--warn> <120> <-n> <1>
hpcboot <run> <--warn> <120> <-n> <1> <--env> <OMP_NUM_THREADS=64> <--launcher-args> <--cpus-per-task=64>
hpcboot <run> <--warn> <120> <--nodes> <1>
hpcboot <run> <--warn> <120>
hpcboot <run> <--warn> <120> <--launcher> <mpirun>" ]
  [ "$(grep -c '^trainer .*<--runs-dir> <runs/compare_12> <--epochs> <2>' log)" -eq 5 ]
  [[ $(tail -n 1 log) == "runtable <runs/compare_12>"* ]]
  # A run that stopped cleanly, as before the end of the walltime, is the last one.
  rm log
  FAKE_TRAINER='exit 46' run -46 bash "$ROOT/jobscripts/cc_compare.sh"
  [ "$(grep -c '^trainer' log)" -eq 1 ]
}

@test "compare, cancelled: what trains is told and saves itself, and nothing follows" {
  enter_fakes
  cp "$HPCBOOT" build/bin/hpcboot
  export FAKE_TRAINER='trap "echo saved >>log; exit 46" TERM; touch started; while :; do sleep 0.1; done'
  bash "$ROOT/jobscripts/lab_compare.sh" &
  job=$!
  await test -e started
  kill -TERM "$job"
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 46 ]
  [ "$(grep -c '^trainer' log)" -eq 1 ]
  grep -q '^saved$' log
  # Ctrl-C, with a program that saves nothing.
  rm log started
  export FAKE_TRAINER='touch started; exec sleep 60'
  env --default-signal=INT setsid bash "$ROOT/jobscripts/lab_compare.sh" &
  job=$!
  await test -e started
  kill -INT -- "-$(ps -o pgid= -p "$job" | tr -d ' ')"
  code=0
  wait "$job" || code=$?
  [ "$code" -ne 0 ]
  [ "$(grep -c '^trainer' log)" -eq 1 ]
}

@test "an array's task takes its own options; one without options is an error" {
  enter_fakes
  for task in 0 1 2; do SLURM_ARRAY_TASK_ID=$task bash "$ROOT/jobscripts/cc_array.sh"; done
  [ "$(grep -o '^trainer.*<--lr> <[^>]*>' log | grep -o '<--comment> .*' | tr '\n' ' ')" = "<--comment> <task 0> <--lr> <1e-3> <--comment> <task 1> <--lr> <3e-4> <--comment> <task 2> <--lr> <1e-4> " ]
  SLURM_ARRAY_TASK_ID=3 run ! bash "$ROOT/jobscripts/cc_array.sh"
  [[ $output == *"no options for task 3"* ]]
  export XDG_CONFIG_HOME=$GOLDEN/config
  for site in own_sge own_lsf; do
    script --site $site --job array -o $site.sh
    rm log
    HPCBOOT_BIN_DIR=build/bin SGE_TASK_ID=3 LSB_JOBINDEX=3 bash $site.sh
    grep -q '^trainer .*<--comment> <task 2> <--lr> <1e-4>' log
  done
  rm log # the word of Grid Engine for a job that is no array
  HPCBOOT_BIN_DIR=build/bin SGE_TASK_ID=undefined bash own_sge.sh
  grep -q '^trainer .*<--comment> <task 0> <--lr> <1e-3>' log
  rm log
  TRAINER_ARGS=$'--epochs 5\n  --lr 2e-3\n' bash "$ROOT/jobscripts/cc_ddp.sh"
  grep -q '^trainer .*<--epochs> <5> <--lr> <2e-3> SITE' log
  # Each task has its own output file.
  grep -qx '#BSUB -o %J_%I.out' own_lsf.sh
}

@test "a job that may start again is queued again by run; another is warned alone" {
  again() { grep -oE ' run( --(requeue|warn 120))?' <<<"$(script "$@" | tail -n 3)" | tail -n 1; }
  [ "$(again --site cc --job ddp)" = " run --requeue" ]
  [ "$(again --site cc --job ddp --set queue.requeue=false)" = " run --warn 120" ]
  [ "$(again --site lab --job ddp)" = " run" ]
  [ "$(again --site cc --job ddp --program ./solver)" = " run" ]
  # `run` keeps its own clock: no scheduler is asked to send a signal.
  run ! grep -rlE -- '--signal|-wa USR1|s_rt=' "$ROOT/jobscripts" --include=*.sh
}

@test "a user's own program gets its arguments, in a sweep those of the task too, and nothing of the trainer's" {
  enter_fakes
  script --site generic_slurm --job single --program ./solver -o job.sh
  HPCBOOT_BIN_DIR=build/bin TRAINER_ARGS="--fast" bash job.sh train.py --epochs 5
  [ "$(grep '^hpcboot' log)" = "hpcboot <run> <-n> <1> <--> <./solver> <--fast> <train.py> <--epochs> <5> SITE=generic_slurm" ]
  rm log
  script --site generic_slurm --job array --program ./solver -o job.sh
  HPCBOOT_BIN_DIR=build/bin SLURM_ARRAY_TASK_ID=1 bash job.sh train.py --epochs 5
  [[ $(cat log) == "hpcboot <run> <-n> <1> <--> <./solver> <--lr> <3e-4> <train.py> <--epochs> <5> "* ]]
  rm log
  script --site generic_slurm --job multinode_srun --launcher torchrun --program train.py -o job.sh
  HPCBOOT_BIN_DIR=build/bin bash job.sh --epochs 5
  [[ $(tail -n 1 log) == "hpcboot <run> <--torchrun> <--> <train.py> <--epochs> <5> "* ]]
}

@test "compare and a command line of several words are refused as a program" {
  run -20 script --site cc --job compare --program ./solver
  [[ $output == *"the job compare with --program ./solver"*"omit --program"* ]]
  run -20 script --site cc --job ddp --program "python train.py"
  [[ $output == *"one word"*"write --program python"*"sbatch p.sh train.py"* ]]
  run -0 script --help
  [[ $output == *"--launcher srun --program python"*"sbatch p.sh train.py"* ]]
}

@test "runs go to scratch if the folder of submission cannot be written" {
  enter_fakes
  export SCRATCH=$PWD/scratch RUNS_DIR=/proc/nowhere
  bash "$ROOT/jobscripts/cc_single.sh"
  grep -q "<--runs-dir> <$PWD/scratch/hpcboot/runs>" log
  run -0 bash "$ROOT/jobscripts/cc_single.sh"
  [[ $output == "runs go to $PWD/scratch/hpcboot/runs"* ]]
}

@test "STAGE=1 hands the data to run --stage: a folder, a file with a space, and no synthetic data" {
  enter_fakes
  STAGE=1 bash "$ROOT/jobscripts/cc_single.sh"
  grep -q '^hpcboot .*<--stage> <data/mnist> <--> .*<--data> <{staged}>' log
  rm log
  echo 4 >"a set.h5"
  STAGE=1 DATA_DIR="a set.h5" bash "$ROOT/jobscripts/cc_single.sh"
  grep -q '^hpcboot .*<--stage> <a set.h5> <--> .*<--data> <{staged}>' log
  rm log
  STAGE=1 DATA_DIR=synthetic:9x3x4x4 bash "$ROOT/jobscripts/cc_single.sh"
  grep -q '^hpcboot <run> <--requeue> <-n> <1> <--> .*<--data> <synthetic:9x3x4x4>' log
  # A task has data of its own, which the script does not know.
  STAGE=1 run bash "$ROOT/jobscripts/cc_single.sh" --task cifar
  [ "$status" -ne 0 ]
  [[ $output == *"STAGE=1 copies DATA_DIR, which is not set"* ]]
  # On a site with a local disk for staged data.
  grep -q '^export .*HPCBOOT_STAGE_DIR="${HPCBOOT_STAGE_DIR:-/local/scratch}"' "$ROOT/jobscripts/polaris_ddp.sh"
}

@test "a container sees the data, the runs and what is staged, wherever they are" {
  enter_fakes
  mkdir -p "$BATS_TEST_TMPDIR"/far/{mnist,runs}
  ln -s "$BATS_TEST_TMPDIR/far/runs" runs
  touch hpcboot.sif far.h5
  script --site cc --job single --set container.image=hpcboot.sif -o job.sh
  export HPCBOOT_BIN_DIR=build/bin
  DATA_DIR=$BATS_TEST_TMPDIR/far/mnist bash job.sh
  far=$(realpath "$BATS_TEST_TMPDIR/far")
  [[ $(head -n 1 log) == *" <--> <apptainer> <exec> <--nv> <--bind> <$PWD,$PWD/build,$far/runs,$far/mnist> <hpcboot.sif> <$PWD/build/bin/trainer> <--mode> <single> <--data> <$far/mnist> <--runs-dir> <$far/runs> "* ]]
  rm log
  STAGE=1 DATA_DIR=far.h5 bash job.sh
  [[ $(head -n 1 log) == *" <--stage> <$PWD/far.h5> <--> <apptainer> <exec> <--nv> <--bind> <$PWD,$PWD/build,$far/runs,$PWD/far.h5,{staged}> "*" <--data> <{staged}> "* ]]
  rm log
  DATA_DIR=synthetic:9x3x4x4 bash job.sh
  [[ $(head -n 1 log) == *" <--bind> <$PWD,$PWD/build,$far/runs> <hpcboot.sif>"* ]]
  # The check runs before the data is copied: no staged folder.
  rm log
  script --site cc --job multinode_srun --set container.image=hpcboot.sif -o job.sh
  STAGE=1 bash job.sh
  [[ $(head -n 1 log) == *" <--bind> <$PWD,$PWD/build> <hpcboot.sif> <$PWD/build/bin/hpcboot> <check>"* ]]
  # A user program sees the submission folder.
  rm log
  script --site cc --job single --set container.image=hpcboot.sif --gpus-per-node 0 --program ./solver -o job.sh
  bash job.sh
  [[ $(head -n 1 log) == "hpcboot <run> <-n> <1> <--> <apptainer> <exec> <--bind> <$PWD,$PWD/build> <hpcboot.sif> <./solver> "* ]]
}

@test "a container sees what lies beside bin, wherever hpcboot is installed" {
  enter_fakes
  far=$(realpath "$BATS_TEST_TMPDIR")/far
  mkdir -p "$far/1.2" "$far/single"
  cp -r build/bin "$far/1.2"
  cp build/bin/* "$far/single"
  ln -s 1.2 "$far/link"
  mkdir tools
  ln -s "$far/link/bin/hpcboot" tools
  rm -r build
  script --site cc --job single --set container.image=hpcboot.sif -o job.sh
  binds() { [[ $(head -n 1 log) == *" <--bind> <$PWD,$1,$PWD/runs,$PWD/data/mnist> <hpcboot.sif> <$2/trainer> "* ]] && rm log; }
  HPCBOOT_BIN_DIR=$far/link/bin bash job.sh
  binds "$far/1.2" "$far/1.2/bin"
  HPCBOOT_BIN_DIR=$far/single bash job.sh
  binds "$far/single" "$far/single"
  HPCBOOT_BIN_DIR=tools bash job.sh
  binds "$far/1.2" "$far/1.2/bin"
  HPCBOOT_BIN_DIR=nowhere PATH=$far/link/bin:$PATH bash job.sh
  binds "$far/1.2" "$far/1.2/bin"
}

@test "a container: a path that --bind cannot name, or that would hide the image's own, is an error" {
  enter_fakes
  script --site cc --job single --set container.image=hpcboot.sif -o job.sh
  export HPCBOOT_BIN_DIR=build/bin
  for name in a,b a:b; do
    mkdir "$name"
    cp -r build/bin data "$name"
    DATA_DIR=$name/data/mnist run -1 bash job.sh
    [ "$output" = "$PWD/$name/data/mnist has a comma or colon, at which apptainer's --bind splits paths: use a folder without them" ]
    RUNS_DIR=$name/runs run -1 bash job.sh
    [[ $output == "$PWD/$name/runs has a comma or colon"* ]]
    HPCBOOT_BIN_DIR=$name/bin run -1 bash job.sh
    [[ $output == "$PWD/$name has a comma or colon"* ]]
    (cd "$name" && HPCBOOT_BIN_DIR=../build/bin run -1 bash ../job.sh && [[ $output == "$PWD has a comma or colon"* ]])
  done
  for prefix in '' /usr /usr/local; do
    realpath() { echo "$prefix/bin/hpcboot"; }
    export -f realpath
    prefix=$prefix run -1 bash job.sh
    unset -f realpath
    [[ $output == "$prefix/bin/hpcboot: --bind would hide ${prefix:-/} of the image: "* ]]
  done
  [ ! -e log ]
}

@test "a container: without a folder for the runs nothing starts" {
  enter_fakes
  touch file
  for job in single compare; do
    script --site lab --job $job --set container.image=hpcboot.sif -o job.sh
    HPCBOOT_BIN_DIR=build/bin RUNS_DIR=file/runs run -1 bash job.sh
    [[ $output == mkdir:*"file"* ]]
    [ ! -e log ]
  done
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
  script --site kubernetes --job pytorchjob --nodes 3 --task transformer --set kubernetes.data=sequences:64x1x8x64 \
    --set kubernetes.accelerator=NVIDIA-H100-80GB-HBM3 -o "$BATS_TEST_TMPDIR/job.yaml"
  python3 - "$BATS_TEST_TMPDIR/job.yaml" <<'PY'
import sys, yaml
job, _ = yaml.safe_load_all(open(sys.argv[1]))
for replica in job["spec"]["pytorchReplicaSpecs"].values():
    pod = replica["template"]["spec"]
    assert pod["nodeSelector"] == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, pod
    arguments = pod["containers"][0]["args"]
    assert arguments[:6] == ["--mode", "ddp", "--task", "transformer", "--data", "sequences:64x1x8x64"], arguments
PY
  script --site kubernetes --job pytorchjob --nodes 1 --gpus-per-node 0 -o "$BATS_TEST_TMPDIR/job.yaml"
  python3 - "$BATS_TEST_TMPDIR/job.yaml" <<'PY'
import sys, yaml
job, _ = yaml.safe_load_all(open(sys.argv[1]))
assert list(job["spec"]["pytorchReplicaSpecs"]) == ["Master"]
assert not any("gpu" in k for k in job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["resources"]["limits"])
PY
}
