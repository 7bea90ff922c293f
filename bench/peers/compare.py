#!/usr/bin/python3
"""Compares the trainer with PyTorch's Python (peer.py): the same model, data, batch and threads, in turns.

usage: bench/peers/compare.py [--build DIR] [--pairs N] [--threads N] [--precision bf16] [--passive]
                              [--load N] [--only NAME]...

Prints a table: images/s in steady state (the median step, without the first ones) and in a validation, seconds
from the launch to the start and the end of the first step, and the gain of two ranks with twice the batch over
one (weak scaling); two independent runs at the same time show how much of that gain the machine's
memory and clock allow; and the part of oneDNN's own speed that the steps reach. Each figure is the median
of the pairs. Needs a Python with torch and torchvision: the one that runs this.
"""
import argparse
import collections
import contextlib
import csv
import glob
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import torch

from cpu_limits import flop_per_image, matrix_product
from launch import environment, mpirun

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP = 3  # steps that are not counted

# One training: seconds of each step, of the validation, and from the launch to the end of the first step.
Times = collections.namedtuple("Times", "steps validation first")

# batch: images per rank and step
Case = collections.namedtuple("Case", "name model pixels batch steps ranks")
CASES = [
    Case("mnistnet single", "mnistnet", 28, 64, 60, 1),
    Case("mnistnet DDP 2", "mnistnet", 28, 64, 60, 2),
    Case("resnet50 single", "resnet50", 128, 8, 10, 1),
    Case("resnet50 DDP 2", "resnet50", 128, 8, 10, 2),
]


def run(command, o):
    """Standard output, and the seconds from the launch until it has "first step"."""
    begin = time.perf_counter()
    first = None
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          env=environment(o.threads, o.passive)) as process:
        for line in process.stdout:
            if first is None and line.startswith("first step"):
                first = time.perf_counter() - begin
            lines.append(line)
    if process.returncode != 0 or first is None:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{''.join(lines)}")
    return lines, first


def launched(command, ranks, prefix=()):
    return (mpirun(ranks) + list(prefix) if ranks > 1 else []) + command


def measure_trainer(o, case, data, runs):
    shutil.rmtree(runs, ignore_errors=True)
    command = [os.path.join(o.build, "bin", "trainer")] + arguments(o, data, case)
    _, first = run(launched(command + ["--runs-dir", runs], case.ranks), o)
    folder = os.path.dirname(glob.glob(runs + "/*/metrics.csv")[0])
    with open(folder + "/metrics.csv") as file, open(folder + "/run.json") as record:
        return Times([float(row["step_seconds"]) for row in csv.DictReader(file)],
                     json.load(record)["epochs"][0]["validation_seconds"], first)


def measure_peer(o, case, data, _):
    command = [sys.executable, os.path.join(HERE, "peer.py"), "--workers", str(o.workers)]
    exec_ = [os.path.join(o.build, "bin", "hpcboot"), "exec", "--"]
    lines, first = run(launched(command + arguments(o, data, case), case.ranks, exec_), o)
    return Times(**json.loads(lines[-1]), first=first)


def images_per_second(case, steps):
    return case.batch * case.ranks / statistics.median(steps[WARM_UP:])


MEASURES = {"trainer": measure_trainer, "peer": measure_peer}


def at_once(measure, o, case, data, runs):
    """Images/s of two runs of one rank that share nothing but the machine."""
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(measure, o, case, data, runs + str(i)) for i in range(2)]
        return sum(images_per_second(case, one.result().steps) for one in both)


def arguments(o, data, case):
    batch = case.batch * case.ranks
    return ["--data", data, "--model", case.model, "--image-size", str(case.pixels), "--batch-size",
            str(batch), "--limit-samples", str(batch * case.steps), "--threads", str(o.threads), "--precision", o.precision]


def rows_of(case, found):
    """The median of all pairs, trainer and peer, of each figure; a ratio above 1 is good."""
    for which, what, unit in ((0, "steady", "images/s"), (1, "validation", "images/s"),
                              (2, "first step begins", "s"), (3, "first step done", "s")):
        ours, theirs = (statistics.median(one[which] for one in found[who]) for who in found)
        yield f"{case.name}, {what}", unit, ours, theirs, theirs / ours if unit == "s" else ours / theirs


def fastest_convolution(o):
    """FLOP/s: the best that oneDNN reaches in a convolution of ResNet50."""
    command = [os.path.join(o.build, "bin", "trainer"), "bench", "convolution", "--device", "cpu", "--seconds", "0.3",
               "--format", "json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment(o.threads, o.passive))
    return 1e12 * max(row["teraflops_per_second"] for row in json.loads(done.stdout)["rows"] if row["dtype"] == o.precision)


def rows_of_limits(cases, pairs, peak):
    """How near the steps come to the peak, in FLOP/s, of a rank."""
    for case in cases:
        part = flop_per_image(case.model, case.pixels) / case.ranks / peak
        ours, theirs = (statistics.median(pair[case, who][0] for pair in pairs) * part for who in MEASURES)
        yield f"{case.name}, FLOP/s", "of peak", ours, theirs, ours / theirs


def measure_pair(o, cases, data, runs):
    """By case and side: the measurements; by "at once" and side: images/s of two runs together."""
    found = {}
    for case in cases:
        for who, measure in MEASURES.items():
            times = measure(o, case, data, runs)
            found[case, who] = (images_per_second(case, times.steps), case.batch * case.steps / times.validation,
                                times.first - times.steps[0], times.first)
            if case.ranks == 1 and len(cases) > 1:
                found["at once", who] = at_once(measure, o, case, data, runs)
    return found


def rows_of_model(cases, pairs):
    """Rows: what, unit, trainer, peer, ratio."""
    for case in cases:
        yield from rows_of(case, {who: [pair[case, who] for pair in pairs] for who in MEASURES})
    if len(cases) > 1:
        single, double = cases
        # Computed for each pair separately: the machine's speed changes within an hour, or a minute.
        for what, rate in (("weak scaling, two ranks", lambda pair, who: pair[double, who][0]),
                           ("two runs at once", lambda pair, who: pair["at once", who])):
            ours, theirs = (statistics.median(rate(pair, who) / pair[single, who][0] / 2 for pair in pairs)
                            for who in MEASURES)
            yield f"{single.model}, {what}", "of ideal", ours, theirs, ours / theirs


@contextlib.contextmanager
def busy(count):
    """That many other programs, which compute all the time."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1,
                        help="processes of PyTorch's DataLoader; 0, its default: the training process itself")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--passive", action="store_true", help="threads sleep while they wait")
    parser.add_argument("--load", type=int, default=0, metavar="N", help="run N busy programs beside")
    parser.add_argument("--only", action="append", help="a case such as 'resnet50 single'")
    o = parser.parse_args()
    cases = [case for case in CASES if not o.only or case.name in o.only]
    load = []
    with tempfile.TemporaryDirectory() as folder, busy(o.load):
        measured = []
        for model, group in itertools.groupby(cases, key=lambda case: case.model):
            group = list(group)
            images = group[0].batch * group[0].steps  # of one rank in an epoch; of all ranks in a validation
            data = os.path.join(folder, model)
            subprocess.run([os.path.join(o.build, "bin", "trainer"), "digits", data, "--train",
                            str(images * max(case.ranks for case in group)), "--test", str(images)],
                           check=True, stdout=subprocess.DEVNULL)
            pairs = []
            for _ in range(o.pairs):
                load.append(os.getloadavg()[0])
                pairs.append(measure_pair(o, group, data, os.path.join(folder, "runs")))
            measured.append((group, pairs))
    peak = fastest_convolution(o)
    product = matrix_product(o.threads, o.precision)
    rows = [row for group, pairs in measured
            for row in [*rows_of_model(group, pairs), *rows_of_limits(group, pairs, peak)]]
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    print(f"{os.cpu_count()} x {cpu}; PyTorch {torch.__version__}, {o.precision}, {o.threads} threads per rank, "
          f"{o.workers} loading processes per rank, {o.pairs} pairs, {o.load} busy programs beside, "
          f"load {min(load):.1f} to {max(load):.1f}")
    print(f"oneDNN: matrix product {product / 1e9:.0f} GFLOP/s, convolution {peak / 1e9:.0f} GFLOP/s")
    print(f"{'':36} {'':>9} {'trainer':>9} {'PyTorch':>9} {'ratio':>6}")
    for what, unit, ours, theirs, ratio in rows:
        print(f"{what:36} {unit:>9} {ours:9.2f} {theirs:9.2f} {ratio:6.2f}")
    print("ratio: above 1, the trainer is better; peak: oneDNN's fastest convolution of ResNet50, with as many threads")


main()
