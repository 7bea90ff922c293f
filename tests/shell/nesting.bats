#!/usr/bin/env bats
# Nested launchers, all of them real: the innermost placed the process, and what the outer one says is reported with the
# reason why it does not count.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, status and stderr in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  export HPCBOOT OMP_NUM_THREADS=1
  use_open_mpi
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here"
  mpirun=(timeout 60 mpirun --oversubscribe)
  hydra=("$BATS_TEST_TMPDIR/hydra")
  torchrun=(timeout 60 "$BATS_TEST_TMPDIR/torchrun")
  # Each with its own port, so that several can run side by side. Version 1.13 under Python 3.11 fails with its own
  # defaults of --redirects and --tee.
  cat > "$BATS_TEST_TMPDIR/torchrun" <<SH
#!/bin/sh
exec /usr/bin/python3 -m torch.distributed.run --redirects=2 --tee=2 --no_python --nnodes=1 --node_rank=0 \\
  --master_addr=127.0.0.1 --master_port="\$($support/free_port.py)" "\$@"
SH
  # Its input never ends: if an end comes while its ranks end, Hydra 4.0 fails, or SIGPIPE kills it.
  mkfifo "$BATS_TEST_TMPDIR/input"
  cat > "$BATS_TEST_TMPDIR/hydra" <<SH
#!/bin/sh
exec timeout 60 mpiexec.hydra "\$@" <>"$BATS_TEST_TMPDIR/input"
SH
  chmod +x "$BATS_TEST_TMPDIR/torchrun" "$BATS_TEST_TMPDIR/hydra"
}

teardown() { end_jobs; }

need_hydra() { command -v mpiexec.hydra > /dev/null || skip "mpiexec.hydra is not here"; }

need_torchrun() {
  /usr/bin/python3 -c 'import torch.distributed.run' 2>/dev/null || skip "/usr/bin/python3 has no torchrun"
}

# A process with the variables of a torchrun worker: torchrun itself is not installed everywhere.
worker() {
  env TORCHELASTIC_RUN_ID=none TORCHELASTIC_USE_AGENT_STORE=True RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 \
    GROUP_RANK=0 GROUP_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29400 "$@"
}

# shown COMMAND…: one line "launcher rank world_size" for each `hpcboot show` that COMMAND starts, with "unexplained" if
# another launcher disagrees for no known reason.
shown() {
  local dir=$BATS_TEST_TMPDIR/shown
  rm -rf "$dir" && mkdir "$dir"
  # In a script, since torchrun expands $ in the words of a command.
  printf '#!/bin/sh\n"%s" show --json > "%s/$$"\n' "$HPCBOOT" "$dir" > "$BATS_TEST_TMPDIR/show"
  chmod +x "$BATS_TEST_TMPDIR/show"
  "$@" "$BATS_TEST_TMPDIR/show" || return
  python3 - "$dir" <<'PY'
import json, pathlib, sys
lines = []
for path in pathlib.Path(sys.argv[1]).iterdir():
    r = json.loads(path.read_text())
    explained = all(witness["explained"] for witness in r["witnesses"])
    lines.append(f'{r["launcher"]} {r["rank"]} {r["world_size"]}{"" if explained else " unexplained"}')
print(*sorted(lines), sep="\n")
PY
}

four_of() { printf "$1 %d 4\n" 0 1 2 3; }

@test "mpirun and Hydra inside each other's only rank, and inside one of two" {
  need_hydra
  [ "$(shown "${mpirun[@]}" -n 1 "${hydra[@]}" -n 4)" = "$(four_of hydra)" ]
  [ "$(shown "${hydra[@]}" -n 1 "${mpirun[@]}" -n 4)" = "$(four_of openmpi)" ]
  [ "$(shown "${mpirun[@]}" -n 2 "${hydra[@]}" -n 2)" = $'hydra 0 2\nhydra 0 2\nhydra 1 2\nhydra 1 2' ]
  [ "$(shown "${hydra[@]}" -n 2 "${mpirun[@]}" -n 2)" = $'openmpi 0 2\nopenmpi 0 2\nopenmpi 1 2\nopenmpi 1 2' ]
  [ "$(shown "${mpirun[@]}" -n 2 "${hydra[@]}" -n 1)" = $'hydra 0 1\nhydra 0 1' ]
}

@test "mpirun and Hydra inside a worker of torchrun" {
  need_torchrun
  need_hydra
  [ "$(shown "${torchrun[@]}" --nproc_per_node=1 "${mpirun[@]}" -n 4)" = "$(four_of openmpi)" ]
  [ "$(shown "${torchrun[@]}" --nproc_per_node=1 "${hydra[@]}" -n 4)" = "$(four_of hydra)" ]
  [ "$(shown "${torchrun[@]}" --nproc_per_node=2 "${mpirun[@]}" -n 2)" = $'openmpi 0 2\nopenmpi 0 2\nopenmpi 1 2\nopenmpi 1 2' ]
}

@test "a torchrun of its own in each rank of mpirun and Hydra: a sweep" {
  need_torchrun
  need_hydra
  [ "$(shown "${mpirun[@]}" -n 2 "${torchrun[@]}" --nproc_per_node=1)" = $'torchrun 0 1\ntorchrun 0 1' ]
  [ "$(shown "${hydra[@]}" -n 2 "${torchrun[@]}" --nproc_per_node=1)" = $'torchrun 0 1\ntorchrun 0 1' ]
  [ "$(shown "${mpirun[@]}" -n 1 "${torchrun[@]}" --nproc_per_node=4)" = "$(four_of torchrun)" ]
}

@test "three levels, with the same outer and inner launcher" {
  need_torchrun
  need_hydra
  [ "$(shown "${hydra[@]}" -n 2 "${torchrun[@]}" --nproc_per_node=1 "${hydra[@]}" -n 2)" = \
    $'hydra 0 2\nhydra 0 2\nhydra 1 2\nhydra 1 2' ]
}

@test "launchers inside a process with the variables of torchrun, which need not be installed" {
  need_hydra
  [ "$(shown worker "${mpirun[@]}" -n 4)" = "$(four_of openmpi)" ]
  [ "$(shown worker "${hydra[@]}" -n 4)" = "$(four_of hydra)" ]
  # shellcheck disable=SC2016 # for the shell inside
  [ "$(shown "${mpirun[@]}" -n 2 sh -c 'TORCHELASTIC_RUN_ID=none RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 GROUP_WORLD_SIZE=1 \
    MASTER_ADDR=127.0.0.1 MASTER_PORT=29400 "$@"; true' sh)" = $'torchrun 0 1\ntorchrun 0 1' ]
}

@test "an agent that sets only RANK, WORLD_SIZE and LOCAL_RANK, in the only rank of mpirun and Hydra" {
  need_hydra
  # shellcheck disable=SC2016 # for the shell inside
  local agent=(sh -c 'for rank in 0 1 2 3; do RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=4 "$1" & done; wait' sh)
  [ "$(shown "${mpirun[@]}" -n 1 "${agent[@]}")" = "$(four_of generic)" ]
  [ "$(shown "${hydra[@]}" -n 1 "${agent[@]}")" = "$(four_of generic)" ]
  [ "$(shown env RANK=3 LOCAL_RANK=3 WORLD_SIZE=4 "${mpirun[@]}" -n 1)" = "openmpi 0 1" ]
  [ "$(shown env RANK=3 LOCAL_RANK=3 WORLD_SIZE=4 "${hydra[@]}" -n 1)" = "hydra 0 1" ]
}

@test "the proof is reported, and without one what would help" {
  run -0 --separate-stderr worker "${mpirun[@]}" -n 1 sh -c '"$0" show --explain' "$HPCBOOT"
  run -0 --separate-stderr worker "${mpirun[@]}" -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || "$0" show --explain' "$HPCBOOT"
  [[ $output == *"torchrun"*"disagrees"*"openmpi is the inner launcher: its variables are absent from the environment of the ancestor process "*" (mpirun), 2 levels up"* ]]
  worker "${mpirun[@]}" -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || env' > "$BATS_TEST_TMPDIR/env"
  run -23 --separate-stderr "$HPCBOOT" show --env-file "$BATS_TEST_TMPDIR/env"
  [[ $stderr == *"torchrun reports rank=0 world_size=1"*"openmpi reports rank=1 world_size=2"*"are not available"*"GROUP_WORLD_SIZE=2"* ]]
  [[ $stderr == *"HPCBOOT_METHODS=torchrun or HPCBOOT_METHODS=openmpi, or HPCBOOT_METHODS=single"* ]]
}

@test "check: the inner launch is a job, and the outer one is noted" {
  need_hydra
  run -0 --separate-stderr worker "${mpirun[@]}" -n 4 "$HPCBOOT" check
  [[ $output == *"ok: 4 ranks, launcher openmpi"* ]]
  [[ $output == *"note: rank0: torchrun disagrees: reports rank=0 world_size=1"*"openmpi is the inner launcher"*"(and 3 more)"* ]]
  run -0 --separate-stderr "${mpirun[@]}" -n 1 "${hydra[@]}" -n 4 "$HPCBOOT" check
  [[ $output == *"ok: 4 ranks, launcher hydra"* ]]
  [[ $output == *"openmpi disagrees"*"hydra is the inner launcher"* ]]
}

@test "check does not say ok if a launcher disagrees for no known reason" {
  run -1 --separate-stderr "${mpirun[@]}" -n 2 env RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 "$HPCBOOT" check
  [[ $output == *"wrong: rank0: generic disagrees: reports rank=0 world_size=1"*"nothing shows which started the other"* ]]
  [[ $output != *"ok:"* ]]
  run -1 --separate-stderr "${mpirun[@]}" -n 2 env RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 "$HPCBOOT" check --json
  [ "$(python3 -c 'import json,sys; c=json.load(sys.stdin); print(c["ok"], c["problems"][0]["kind"])' <<<"$output")" = \
    "False launchers disagree" ]
}

@test "exec: the program is a rank of the inner launch, and at most two ranks report the outer one" {
  # shellcheck disable=SC2016 # for the shell inside
  run -0 --separate-stderr worker "${mpirun[@]}" -n 4 "$HPCBOOT" exec -- sh -c \
    'echo $RANK $WORLD_SIZE ${TORCHELASTIC_RUN_ID-unset} $MASTER_PORT'
  [ "$(cut -d' ' -f1-3 <<<"$output" | sort)" = $'0 4 unset\n1 4 unset\n2 4 unset\n3 4 unset' ]
  [ "$(cut -d' ' -f4 <<<"$output" | sort -u | wc -l)" -eq 1 ]
  [[ $output != *29400* ]]
  [ "$(grep -c 'torchrun disagrees' <<<"$stderr")" -eq 2 ]
  [[ $stderr == *"openmpi is the inner launcher"* ]]
}

@test "a program under exec sees what exec found" {
  need_hydra
  for launcher in "${mpirun[*]}" "${hydra[*]}"; do
    # shellcheck disable=SC2086 # a list of words
    run -0 --separate-stderr worker $launcher -n 2 "$HPCBOOT" exec -- sh -c \
      '"$0" show --json | grep -E "\"(rank|world_size|master_port)\": [0-9]" | xargs; echo $MASTER_PORT' "$HPCBOOT"
    [ "$(grep -c 'world_size: 2' <<<"$output")" -eq 2 ]
    [ "$(grep -o 'master_port: [0-9]*' <<<"$output" | sort -u)" = "master_port: $(grep -x '[0-9]*' <<<"$output" | sort -u)" ]
  done
}

@test "a launcher that is started from a shell ignores what env exported there" {
  need_hydra
  eval "$(env -i "$HPCBOOT" env)"
  [ "$MASTER_ADDR" = 127.0.0.1 ]
  export RANK=0 WORLD_SIZE=1 LOCAL_RANK=0
  eval "$(HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=1 HPCBOOT_LOCAL_RANK=0 HPCBOOT_MASTER_ADDR=login HPCBOOT_MASTER_PORT=20001 \
    "$HPCBOOT" env)"
  [ "$MASTER_ADDR" = login ]
  for launcher in mpirun hydra; do
    declare -n command=$launcher
    run -0 --separate-stderr "${command[@]}" -n 4 "$HPCBOOT" check
    [[ $output == *"ok: 4 ranks, launcher"* && $output != *disagrees* ]]
    # shellcheck disable=SC2016 # for the shell inside
    run -0 --separate-stderr "${command[@]}" -n 4 "$HPCBOOT" exec -- sh -c 'echo $RANK $WORLD_SIZE at $MASTER_ADDR'
    [ "$(cut -d' ' -f1,2 <<<"$output" | sort)" = $'0 4\n1 4\n2 4\n3 4' ]
    [[ $output != *login* && $stderr != *stale* ]]
  done
  run -0 --separate-stderr "${mpirun[@]}" -n 1 "$HPCBOOT" show --explain
  [[ $output == *"Exported by hpcboot for another launch, ignored:"*MASTER_ADDR* ]]
}

@test "a capture replays what was proved" {
  worker "${mpirun[@]}" -n 2 sh -c '"$0" capture "$1" > "$1.$$"' "$HPCBOOT" "$BATS_TEST_TMPDIR/captured"
  run -0 --separate-stderr "$HPCBOOT" replay "$BATS_TEST_TMPDIR/captured"
  [[ $output == *"note: rank0: torchrun disagrees"*"openmpi is the inner launcher"*"ok: 2 ranks"* ]]
  python3 - "$BATS_TEST_TMPDIR/captured/rank1.facts.json" <<'PY'
import json, sys
facts = json.load(open(sys.argv[1]))
assert "ancestry" not in facts, facts
shell, mpirun = facts["ancestors"][:2]
assert set(shell) == {"name", "held", "changed", "is_slurm_task"}, shell
assert shell["changed"] == mpirun["changed"] == [], facts
assert "openmpi" in shell["held"] and "torchrun" in shell["held"], shell
assert "openmpi" not in mpirun["held"] and "torchrun" in mpirun["held"], mpirun
PY
}
