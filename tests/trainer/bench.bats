#!/usr/bin/env bats
# trainer bench: what this machine computes, copies, sums and loads.
# shellcheck disable=SC2154 # $trainer and others are set in helper.bash

load helper

setup_file() { use_programs; }

# check CODE: Python that sees the JSON in `out` as `result` and its rows as `rows`.
check() {
  python3 - <<TEXT
import json, math
result = json.load(open("out"))
rows = result["rows"]
assert rows and result["device"], result
for row in rows:
    assert 0 < row["seconds_low"] <= row["seconds"] <= row["seconds_high"] and row["samples"] >= 3, row
$1
TEXT
}

@test "matmul: TFLOP/s of each type and size" {
  "$trainer" bench matmul --seconds 0.05 --format json >out
  check '
for row in rows:
    assert math.isclose(row["teraflops_per_second"] * 1e12 * row["seconds"], 2 * int(row["size"]) ** 3), row
assert {row["dtype"] for row in rows} >= {"fp32", "bf16"}, rows'
}

@test "copy: GB/s by size" {
  "$trainer" bench copy --seconds 0.05 --format json >out
  check '
sizes = {"64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24, "128 MiB": 2**27}
for row in rows:
    if row["copy"] == "host to host":
        assert math.isclose(row["gigabytes_per_second"] * 1e9 * row["seconds"], 2 * sizes[row["size"]]), row
assert {row["size"] for row in rows} == set(sizes), rows'
}

@test "layernorm: three variants, by type and width, as a table and a plot" {
  "$trainer" bench layernorm --seconds 0.02 --format json >out
  check '
assert {row["variant"] for row in rows} == {"native", "composed", "fused"}, rows
assert {row["width"] for row in rows} == {"256", "1024", "4096", "16384"}, rows
assert all(row["gigabytes_per_second"] > 0 for row in rows), rows'
  command -v gnuplot >/dev/null || skip "no gnuplot on this machine"
  "$trainer" bench layernorm --seconds 0.02 --plot norm.svg >table
  cat table
  [ "$(wc -L <table)" -le 80 ]
  python3 - <<'TEXT'
import xml.etree.ElementTree as tree
texts = " ".join("".join(one.itertext()) for one in tree.parse("norm.svg").getroot().iter() if one.tag.endswith("text"))
for text in "layernorm: ", "native, fp32", "composed, bf16", "fused, fp32", "GB/s", "width": assert text in texts, (text, texts)
TEXT
}

@test "convolution: ResNet50's layers in both layouts" {
  "$trainer" bench convolution --seconds 0.01 --format csv >out.csv
  python3 - <<'TEXT'
import csv
rows = list(csv.DictReader(open("out.csv")))
assert {row["layout"] for row in rows} == {"NCHW", "NHWC"} and len({row["layer"] for row in rows}) == 6, rows
for row in rows:  # 2 x 32 x 64 x 32 x 32 x 64 x 9
    if row["layer"] == "layer1 3x3" and row["batch"] == "32":
        flop = float(row["teraflops_per_second"]) * 1e12 * float(row["seconds"])
        assert abs(flop / (2 * 32 * 64 * 32 * 32 * 64 * 9) - 1) < 1e-6, row
TEXT
}

@test "loader: images per second by threads and size" {
  "$trainer" bench loader --format json >out
  check '
for row in rows:
    assert math.isclose(row["items_per_second"] * row["seconds"], 1024), row
    assert math.isclose(row["gigabytes_per_second"] * 1e9 * row["seconds"], 1024 * 3 * int(row["pixels"]) ** 2 * 4), row
assert rows[0]["threads"] == "1", rows'
}

@test "allreduce: what each link carries, on two and three ranks" {
  need_mpirun
  local n
  for n in 2 3; do
    mpirun -np $n --oversubscribe "$trainer" bench allreduce --seconds 0.05 --format json >out
    check "
sizes = {'4 KiB': 2**12, '64 KiB': 2**16, '1 MiB': 2**20, '4 MiB': 2**22, '16 MiB': 2**24, '64 MiB': 2**26}
assert [row['size'] for row in rows] == list(sizes), rows
for row in rows:
    moved = row['gigabytes_per_second'] * 1e9 * row['seconds']
    assert math.isclose(moved, sizes[row['size']] * 2 * ($n - 1) / $n), row"
  done
}

@test "wrong arguments and devices that are missing are named" {
  run -2 "$trainer" bench
  [[ $output == *"bench needs a KIND; expected allreduce, matmul"* ]]
  run -2 "$trainer" bench sort
  [[ $output == *"unknown kind 'sort'; expected allreduce, matmul"* ]]
  run -2 "$trainer" bench allreduce
  [[ $output == *"at least two ranks"* ]]
  run -2 "$trainer" bench matmul --seconds 0
  run -2 "$trainer" bench matmul --seconds nan
  run -2 "$trainer" bench matmul --plot x.gif
  run -42 "$trainer" bench matmul --plot nowhere/x.svg
  if [ ! -e /dev/nvidiactl ]; then run -30 "$trainer" bench matmul --device cuda; fi
  run -1 bash -c '"$1" bench copy --seconds 0.01 >/dev/full' bash "$trainer"
}
