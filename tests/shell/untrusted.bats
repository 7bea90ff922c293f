#!/usr/bin/env bats
# Text from outside (variables, names of files and sites, captures, peers' reports) in every verb of hpcboot: no shell
# executes it, no terminal interprets it, no line is forged with it, and no depth or length of it crashes the process.
# shellcheck disable=SC2016 # quoted programs are to expand their own variables
# shellcheck disable=SC2154 # run sets stderr

bats_require_minimum_version 1.5.0

setup_file() {
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/hpcboot
  RUNTABLE=$(dirname "$HPCBOOT")/runtable
  # What a terminal interprets: a colour, its title, a cursor that moves up, C1's CSI, right-to-left, a carriage return.
  EVIL=$'\e[31mred\e]0;title\a\e[1A\u009b2J\u202eab\rcd'
  export HPCBOOT RUNTABLE EVIL
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  cd "$BATS_TEST_TMPDIR" || return
}

# harmless FILE…: it contains no control character of terminals and is valid UTF-8.
harmless() {
  local file
  for file in "$@"; do
    if LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$file" >found; then
      echo "$file has what a terminal obeys:" && cat -v found
      return 1
    fi
    iconv -f utf-8 -t utf-8 "$file" >/dev/null
  done
}

# shown CODE COMMAND…: its output is harmless, and CODE is its exit code unless it is -.
shown() {
  local expected=$1 code=0
  shift
  timeout 60 "$@" >out 2>err </dev/null || code=$?
  printf '%q ' "$@" && echo "gave $code" && cat -v out err
  if [ "$code" -eq 124 ] || [ "$code" -gt 127 ]; then return 1; fi # timeout's, or a signal's
  [ "$expected" = - ] || [ "$code" -eq "$expected" ]
  harmless out err
}

@test "sanitize: a variable's name cannot change the command line" {
  run --separate-stderr env -i 'PET_X touch p #=1' PET_ID=1 PATH="$PATH" HPCBOOT="$HPCBOOT" bash -c '$("$HPCBOOT" sanitize) echo hi'
  [ "$output" = hi ]
  [ ! -e p ]
  [[ $stderr == *"the variable 'PET_X touch p #' is kept"* ]]
  # Names with blanks, patterns, line ends and substitutions, and names that look like options.
  touch PET_file
  env -i $'PET_a\nb=1' 'PET_*=1' 'PET_?=1' 'PET_$(touch p)=1' 'PET_`touch p`=1' 'PET_;touch p=1' "PET_$EVIL=1" \
    SLURM_PROCID=1 'SLURM_STEP_-x=1' "$HPCBOOT" sanitize >out 2>err
  [ "$(cat out)" = "env -u SLURM_PROCID" ]
  [ "$(grep -c '^note: the variable' err)" -eq 8 ]
  harmless out err
  [ ! -e p ]
}

@test "env: values are quoted for the shell, whatever they contain" {
  printf 'RANK=0\0WORLD_SIZE=2\0LOCAL_RANK=0\0MASTER_ADDR=$(touch p)`touch p`'"'"';touch p;\n x\0MASTER_PORT=1234\0' >e
  "$HPCBOOT" env --env-file e >out 2>err || true
  env -i PATH="$PATH" bash -c '. ./out; true'
  [ ! -e p ]
}

@test "env and show: an address has no control characters" {
  local name
  for name in MASTER_ADDR HPCBOOT_MASTER_ADDR; do
    for value in "$EVIL" $'n1\nforged' $'n\xff' $'n\u009b'; do
      for verb in env show; do
        shown 20 env -i PATH="$PATH" RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_PORT=1 "$name=$value" "$HPCBOOT" "$verb"
        grep -q "found:    $name=" err
      done
    done
    for value in n1.example.org 10.1.2.3 fd00::1 '[fd00::1]' fe80::1%eth0 my_host; do
      shown 0 env -i PATH="$PATH" RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_PORT=1 "HPCBOOT_MASTER_ADDR=$value" "$HPCBOOT" env
    done
  done
}

@test "show, doctor and errors: no control character of terminals gets through" {
  local variable
  for variable in RANK WORLD_SIZE MASTER_ADDR MASTER_PORT HPCBOOT_INTERFACE HPCBOOT_METHODS HPCBOOT_MASTER_ADDR \
    SLURM_JOB_ID SLURM_NTASKS SLURM_JOB_NODELIST SLURM_STEP_NODELIST SLURMD_NODENAME PBS_JOBID PBS_NODEFILE \
    LSB_HOSTS JOB_ID CUDA_VISIBLE_DEVICES HPCBOOT_DEVICE_ORDER HPCBOOT_SITE HPCBOOT_HOST_SUFFIX OMPI_COMM_WORLD_RANK; do
    for value in "$EVIL" $'n1\nforged  9' "x$EVIL"; do
      printf 'RANK=0\0WORLD_SIZE=2\0LOCAL_RANK=0\0MASTER_ADDR=n1\0MASTER_PORT=1234\0%s=%s\0' "$variable" "$value" >e
      for words in show 'show --explain' 'show --json --explain' doctor 'doctor --json'; do
        # shellcheck disable=SC2086
        shown - "$HPCBOOT" $words --env-file e --hostname "$EVIL"
        if grep -h '^forged' out err; then return 1; fi
      done
      printf '%s=%s\0' "$variable" "$value" >e
      shown - "$HPCBOOT" show --explain --env-file e
    done
  done
  shown - "$HPCBOOT" show --env-file "$EVIL"
  shown - "$HPCBOOT" show --nodefile "$EVIL"
  shown 2 "$HPCBOOT" "$EVIL"
  shown 2 "$HPCBOOT" show "--$EVIL"
  shown 127 "$HPCBOOT" exec -- "$EVIL"
  shown - "$HPCBOOT" hosts expand "$EVIL" $'a\eb'
  shown - "$HPCBOOT" hosts compress $'a\eb1,a\eb2'
}

@test "capture and replay: names and contents of files" {
  mkdir job
  printf 'RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\nMASTER_ADDR=n%s\nMASTER_PORT=1\n' "$EVIL" >job/rank0.env
  printf 'n1%s\nforged 1\n' "$EVIL" >job/rank0.hostname
  echo x >"job/n1${EVIL}-7.hostname"
  echo RANK=x >"job/n1${EVIL}-7.env"
  printf 'x\n' >job/rank1.hostname
  echo RANK=1 >job/rank1.env
  printf '{"interfaces": [{"name": "%s"}]}' 'e\u001b[31m' >job/rank1.facts.json
  shown 1 "$HPCBOOT" replay job
  if grep '^forged' out; then return 1; fi
  shown 1 "$HPCBOOT" replay --json job
  python3 -c 'import json; json.load(open("out"))'
  shown - "$HPCBOOT" replay "$EVIL"
  shown 0 env "HPCBOOT_NOTE=$EVIL" "$HPCBOOT" capture "dir$EVIL"
}

@test "replay: facts nested too deeply, too long, with duplicate keys or numbers out of range" {
  local facts
  for facts in "$(printf '[%.0s' {1..200000})" "$(printf '{"a":%.0s' {1..200000})" '{"user_id": 1, "user_id": 2}' \
    '{"user_id": 1e999}' '{"device_count": 99999999999}' '{"device_distance": [1e308]}' '{"interfaces": 7}' '{' '[]' \
    '{"interfaces": [{"name": "e", "address": "a", "ipv6": 0, "up": true, "speed_mbps": 1}]}'; do
    mkdir -p job
    printf 'RANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nMASTER_ADDR=n1\nMASTER_PORT=1\n' >job/rank0.env
    echo n1 >job/rank0.hostname
    printf '%s' "$facts" >job/rank0.facts.json
    shown 1 "$HPCBOOT" replay job
    grep -q '^wrong: .*malformed_file.*rank0.facts.json' out
  done
}

# A rank of the launch that knows the secret and sends arbitrary reports.
@test "check: a peer's report is shown, not interpreted, and damaged ones are ignored" {
  port=$("$BATS_TEST_DIRNAME/../support/free_port.py")
  (umask 077; echo 0123456789abcdef >secret)
  timeout 60 env -i PATH="$PATH" HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 HPCBOOT_RENDEZVOUS_SECRET_FILE=secret \
    HPCBOOT_MASTER_ADDR=127.0.0.1 HPCBOOT_MASTER_PORT="$port" "$HPCBOOT" check --timeout 20 >out 2>err &
  rank0=$!
  PYTHONPATH=$BATS_TEST_DIRNAME/../support python3 - "$port" <<'PY'
import json, os, sys, time
from store_peer import Rank
port = int(sys.argv[1])
def connect():
    for _ in range(400):
        try:
            return Rank("127.0.0.1", port, f"explicit/2//{port}/check", 2, 1, b"0123456789abcdef")
        except ConnectionRefusedError:
            time.sleep(0.05)
report = {"rank": 1, "world_size": 2, "local_rank": 1, "local_size": None, "node_rank": None, "num_nodes": None,
          "master_addr": "127.0.0.1", "master_port": 1, "launcher": "explicit" + os.environ["EVIL"], "job_id": None,
          "hosts": ["a\nok: forged"], "device": None, "interface": os.environ["EVIL"], "magic": "hpcboot check 1",
          "host": "n1\nok: 2 ranks forged" + os.environ["EVIL"], "address": None, "version": "\x1b[2J", "device_id": "",
          "devices_visible": 0, "round_trip_ms": 1e300}
damaged = [b"[" * 900000, b'{"magic": "hpcboot check 1", "magic": 1}', json.dumps({**report, "rank": 2**40}).encode(),
           json.dumps({**report, "rank": -1}).encode(), b'{"magic": "hpcboot check 1", "rank": 1e999}', b"\xff\x00",
           json.dumps({**report, "round_trip_ms": "1"}).encode()]
peer = connect()
peer.append("report/1", b"\n".join([*damaged, json.dumps(report).encode(), b""]))
assert peer.get("verdict", 20000) == b"wrong"
PY
  wait "$rank0" && return 1
  cat -v out err
  harmless out err
  grep -q '^wrong: ' out
  [ "$(grep -c '^ *1 ' out)" -eq 1 ]
  if grep '^ok: ' out; then return 1; fi
}

# Rank 1 says what rank 0 alone should say, in words that no version knows.
@test "check: a verdict that is none ends a rank with an error, not with success" {
  port=$("$BATS_TEST_DIRNAME/../support/free_port.py")
  (umask 077; echo 0123456789abcdef >secret)
  rank() {
    timeout 60 env -i PATH="$PATH" HPCBOOT_RANK="$1" HPCBOOT_WORLD_SIZE=3 HPCBOOT_LOCAL_RANK="$1" \
      HPCBOOT_RENDEZVOUS_SECRET_FILE=secret HPCBOOT_MASTER_ADDR=127.0.0.1 HPCBOOT_MASTER_PORT="$port" "$HPCBOOT" check --timeout "$2"
  }
  rank 0 20 >out0 2>&1 &
  rank0=$!
  PYTHONPATH=$BATS_TEST_DIRNAME/../support python3 - "$port" <<'PY'
import sys, time
from store_peer import Rank
port = int(sys.argv[1])
for _ in range(400):
    try:
        Rank("127.0.0.1", port, f"explicit/3//{port}/check", 3, 1, b"0123456789abcdef").append("verdict", "\x1b[2Jfine")
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
PY
  code=0
  rank 2 20 >out 2>err || code=$?
  kill "$rank0"
  wait "$rank0" || true
  cat -v out err
  [ "$code" -eq 31 ]
  grep -q 'something other than its verdict' err
}

@test "check: a peer that sends endless lines keeps rank 0 neither from others nor beyond its deadline" {
  port=$("$BATS_TEST_DIRNAME/../support/free_port.py")
  begin=$SECONDS
  timeout 60 env -i PATH="$PATH" HPCBOOT_RANK=0 HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=0 \
    HPCBOOT_MASTER_ADDR=127.0.0.1 HPCBOOT_MASTER_PORT="$port" "$HPCBOOT" check --timeout 3 >out 2>err &
  rank0=$!
  timeout 30 python3 - "$port" <<'PY' || true
import socket, sys, time
end = time.time() + 25
while time.time() < end:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as peer:
            started = True
            while time.time() < end:
                peer.sendall(b"\n" * (1 << 20))
    except ConnectionRefusedError:
        if "started" in globals():
            break
        time.sleep(0.05)
    except OSError:
        pass
PY
  wait "$rank0" && return 1
  [ $((SECONDS - begin)) -lt 20 ]
  grep -q '^wrong: rank 1 of 2 is missing' out
}

@test "script: a site's name and texts are executed by no shell and interpreted by no terminal" {
  "$HPCBOOT" script --list >/dev/null 2>&1 || skip "this build has no job scripts (toml++, mstch)"
  shipped=$BATS_TEST_TMPDIR/shipped.toml
  "$HPCBOOT" site show generic_slurm >"$shipped"
  mkdir -p config/hpcboot/sites
  export XDG_CONFIG_HOME=$PWD/config
  local name
  for name in '`touch p`' '$(touch p)' 'a b' 'a;touch p' "a'b" "x$EVIL" $'a\nb' '-x' '.hidden'; do
    cp "$shipped" "config/hpcboot/sites/$name.toml"
    shown 20 "$HPCBOOT" script --site "$name" --job single
    grep -q 'rename the file' err
    shown 20 "$HPCBOOT" script --site-file "config/hpcboot/sites/$name.toml" --job single
    shown 20 "$HPCBOOT" script --list
    grep -q '^generic_slurm ' out
    rm "config/hpcboot/sites/$name.toml"
  done
  cp "$shipped" config/hpcboot/sites/mine.toml
  shown 0 "$HPCBOOT" script --site mine --job single
  for name in description='`touch p`' description='$(touch p)' storage.note='$(touch p)'; do
    shown 0 "$HPCBOOT" script --site mine --job single --set "$name"
    cp out script.sh
    bash -n script.sh
    cd "$BATS_TEST_TMPDIR" && timeout 20 bash script.sh >/dev/null 2>&1 </dev/null || true
    [ ! -e p ]
  done
  for name in "description=a$EVIL" $'description=a\ntouch p' $'queue.options=a\ntouch p' 'queue.name=a b' \
    "queue.name=$(printf 'a%.0s' {1..100000})" "container.image=$(printf '/%.0s' {1..100000})"; do
    shown 20 "$HPCBOOT" script --site mine --job single --set "$name"
  done
}

@test "script: TOML nested too deeply, too long, or damaged" {
  "$HPCBOOT" script --list >/dev/null 2>&1 || skip "this build has no job scripts (toml++, mstch)"
  python3 - <<'PY'
deep = 100_000
texts = {
    "dotted": ".".join(["a"] * deep) + " = 1\n",
    "spaced": " . ".join(["a"] * deep) + " = 1\n",
    "quoted": ".".join(['"a.b"'] * deep) + " = 1\n",
    "table": "[" + ".".join(["a"] * deep) + "]\n",
    "tables": "[[" + ".".join(["a"] * deep) + "]]\n",
    "inline": "x = {y = 1, " + ".".join(["a"] * deep) + " = 1}\n",
    "behind": 'x = {a = """x"""", ' + ".".join(["b"] * deep) + " = 1}\n",
    "arrays": "x = " + "[" * deep + "]" * deep + "\n",
    "objects": "x = " + "{a=" * deep + "1" + "}" * deep + "\n",
    "long": "# " + "x" * (2 << 20) + "\n",
    "escape": 'x = "\x1b[31m"\n',
    "bytes": "\udcff\udcfe = 1\n",
    "nothing": "=\n",
}
for name, text in texts.items():
    open(name + ".toml", "w", errors="surrogateescape").write(text)
PY
  local file
  for file in *.toml; do
    shown 28 "$HPCBOOT" script --site-file "$file" --job single
    grep -q "$file:1: " err
  done
}

@test "lint: words of any length, and scripts of any bytes" {
  python3 - <<'PY'
long = "x" * 1_000_000
for i, text in enumerate(["#SBATCH --account=<" + long + ">\n", "#SBATCH --mail-user=" + long + "@" + long + "\n",
                          "srun " + long + "\n", "echo {{" + long + "}}\n", "((" * 200_000, "$(" * 200_000, "`" * 200_001,
                          "if true; then\n" * 100_000, "{ " * 300_000, "#SBATCH --time=" + "1" * 300_000 + "\n"]):
    open(f"s{i}.sh", "w").write("#!/bin/bash\n#SBATCH --nodes=1\n" + text)
open("s99.sh", "wb").write(b"#!/bin/bash\n#SBATCH -partition=\x1b[31m\xc2\x9b\xff\n#SBATCH --time\x1b=1\n")
PY
  local file
  for file in s*.sh; do
    shown - "$HPCBOOT" lint "$file"
    shown - "$HPCBOOT" lint --format json "$file"
    python3 -c 'import json; json.load(open("out"))'
  done
  cp s99.sh "name$EVIL.sh"
  shown 1 "$HPCBOOT" lint "name$EVIL.sh"
  shown 1 "$HPCBOOT" lint --format gcc "name$EVIL.sh"
}

# record NAME EXPRESSION: writes a finished run to runs/, changed by Python code on `r`.
record() {
  mkdir -p "runs/$1"
  python3 - "runs/$1" "$2" <<'PY'
import json, os, sys
folder, change = sys.argv[1:]
evil = os.environ["EVIL"]
r = {"schema": 1, "run": os.path.basename(folder), "started": "2026-11-20T10:00:00Z", "finished": "2026-11-20T10:01:00Z",
     "exit_reason": "finished", "config": {"mode": "single", "model": "mnistnet", "epochs": 2, "image_size": 28},
     "launcher": "single", "nodes": 1, "devices_per_node": 1, "ranks": [], "epochs": [], "site": None,
     "totals": {"runtime_seconds": 60.0, "images_per_second": 100.0}}
text = None
exec(change)
open(folder + "/run.json", "w").write(json.dumps(r) if text is None else text)
PY
}

@test "runtable: texts of records are encoded in every format" {
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  record a 'r["run"] = "=1+1" + evil + "\nforged"; r["launcher"] = "[x](http://a.b)"; r["site"] = "@<b>|`x`"'
  record b 'r["run"] = "+x,\"y"; r["launcher"] = "-1"; r["config"]["model"] = "<script>alert(1)</script>"'
  for format in table md csv json html; do
    shown 0 "$RUNTABLE" --format $format
    if grep '^forged' out; then return 1; fi
    if [ $format = csv ]; then
      python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("out")))
assert len(rows) == 2, rows
for row in rows:
    assert not any(value[:1] in list("=+-@\t\r") for value in row.values()), row
assert {row["run"][:3] for row in rows} == {"'=1", "'+x"}, rows
PY
    fi
    if [ $format = json ]; then python3 -c 'import json; assert len(json.load(open("out"))) == 2'; fi
    if [ $format = html ]; then run ! grep -E '<script|<b>' out; fi
    if [ $format = md ]; then
      [ "$(grep -c '^|' out)" -eq 4 ]
      run ! grep -E '(^|[^\\])[[`]|(^|[^\\])<[^!]|[^>]@' out
    fi
  done
}

@test "runtable: a damaged record is omitted and named, and the others are shown" {
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  record good ''
  record deep 'text = "[" * 80000'
  record deep_inside 'text = json.dumps(r)[:-1] + ", \"x\": " + "{\"a\":" * 80000 + "1" + "}" * 80000 + "}"'
  record epochs 'r["config"]["epochs"] = 2**64 - 1'
  record fraction 'r["config"]["epochs"] = 1.5'
  record rate 'r["totals"]["images_per_second"] = 1e308'
  record negative 'r["totals"]["images_per_second"] = -1'
  record nan 'text = json.dumps(r).replace("100.0", "NaN")'
  record huge 'text = json.dumps(r).replace("100.0", "1e999")'
  record twice 'text = json.dumps(r)[:-1] + ", \"launcher\": \"x\"}"'
  record loss 'r["epochs"] = [{"epoch": 1, "train_loss": 1e300}]'
  record steps 'r["epochs"] = [{"epoch": 1, "steps": -3}]'
  record accuracy 'r["epochs"] = [{"epoch": 1, "validation_accuracy": 7}]'
  record kind 'r["config"]["model"] = ["x"]; r["epochs"] = [7]'
  record nodes 'r["nodes"] = r["devices_per_node"] = 2**31 - 1'
  record epoch 'r["epochs"] = [{"epoch": 0}]'
  record again 'r["epochs"] = [{"epoch": 1}, {"epoch": 1}]'
  record "evil$EVIL" 'text = "{"'
  mkdir runs/fifo && mkfifo runs/fifo/run.json
  shown 0 "$RUNTABLE"
  [ "$(wc -l <out)" -eq 2 ]
  grep -q ' good$' out
  for name in deep deep_inside epochs fraction rate negative nan huge twice loss steps accuracy kind nodes epoch again 'evil' fifo; do
    grep -q "^runtable: skipped: .*runs/$name" err
  done
  [ "$(wc -l <err)" -eq 18 ]
}

@test "runtable: meaningless ratios are empty, and a stray record hides no run" {
  [ -x "$RUNTABLE" ] || skip "$RUNTABLE is not built"
  record base ''
  record tiny 'r["config"]["mode"] = "ddp"; r["totals"]["runtime_seconds"] = 1e-280'
  record zero 'r["totals"] = {"runtime_seconds": -0.0, "images_per_second": -0.0}'
  echo '{' >runs/run.json
  shown 0 "$RUNTABLE" --format json
  python3 - <<'PY'
import json
rows = {row["run"]: row for row in json.load(open("out"))}
assert set(rows) == {"base", "tiny", "zero"}, rows
assert rows["tiny"]["speedup"] is None and rows["tiny"]["efficiency"] is None, rows
assert str(rows["zero"]["runtime_seconds"]) == "0.0", rows
PY
  grep -q "skipped: 'runs/run.json'" err
}
