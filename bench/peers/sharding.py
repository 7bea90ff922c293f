"""build/bench/sharding and sharding_peer.py in alternating runs: step times of DDP and ZeRO-1, 2 and 3 of
both, on Gloo. The build must use the LibTorch of this Python's PyTorch:
    setup/get-libtorch --version 2.15.0    (and a build with it)
    python3 bench/peers/sharding.py --build build-2.15.0 [--pairs 3] [--ranks 2 4]
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

import torch

from launch import environment, mpirun

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"^(\w+) +(DDP|ZeRO-[123]) +([0-9.]+) ms")


def steps_of(command, ranks):
    """By way: milliseconds; and the version of LibTorch or PyTorch."""
    done = subprocess.run([*mpirun(ranks), *command], env=environment(threads=1), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = [ROW.match(line) for line in done.stdout.splitlines()]
    version = re.search(r"Torch (\d+\.\d+\.\d+)", done.stdout)
    return {row[2]: float(row[3]) for row in rows if row}, version[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    o = parser.parse_args()
    own = [os.path.join(o.build, "bench", "sharding")]
    peer = [os.path.join(o.build, "bin", "hpcboot"), "exec", "--", sys.executable,
            os.path.join(HERE, "sharding_peer.py")]
    load = []
    print(f"{'':9} {'':7} {'ranks':>5} {'hpcboot':>12} {'PyTorch':>12} {'ratio':>6}")
    for model in ("mnistnet", "resnet50"):
        for ranks in o.ranks:
            pairs = []
            for _ in range(o.pairs):
                load.append(os.getloadavg()[0])
                ours, version = steps_of([*own, str(o.steps), model], ranks)
                theirs, of_peer = steps_of([*peer, str(o.steps), model], ranks)
                if version != of_peer:
                    sys.exit(f"{own[0]} has LibTorch {version}, and this Python has PyTorch {of_peer}: "
                             "use the same version of both")
                pairs.append((ours, theirs))
            for way in pairs[0][0]:
                ours, theirs = (statistics.median(pair[side][way] for pair in pairs) for side in range(2))
                ratio = statistics.median(pair[1][way] / pair[0][way] for pair in pairs)
                print(f"{model:9} {way:7} {ranks:5} {ours:9.1f} ms {theirs:9.1f} ms {ratio:6.2f}", flush=True)
    print(f"PyTorch {torch.__version__}, median of {o.pairs} pairs of {o.steps} steps, load {min(load):.1f} to "
          f"{max(load):.1f}; ratio: above 1, hpcboot is faster")


main()
