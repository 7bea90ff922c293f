#!/usr/bin/python3
"""The trainer beside PyTorch's Python (peer.py): the same model, data, batch and threads, run in turns.

usage: bench/peers/compare.py [--build DIR] [--pairs N] [--threads N] [--only NAME]...

Prints a table: images/s in steady state (the median step, without the first ones), seconds from the
launch to the end of the first step, and what two ranks give over one with twice the batch (weak
scaling). Each figure is the median of the pairs. Needs a Python with torch and torchvision: the one
that runs this.
"""
import argparse
import csv
import glob
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP = 3  # steps that are not counted

# name, model, pixels, global batch of one rank, steps, ranks
CASES = [
    ("mnistnet single", "mnistnet", 28, 64, 60, 1),
    ("mnistnet DDP 2", "mnistnet", 28, 64, 60, 2),
    ("resnet50 single", "resnet50", 128, 8, 10, 1),
    ("resnet50 DDP 2", "resnet50", 128, 8, 10, 2),
]


def environment(threads):
    return dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive",
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(command, threads):
    """Standard output, and seconds from the launch until "first step" stood there."""
    begin = time.perf_counter()
    first = None
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          env=environment(threads)) as process:
        for line in process.stdout:
            if first is None and line.startswith("first step"):
                first = time.perf_counter() - begin
            lines.append(line)
    if process.returncode != 0 or first is None:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{''.join(lines)}")
    return lines, first


def launched(command, ranks, prefix=()):
    mpirun = ["mpirun", "-np", str(ranks), "--oversubscribe", "--bind-to", "none"]
    return (mpirun + list(prefix) if ranks > 1 else []) + command


def measure_trainer(o, case, data, runs):
    _, model, pixels, batch, steps, ranks = case
    shutil.rmtree(runs, ignore_errors=True)
    command = [os.path.join(o.build, "bin", "trainer")] + arguments(o, data, case)
    _, first = run(launched(command + ["--runs-dir", runs], ranks), o.threads)
    with open(glob.glob(runs + "/*/metrics.csv")[0]) as file:
        return [float(row["step_seconds"]) for row in csv.DictReader(file)], first


def measure_peer(o, case, data, _):
    ranks = case[5]
    command = [sys.executable, os.path.join(HERE, "peer.py")] + arguments(o, data, case)
    exec_ = [os.path.join(o.build, "bin", "hpcboot"), "exec", "--"]
    lines, first = run(launched(command, ranks, exec_), o.threads)
    return json.loads(lines[-1]), first


def arguments(o, data, case):
    _, model, pixels, batch, steps, ranks = case
    return ["--data", data, "--model", model, "--image-size", str(pixels), "--batch-size",
            str(batch * ranks), "--limit-samples", str(batch * ranks * steps), "--threads", str(o.threads)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", action="append", help="a case such as 'resnet50 single'")
    o = parser.parse_args()
    cases = [case for case in CASES if not o.only or case[0] in o.only]
    load = []
    rows = []
    speed = {}
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        images = max(batch * steps * ranks for _, _, _, batch, steps, ranks in cases)
        subprocess.run([os.path.join(o.build, "bin", "trainer"), "digits", data, "--train", str(images),
                        "--test", "10"], check=True, stdout=subprocess.DEVNULL)
        for case in cases:
            name, _, _, batch, _, ranks = case
            found = {"trainer": [], "peer": []}
            for _ in range(o.pairs):
                load.append(os.getloadavg()[0])
                for who, measure in (("trainer", measure_trainer), ("peer", measure_peer)):
                    steps, first = measure(o, case, data, os.path.join(folder, "runs"))
                    found[who].append((batch * ranks / statistics.median(steps[WARM_UP:]), first))
            for which, (what, unit) in enumerate((("steady", "images/s"), ("first step", "s"))):
                ours, theirs = (statistics.median(x[which] for x in found[who]) for who in found)
                ratio = ours / theirs if which == 0 else theirs / ours
                rows.append((f"{name}, {what}", unit, ours, theirs, ratio))
                if which == 0:
                    speed[name] = (ours, theirs)
    for model in ("mnistnet", "resnet50"):
        one, two = speed.get(f"{model} single"), speed.get(f"{model} DDP 2")
        if one and two:
            ours, theirs = (two[i] / one[i] / 2 for i in (0, 1))
            rows.append((f"{model}, weak scaling 1 to 2", "of 2", ours, theirs, ours / theirs))

    import torch

    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    print(f"{platform.node()}: {os.cpu_count()} x {cpu}; PyTorch {torch.__version__}, "
          f"{o.threads} threads a rank, {o.pairs} pairs, load {min(load):.1f} to {max(load):.1f}")
    print(f"{'':36} {'':>9} {'trainer':>9} {'PyTorch':>9} {'ratio':>6}")
    for what, unit, ours, theirs, ratio in rows:
        print(f"{what:36} {unit:>9} {ours:9.2f} {theirs:9.2f} {ratio:6.2f}")
    print("ratio: above 1 the trainer is better")


main()
