"""Learning rates of torch.optim.lr_scheduler for tests/unit/lr_schedule_test.cpp: one line per case.

usage: lr_schedules.py [SCHEDULE STEPS WARMUP DECAY_EVERY]...
Exit code 77: torch is missing; the last line on stdout says so.
"""
import sys
import warnings

try:
    import torch
    from torch.optim import lr_scheduler
except ImportError as cause:
    print(cause)
    sys.exit(77)

LR = 0.5
warnings.simplefilter("ignore")  # SequentialLR itself uses a deprecated argument


def rates(schedule, steps, warmup, decay_every):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR)
    main = {
        "constant": lambda: lr_scheduler.ConstantLR(optimizer, factor=1),
        "step": lambda: lr_scheduler.StepLR(optimizer, decay_every, gamma=0.1),
        "cosine": lambda: lr_scheduler.CosineAnnealingLR(optimizer, steps - warmup),
        "linear": lambda: lr_scheduler.LinearLR(optimizer, 1, 0, steps - warmup),
    }
    if warmup == 0:
        scheduler = main[schedule]()
    else:
        first = lr_scheduler.LinearLR(optimizer, 1 / (warmup + 1), 1, warmup)
        scheduler = lr_scheduler.SequentialLR(optimizer, [first, main[schedule]()], [warmup])
    for _ in range(steps):
        yield optimizer.param_groups[0]["lr"]
        optimizer.step()
        scheduler.step()


words = sys.argv[1:]
for i in range(0, len(words), 4):
    print(*rates(words[i], *map(int, words[i + 1 : i + 4])))
