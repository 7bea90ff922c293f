"""compare_losses.py STEPS SINGLE.csv OTHER.csv [LIMIT]: checks that the losses of the first STEPS steps agree
within LIMIT (relative, 1e-4 by default)."""

import csv
import sys


def losses(path):
    with open(path, newline="") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


steps = int(sys.argv[1])
limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-4
one, other = losses(sys.argv[2]), losses(sys.argv[3])
if len(one) < steps or len(other) < steps:
    sys.exit(f"{len(one)} and {len(other)} steps were recorded, but {steps} must be compared")
worst = max(abs(a - b) / abs(a) for a, b in zip(one[:steps], other[:steps]))
print(f"{steps} steps, losses {one[0]:.4f} to {one[steps - 1]:.4f}, largest relative difference {worst:.2e}")
if one[0] == one[steps - 1]:
    sys.exit("the loss does not change: nothing is trained")
if worst > limit:
    sys.exit(f"the losses differ by more than {limit}")
