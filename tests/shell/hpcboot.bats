#!/usr/bin/env bats
# The command line of hpcboot: what scripts may rely on.
# shellcheck disable=SC2086,SC2016 # lists of words are meant to be split, quoted programs to expand theirs

bats_require_minimum_version 1.5.0

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  GOLDEN=$BATS_TEST_DIRNAME/../golden/env
  export HPCBOOT GOLDEN
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
}

verbs() { "$HPCBOOT" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

# without_launcher CMD…: in an environment in which no launcher placed this process.
without_launcher() { env -i PATH="$PATH" "$@"; }

mpirun_rank='OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2'

@test "--help and --version of the program and of every verb go to stdout" {
  mapfile -t all < <(verbs)
  [ "${#all[@]}" -ge 5 ]
  for verb in '' "${all[@]}"; do
    run --separate-stderr "$HPCBOOT" $verb --help
    [ "$status" -eq 0 ]
    [[ $output == *Usage:*hpcboot* ]]
    [ -z "$stderr" ]
    run --separate-stderr "$HPCBOOT" $verb --version
    [ "$status" -eq 0 ]
    [[ $output =~ ^hpcboot\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    [ -z "$stderr" ]
  done
}

@test "a command line that is wrong is exit code 2, reported on stderr only" {
  for arguments in '' 'nonsense' '--nonsense' 'show --nonsense' 'show --env-file' 'show extra' 'show --env' 'env --json' \
    'hosts' 'hosts expand' 'hosts nonsense n1' 'capture' 'replay' 'capture a b' 'replay a b'; do
    run --separate-stderr "$HPCBOOT" $arguments
    echo "$arguments: $status"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ -n "$stderr" ]
  done
}

@test "show --explain lists the launchers also if none can be taken" {
  run -21 --separate-stderr without_launcher OMPI_COMM_WORLD_RANK=1 "$HPCBOOT" show --explain
  [ -z "$output" ]
  grep -Eq '^  openmpi +present ' <<<"$stderr"
  grep -Eq '^  slurm +absent' <<<"$stderr"
  [[ $stderr == *"hpcboot: error 21 (missing_variable)"* ]]
}

@test "each kind of error has its exit code and says what was found, what was expected and what to do" {
  check() {
    local code=$1 word=$2
    shift 2
    run --separate-stderr without_launcher "$@"
    echo "$*: $status $stderr"
    [ "$status" -eq "$code" ]
    [ -z "$output" ]
    [[ $stderr == "hpcboot: error $code ($word)"*found:*expected:*do:* ]]
  }
  check 20 malformed_value OMPI_COMM_WORLD_RANK=1x OMPI_COMM_WORLD_SIZE=2 "$HPCBOOT" show
  check 21 missing_variable OMPI_COMM_WORLD_RANK=1 "$HPCBOOT" show
  check 22 inconsistent_placement HPCBOOT_RANK=4 HPCBOOT_WORLD_SIZE=4 HPCBOOT_LOCAL_RANK=0 "$HPCBOOT" show
  check 23 ambiguous_environment $mpirun_rank PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 "$HPCBOOT" show
  check 24 unknown_method HPCBOOT_METHODS=telepathy "$HPCBOOT" show
  check 25 malformed_hostlist "$HPCBOOT" hosts expand 'n[1-'
  check 26 hostlist_too_large "$HPCBOOT" hosts expand 'n[1-99999999]'
  check 27 unreadable_file "$HPCBOOT" show --env-file /nonexistent
  echo 'declare -x RANK="1"' > "$BATS_TEST_TMPDIR/exported.env"
  check 28 malformed_file "$HPCBOOT" show --env-file "$BATS_TEST_TMPDIR/exported.env"
  printf 'RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\nRANK=1\n' > "$BATS_TEST_TMPDIR/twice.env"
  check 28 malformed_file "$HPCBOOT" show --env-file "$BATS_TEST_TMPDIR/twice.env"
  check 29 needs_exchange PMIX_RANK=1 PMIX_NAMESPACE=x "$HPCBOOT" show
  check 33 no_usable_interface HPCBOOT_INTERFACE=nonsense0 "$HPCBOOT" show
  check 34 stale_master_addr $mpirun_rank MASTER_ADDR=127.0.0.1 "$HPCBOOT" show
}

@test "--env-file and --nodefile may be pipes" {
  run -0 --separate-stderr "$HPCBOOT" env --env-file <(printf 'RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=1\nMASTER_ADDR=n1\nMASTER_PORT=9\n')
  [[ $output == *"export RANK=1"*"export MASTER_ADDR=n1"* ]]
  run -0 --separate-stderr without_launcher "$HPCBOOT" show --nodefile <(printf 'n1\nn2\n')
  [[ $output =~ hosts\ +n1\ n2 ]]
  run -0 --separate-stderr without_launcher "$HPCBOOT" show --nodefile /dev/stdin <<< $'n3\nn4'
  [[ $output =~ hosts\ +n3\ n4 ]]
}

@test "a FIFO that the environment names as a file is refused, not waited for" {
  mkfifo "$BATS_TEST_TMPDIR/fifo"
  run -27 without_launcher PBS_JOBID=7.s PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE="$BATS_TEST_TMPDIR/fifo" timeout 20 "$HPCBOOT" show
  [[ $output == *"$BATS_TEST_TMPDIR/fifo cannot be read: it is not a regular file"* ]]
}

@test "show --json has the documented keys, in order, and null for unknown values" {
  without_launcher $mpirun_rank "$HPCBOOT" show --json --env-file "$GOLDEN/sbatch_mpirun_2x2/rank3.env" |
    python3 -c '
import json, sys
def as_is(pairs):
    assert len(pairs) == len(dict(pairs)), "a key twice"
    return dict(pairs)
show = json.load(sys.stdin, object_pairs_hook=as_is)
assert list(show) == ["rank", "world_size", "local_rank", "local_size", "node_rank", "num_nodes", "master_addr",
    "master_port", "launcher", "scheduler", "job_id", "hosts", "device", "interface", "provenance", "witnesses"], list(show)
for field in show["provenance"].values():
    assert list(field) == ["source", "variable"], field
for witness in show["witnesses"]:
    assert list(witness) == ["source", "agrees", "explained", "note"], witness
assert show["device"] is None and show["interface"] is None
assert [type(show[k]) for k in ("rank", "world_size", "local_rank")] == [int] * 3
assert type(show["job_id"]) is str and type(show["hosts"]) is list
'
}

@test "show: what only an exchange could tell is null, and says so" {
  run --separate-stderr without_launcher $mpirun_rank "$HPCBOOT" show --json
  [ "$status" -eq 0 ]
  python3 -c '
import json, sys
show = json.load(sys.stdin)
assert show["node_rank"] is None and show["num_nodes"] is None and show["hosts"] is None, show
assert show["provenance"]["node_rank"] == {"source": "exchange", "variable": None}, show["provenance"]
' <<<"$output"
}

@test "show --env-file gives the same answer whatever this process's environment contains" {
  for case in "$GOLDEN"/*/; do
    for env_file in "$case"rank*.env; do
      expected=$(without_launcher "$HPCBOOT" show --json --env-file "$env_file" --hostname n1 2>&1) || true
      poisoned=$(env RANK=7 WORLD_SIZE=8 LOCAL_RANK=7 SLURM_PROCID=5 SLURM_STEP_ID=0 SLURM_JOB_ID=99 PBS_JOBID=98 \
        PBS_NODEFILE=/nonexistent HPCBOOT_RANK=1x HPCBOOT_METHODS=flux OMPI_COMM_WORLD_RANK=9 MASTER_ADDR=elsewhere \
        MASTER_PORT=1 CUDA_VISIBLE_DEVICES=5 HPCBOOT_INTERFACE=nonsense0 \
        "$HPCBOOT" show --json --env-file "$env_file" --hostname n1 2>&1) || true
      [ "$expected" = "$poisoned" ]
    done
  done
}

@test "show --explain names every launcher tried; with --json stdout stays one object" {
  run --separate-stderr without_launcher $mpirun_rank "$HPCBOOT" show --explain
  [ "$status" -eq 0 ]
  grep -Eq '^  openmpi +chosen ' <<<"$output"
  grep -Eq '^  slurm +absent' <<<"$output"
  run --separate-stderr without_launcher $mpirun_rank "$HPCBOOT" show --explain --json
  python3 -m json.tool <<<"$output" >/dev/null
  [[ $stderr == *openmpi*chosen* ]]
}

@test "HPCBOOT_METHODS decides which launchers are tried, and in which order" {
  launcher() { without_launcher "$@" "$HPCBOOT" show --json | sed -n 's/^  "launcher": "\(.*\)",/\1/p'; }
  both="$mpirun_rank RANK=3 WORLD_SIZE=4 LOCAL_RANK=1"
  [ "$(launcher $both)" = openmpi ]
  [ "$(launcher $both HPCBOOT_METHODS=generic)" = generic ]
  [ "$(launcher $both HPCBOOT_METHODS=generic,openmpi)" = generic ]
  [ "$(launcher $both HPCBOOT_METHODS='slurm openmpi')" = openmpi ]
  [ "$(launcher $both HPCBOOT_METHODS=single)" = single ]
  [ "$(launcher HPCBOOT_METHODS=slurm,single)" = single ]
  run without_launcher HPCBOOT_METHODS=slurm "$HPCBOOT" show
  [ "$status" -eq 24 ]
}

@test "env can be eval-ed by sh, whatever the values contain" {
  run without_launcher $mpirun_rank HPCBOOT_MASTER_ADDR="a'b \$(echo no) \`c\`" HPCBOOT_MASTER_PORT=12345 sh -eu -c '
    eval "$("$1" env)"
    echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_PORT"
    echo "$MASTER_ADDR"' sh "$HPCBOOT"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "3 4 1 2 12345" ]
  [ "${lines[1]}" = "a'b \$(echo no) \`c\`" ]
}

@test "env prints nothing but export lines on stdout" {
  run --separate-stderr without_launcher $mpirun_rank "$HPCBOOT" env
  [ "$status" -eq 0 ]
  run grep -Ev '^export [A-Z_]+=' <<<"$output"
  [ "$status" -eq 1 ]
}

@test "env prints everything if no launcher placed the process and there is no scheduler" {
  run --separate-stderr without_launcher "$HPCBOOT" env
  [ "$status" -eq 0 ]
  for line in RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1; do
    grep -qx "export $line" <<<"$output"
  done
  grep -Eqx 'export MASTER_PORT=[0-9]+' <<<"$output"
  [ -z "$stderr" ]
  run --separate-stderr without_launcher HPCBOOT_MASTER_PORT=12345 "$HPCBOOT" env
  grep -qx 'export MASTER_PORT=12345' <<<"$output"
  run --separate-stderr "$HPCBOOT" env --env-file <(echo HOME=/home/u)
  [[ $output == *"export RANK=0"*"export WORLD_SIZE=1"* ]]
}

@test "eval has env's exit code, and what an earlier call exported is unset" {
  local shell fails
  for shell in bash dash zsh; do
    command -v $shell >/dev/null || continue
    for fails in 'PMIX_RANK=1 "$1" env' '"$1" env --env-file /missing'; do
      run -0 --separate-stderr without_launcher NCCL_SOCKET_IFNAME=mine $shell -c '
        eval "$("$1" env)" || exit 9
        echo "$RANK of $WORLD_SIZE"
        MASTER_PORT=5
        eval "$('"$fails"')"
        echo "code $?: ${RANK-} ${WORLD_SIZE-} ${MASTER_ADDR-}, $MASTER_PORT $NCCL_SOCKET_IFNAME"
        (set -e; eval "$('"$fails"')"; echo goes on)
        echo end' sh "$HPCBOOT"
      [[ $output =~ ^"0 of 1"$'\n'"code "2[0-9]":   , 5 mine"$'\n'"end"$ ]]
    done
  done
  # The rank of an agent remains the one that it is.
  run -0 --separate-stderr "$HPCBOOT" run -n 2 --no-prefix -- bash -c '
    eval "$("$1" env --env-file /missing)"; echo "code $?"; eval "$("$1" env)"; echo "$RANK of $WORLD_SIZE"' sh "$HPCBOOT"
  [ "$(sort <<<"$output")" = $'0 of 2\n1 of 2\ncode 27\ncode 27' ]
}

@test "env says in the batch script of several tasks how to start them" {
  run --separate-stderr "$HPCBOOT" env --env-file <(printf 'SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_NTASKS=4\n')
  [ "$status" -eq 0 ]
  [[ $output == "export MASTER_ADDR=n1"* && $output != *RANK* ]]
  [[ $stderr == *"hint: 4 tasks were requested, but this process is not one of them: use srun hpcboot exec …"* ]]
}

@test "env never prints a rank in a batch script" {
  for case in sbatch_batch_step salloc_shell; do
    run --separate-stderr "$HPCBOOT" env --env-file "$GOLDEN/$case/rank0.env"
    [ "$status" -eq 0 ]
    [[ $output == *MASTER_ADDR=* ]]
    run grep -E 'RANK|WORLD_SIZE' <<<"$output"
    [ "$status" -eq 1 ]
  done
}

@test "hosts expands, compresses, counts and finds the first" {
  [ "$("$HPCBOOT" hosts expand 'n[9-11],a')" = n9$'\n'n10$'\n'n11$'\n'a ]
  [ "$("$HPCBOOT" hosts compress n9 n10 n11 a)" = 'n[9-11],a' ]
  [ "$("$HPCBOOT" hosts count 'n[1-99999999]')" = 99999999 ]
  [ "$("$HPCBOOT" hosts first 'n[007-99999999]')" = n007 ]
}

@test "hosts - reads standard input, one host per line or a list" {
  [ "$(printf 'n1\nn2\nn3\n' | "$HPCBOOT" hosts compress -)" = 'n[1-3]' ]
  [ "$(echo 'n[1-3]' | "$HPCBOOT" hosts count -)" = 3 ]
  [ "$("$HPCBOOT" hosts expand 'n[01-16]' | "$HPCBOOT" hosts compress -)" = 'n[01-16]' ]
}

@test "output that cannot be written is an error" {
  [ -e /dev/full ] || skip "no /dev/full here"
  for arguments in 'hosts expand n[1-3]' 'show --json' 'env' '--help' 'show --help' '--version'; do
    run without_launcher $mpirun_rank sh -c '"$0" "$@" >/dev/full' "$HPCBOOT" $arguments
    echo "$arguments: $status"
    [ "$status" -eq 1 ]
    [[ $output == *"standard output cannot be written"* ]]
  done
}

@test "a reader that has gone does not hang the program" {
  run timeout 20 bash -c '"$1" hosts expand "n[1-200000]" | head -n 1' bash "$HPCBOOT"
  [ "$status" -eq 0 ]
  [ "$output" = n1 ]
}
