#!/usr/bin/env bats
# Hostile content of the runs folder and of data files: it must not end a training, control the terminal or hide a run.
# shellcheck disable=SC2086,SC2154 # $small holds options, meant to be split; see helper.bash

load helper

setup_file() {
  use_programs
  draw_digits
  export small="$small --no-tensorboard --epochs 2"
  export EVIL=$'\e[31mred\u009b2J\rx'
}

# harmless FILE…: contains no byte that controls a terminal.
harmless() {
  if LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@" >found; then
    cat -v found
    return 1
  fi
}

# An unfinished run with a checkpoint, in runs/.
interrupted_run() {
  "$trainer" $small --limit-samples 64 --runs-dir runs >first
  sed -i 's/"exit_reason": "[^"]*"/"exit_reason": "running"/' runs/*/run.json
}

@test "--resume auto: damaged records of others are named, and the run goes on" {
  interrupted_run
  run=$(echo runs/*)
  mkdir runs/{deep,number,text,kind} "runs/evil$EVIL"
  python3 -c 'print("[" * 80000, end="")' >runs/deep/run.json
  sed 's/"epochs": 2,/"epochs": 18446744073709551615,/' "$run/run.json" >runs/number/run.json
  sed 's/"requested_mode": "auto"/"requested_mode": ["auto"]/' "$run/run.json" >runs/kind/run.json
  echo '{"schema"' >runs/text/run.json
  echo '{' >"runs/evil$EVIL/run.json"
  "$trainer" $small --limit-samples 64 --runs-dir runs --resume auto >out 2>err
  cat -v out err
  harmless out err "$run/rank_00.log"
  for name in deep number text evil; do grep -q "run $name.* is skipped: " out; done
  [ "$(value "$run" "['exit_reason']")" = finished ]
  [ "$(value "$run" "['resumed'][0]['epoch']")" -ge 1 ]
}

@test "--resume auto: a newest checkpoint that claims much memory is named, and an older one taken" {
  interrupted_run
  run=$(echo runs/*)
  good=("$run"/checkpoints/epoch_*.safetensors)
  python3 - "${good[-1]}" "$run/checkpoints/epoch_0100_step_00001000.safetensors" <<'PY'
import json, struct, sys
with open(sys.argv[1], "rb") as file:
    notes = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))["__metadata__"]
size = 8_000_000_000_000
header = json.dumps({"__metadata__": notes, "model.huge": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.truncate(8 + len(header) + size)
PY
  "$trainer" $small --limit-samples 64 --runs-dir runs --resume auto >out 2>err
  grep -q "checkpoint epoch_0100_step_00001000.safetensors cannot be used: .*tensor 'model.huge', which this model does not have" out
  grep -q "resumed from .*$(basename "${good[-1]}")" out
  [ "$(value "$run" "['exit_reason']")" = finished ]
}

@test "a run.lock that no trainer wrote is said to be that" {
  interrupted_run
  run=$(echo runs/*)
  for text in "$(python3 -c 'print("[" * 4000, end="")')" '{"host": 7, "pid": 1}' '{"host": "n1", "pid": -1}' 'hello' \
    "{\"host\": \"n1\", \"pid\": 1e9}" "$(head -c 100000 /dev/zero | tr '\0' x)"; do
    printf '%s' "$text" >"$run/run.lock"
    # Another process holds the lock, as a trainer would.
    exec 9<>"$run/run.lock"
    flock -n 9
    code=0
    "$trainer" $small --limit-samples 64 --runs-dir runs --resume "$run" 9>&- >out 2>err || code=$?
    exec 9>&-
    cat -v err
    [ "$code" -eq 48 ]
    grep -q "found: .*is in use by an unknown process: .*run.lock'" err
  done
  # Without a holder, such a file does no harm.
  "$trainer" $small --limit-samples 64 --runs-dir runs --resume "$run" >/dev/null
}

@test "inspect, and errors about data: names in a file are shown, not obeyed" {
  python3 - <<'PY'
import json, os, struct
evil = os.environ["EVIL"] + "\nforged: 1"
header = json.dumps({evil: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("a.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b"\0" * 4)
header = b"{" + b'"a":{' * 200000
open("deep.safetensors", "wb").write(struct.pack("<Q", len(header)) + header)
header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
open("twice.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b"\0")
PY
  "$trainer" inspect a.safetensors >out
  harmless out
  run ! grep '^forged' out
  "$trainer" inspect --json a.safetensors >out
  harmless out
  python3 -c 'import json; assert "\n" in json.load(open("out"))["arrays"][0]["name"]'
  cp a.safetensors "name$EVIL.safetensors"
  "$trainer" inspect "name$EVIL.safetensors" >out
  harmless out
  for file in deep twice; do
    run -41 "$trainer" inspect $file.safetensors
  done
  [[ $output == *"key 'a' twice"* ]]
  code=0
  "$trainer" $model --data "a.safetensors" --comment "$EVIL" --runs-dir "runs$EVIL" >out 2>err || code=$?
  [ "$code" -ne 0 ]
  harmless out err
}

@test "inspect: a .pt whose objects lie too deep, hold themselves or are not there" {
  python3 - <<'PY'
import zipfile
def pt(name, pickle):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", pickle)
        file.writestr("archive/version", "3\n")
deep = 200_000
pt("tuples.pt", b"\x80\x02}X\x01\0\0\0a)" + b"\x85" * deep + b"s.")
pt("marks.pt", b"\x80\x02}(X\x01\0\0\0a" + b"(" * deep + b"K\x01" + b"t" * deep + b"u.")
pt("lists.pt", b"\x80\x02}(X\x01\0\0\0a" + b"](" * deep + b"K\x01" + b"e" * deep + b"u.")
# Each list gets the next one as an element after it was stored, so that no list is deep when it is stored.
chain = b"".join(b"]r" + i.to_bytes(4, "little") + b"0" for i in range(2000))
chain += b"".join(b"j" + i.to_bytes(4, "little") + b"(j" + (i + 1).to_bytes(4, "little") + b"e0" for i in range(1999))
pt("chain.pt", b"\x80\x02" + chain + b"}(X\x01\0\0\0aj\0\0\0\0u.")
pt("itself.pt", b"\x80\x02}q\0(X\x01\0\0\0ah\0u.")
pt("nothing.pt", b"\x80\x02}(X\x01\0\0\0ah\x07u.")
pt("empty.pt", b"\x80\x02u.")
pt("shallow.pt", b"\x80\x02}(X\x01\0\0\0a)" + b"\x85" * 20 + b"u.")
PY
  for file in tuples marks lists chain; do
    run -41 "$trainer" inspect $file.pt
    [[ $output == *"are nested more than 64 deep"* ]]
  done
  run -41 "$trainer" inspect itself.pt
  [[ $output == *"contains itself"* ]]
  for file in nothing empty; do
    run -41 "$trainer" inspect $file.pt
    [[ $output == *"uses an object that does not exist"* ]]
  done
  run "$trainer" inspect shallow.pt
  [[ $output != *data.pkl* ]]
}

@test "inspect: a .pt that unpacks to gigabytes is refused before it does" {
  python3 - <<'PY'
import struct, zipfile
zeros = b"\0" * (1 << 20)
with zipfile.ZipFile("bomb.pt", "w", zipfile.ZIP_DEFLATED) as file:
    with file.open("archive/data.pkl", "w", force_zip64=True) as pickle:
        for _ in range(4096): pickle.write(zeros)
    file.writestr("archive/version", "3\n")
with zipfile.ZipFile("version.pt", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("archive/data.pkl", b"\x80\x02}.")
    file.writestr("archive/version", zeros * 80)
# Only the directory claims it: 3 GB in 4 bytes.
with zipfile.ZipFile("claim.pt", "w") as file:
    file.writestr("archive/data.pkl", b"\x80\x02}.")
    file.writestr("archive/version", "3\n")
bytes = bytearray(open("claim.pt", "rb").read())
at = bytes.index(b"PK\1\2")
bytes[at + 24:at + 28] = struct.pack("<I", 3 << 30)
open("claim.pt", "wb").write(bytes)
# Deflated and small: LibTorch reads it.
with zipfile.ZipFile("small.pt", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("archive/data.pkl", b"\x80\x02}.")
    file.writestr("archive/version", "3\n")
PY
  [ "$(stat -c %s bomb.pt)" -lt 10000000 ]
  for file in bomb version; do
    run -41 bash -c 'ulimit -v 4000000; exec "$@"' - "$trainer" inspect $file.pt
    [[ $output == *"bytes unpacked, more than 64 MiB"* ]]
  done
  run -41 "$trainer" inspect claim.pt
  [[ $output == *"its archive/data.pkl claims 3221225472 bytes, stored in 4"* ]]
  run "$trainer" inspect small.pt
  [[ $output != *archive* ]]
}

@test "inspect: a .pt that names one record many times needs memory for it once" {
  python3 - <<'PY'
import struct, zipfile
SIZE = 1 << 19
def pt(name, pickle, file_name):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", pickle)
        file.writestr("archive/data/" + file_name, b"\1" * SIZE)
        file.writestr("archive/version", "3\n")
def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()
def number(n):
    return b"J" + struct.pack("<i", n)
def place(key):
    return b"(" + text("storage") + b"ctorch\nByteStorage\n" + text(key) + text("cpu") + number(SIZE) + b"t"
def names(count, array):
    return b"".join(text(f"{i:05}") + array(i) for i in range(count))
pt("places.pt", b"\x80\x02}(" + text("a") + place("0") + b"q\x01Q" + names(20000, lambda i: b"h\x01Q") + b"u.", "0")
# The names of records are compared without regard to case.
pt("cases.pt", b"\x80\x02}(" + names(8192, lambda i: place("".join("aA"[i >> k & 1] for k in range(13))) + b"Q") + b"u.",
   "a" * 13)
# Transposed views of one storage.
view = b"ctorch._utils\n_rebuild_tensor_v2\n(h\x01" + number(0) + b"(" + number(1024) + number(512) + b"t(" + \
    number(1) + number(1024) + b"t\x89Ntq\x02"
pt("views.pt", b"\x80\x02}(" + text("a") + place("0") + b"Qq\x01" + names(20000, lambda i: view + b"R") + b"u.", "0")
# Many entries of the directory for the same bytes.
with zipfile.ZipFile("overlap.pt", "w", zipfile.ZIP_STORED) as file:
    file.writestr("archive/data.pkl", b"\x80\x02}(" + names(3, lambda i: place(str(i)) + b"Q") + b"u.")
    file.writestr("archive/data/0", b"\1" * SIZE)
    for i in range(1, 3):
        again = zipfile.ZipInfo(f"archive/data/{i}")
        again.header_offset, again.CRC = file.filelist[1].header_offset, file.filelist[1].CRC
        again.file_size = again.compress_size = SIZE
        file.filelist.append(again)
PY
  for file in places:a cases:00000 views:00000; do
    run -0 bash -c 'ulimit -v 4000000; exec "$@"' - "$trainer" inspect ${file%:*}.pt
    [[ $output == *"${file#*:} "* ]]
  done
  run -41 "$trainer" inspect overlap.pt
  [[ $output == *"the files in it overlap"* ]]
}

@test "a .pt that promises more than it has, names a type without end, or what no pickle has" {
  python3 - <<'PY'
import struct, zipfile
def pt(name, pickle, records=()):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", pickle)
        for key, data in enumerate(records):
            file.writestr(f"archive/data/{key}", data)
        file.writestr("archive/version", "3\n")
def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()
def name(module, name):
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"
def number(n):
    return b"J" + struct.pack("<i", n)
def group(*parts):
    return b"(" + b"".join(parts) + b"t"
def tensor(key, storage, sizes):
    strides, count = [], 1
    for size in reversed(sizes):
        strides.insert(0, count)
        count *= size
    place = group(text("storage"), name("torch", storage), text(key), text("cpu"), number(count)) + b"Q"
    return name("torch._utils", "_rebuild_tensor_v2") + group(
        place, number(0), group(*map(number, sizes)), group(*map(number, strides)), b"\x89",
        name("collections", "OrderedDict") + b")R") + b"R"
def data_set(n):
    images, labels = tensor("0", "ByteStorage", [n, 1, 28, 28]), tensor("1", "LongStorage", [n])
    return b"\x80\x02}(" + b"".join(text(f"{split}/{kind}") + array for split in ("train", "test")
                                    for kind, array in (("images", images), ("labels", labels))) + b"u."
pt("right.pt", data_set(10), [b"\1" * 7840, b"\0" * 80])
pt("more.pt", data_set(11), [b"\1" * 7840, b"\0" * 80])
pt("far_more.pt", data_set(2_000_000), [b"\1" * 16, b"\0" * 24])
deep = "List[" * 200_000 + "int" + "]" * 200_000
pt("type.pt", b"\x80\x02}(" + text("a") + name("torch.jit._pickle", "restore_type_tag") + group(b"]", text(deep)) + b"Ru.")
pt("unknown.pt", b"\x80\x02\xfe.")
PY
  "$trainer" inspect right.pt | grep -q 'train: 10 images'
  for file in more far_more type unknown; do
    run -41 "$trainer" inspect $file.pt
    echo "$output"
  done
  [[ $output == *"is not an instruction of pickle protocols"* ]]
}

@test "--resume auto: a pipe, a folder, a loop, other people's rows in place of a run's files" {
  interrupted_run
  run=$(echo runs/*)
  cp -r "$run" whole
  # left_out: the run is named and skipped, and a new one starts.
  left_out() {
    timeout -k 5 60 "$trainer" $small --limit-samples 64 --runs-dir runs --resume auto >out 2>err
    cat -v out err
    grep -q "run $(basename "$run") is skipped: " out
    [ "$(find runs -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]
    rm -rf runs && mkdir runs && cp -r whole "$run"
  }
  rm "$run/run.lock" && mkdir "$run/run.lock"
  left_out
  echo garbage >"$run/metrics.csv"
  left_out
  rm "$run/metrics.csv" && mkfifo "$run/metrics.csv"
  left_out
  rm "$run/run.json" && ln -s run.json "$run/run.json"
  left_out
  sed -i 's/"epoch": 1,/"epoch": 0,/' "$run/run.json"
  left_out
  # A checkpoint that cannot be read is named, and the previous one is used.
  mkfifo "$run/checkpoints/epoch_0009_step_00000099.safetensors"
  timeout -k 5 60 "$trainer" $small --limit-samples 64 --runs-dir runs --resume auto >out 2>err
  cat -v out err
  grep -q 'checkpoint epoch_0009_step_00000099.safetensors cannot be used: ' out
  [ "$(value "$run" "['exit_reason']")" = finished ]
}
