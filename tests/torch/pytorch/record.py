#!/usr/bin/env python3
"""Records what PyTorch's DistributedDataParallel computes on 1, 2 and 4 ranks, for pytorch_*_test.cpp.

usage: record.py recorded.json           writes the figures of this PyTorch
       record.py --also recorded.json    compares them, and adds this PyTorch to those that computed them

Runs on the CPU, with Gloo. Weights and inputs come from a formula, not from random numbers. A figure is a list of
numbers, the same on every rank; numbers of each rank are gathered.
"""

import contextlib
import json
import math
import os
import platform
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint

WORLD_SIZES = (1, 2, 4)
STEPS = 4
RATE = 0.1
DIGITS = 7
SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def scenario_of_2(function):
    """PyTorch 1.13 fails in it."""
    return scenario(function) if torch.__version__ >= "2" else function


# The formula, as in recorded.hpp.


def filled(*shape, seed, dtype=torch.float32):
    count = math.prod(shape)
    return (torch.arange(count, dtype=torch.float64) * 1.3 + 0.7 * seed + 0.1).sin().to(dtype).reshape(shape)


def fill(model):
    """Other weights on each rank: DistributedDataParallel takes over those of rank 0."""
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(filled(*parameter.shape, seed=index + 50 * dist.get_rank()) * 0.5)
    return model


def batch(step, part=0):
    return filled(3, 4, seed=100 + 10 * step + dist.get_rank() + 1000 * part)


def mean_over_ranks(value):
    value = value.detach().double().clone()
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


def of_all_ranks(tensors):
    mine = torch.cat([tensor.detach().double().flatten() for tensor in tensors])
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine)
    return torch.cat(parts).tolist()


def values(tensors):
    return [value for tensor in tensors for value in tensor.detach().double().flatten().tolist()]


def train(ddp, loss_of, steps=range(STEPS)):
    """The figures of training with SGD. loss_of(step): the loss of this rank."""
    parameters = [parameter for parameter in ddp.parameters() if parameter.requires_grad]
    losses = []
    for step in steps:
        loss = train_step(parameters, lambda: loss_of(step))
        losses.append(mean_over_ranks(loss))
    return {"losses": losses, "parameters": values(parameters)}


def train_step(parameters, loss_of):
    optimizer = torch.optim.SGD(parameters, RATE)
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of()
    loss.backward()
    optimizer.step()
    return loss


class Net(torch.nn.Module):
    def __init__(self, inputs=4, outputs=2):
        super().__init__()
        self.first = torch.nn.Linear(inputs, 5)
        self.second = torch.nn.Linear(5, outputs)

    def forward(self, x):
        return self.second(self.first(x).tanh())


class Heads(torch.nn.Module):
    """Three heads on one trunk; each forward names those that it uses."""

    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Linear(4, 3)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(3))

    def forward(self, x, used):
        x = self.trunk(x).tanh()
        return sum(self.heads[head](x) for head in used)


def plain_training(**options):
    ddp = DDP(fill(Net()), **options)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def training():
    return plain_training()


@scenario
def small_buckets():
    return plain_training(bucket_cap_mb=0.00005)


@scenario
def gradient_as_bucket_view():
    return plain_training(gradient_as_bucket_view=True, bucket_cap_mb=0.00005)


@scenario
def fp16_compression():
    ddp = DDP(fill(Net()))
    ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def no_sync():
    ddp = DDP(fill(Net()))

    def loss_of(step):
        with ddp.no_sync():
            (ddp(batch(step, 1)).square().mean() / 2).backward()
        return ddp(batch(step)).square().mean() / 2

    return train(ddp, loss_of)


@scenario
def static_graph():
    """Head 2 is never used, head 0 twice."""
    ddp = DDP(fill(Heads()), static_graph=True)
    return train(ddp, lambda step: ddp(batch(step), [0, 1, 0]).square().mean())


@scenario
def find_unused_any_pattern():
    """Other heads in every step and on every rank; in step 1, no rank uses head 2, in step 2, all use all."""
    ddp = DDP(fill(Heads()), find_unused_parameters=True)

    def used(step):
        if step == 1:
            return [dist.get_rank() % 2]
        if step == 2:
            return [0, 1, 2]
        return [(step + dist.get_rank()) % 3]

    return train(ddp, lambda step: ddp(batch(step), used(step)).square().mean())


@scenario
def ignored_parameters():
    class Partly(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.shared = torch.nn.Linear(4, 2)
            self.own = torch.nn.Linear(4, 2)
            self.register_buffer("own_buffer", torch.full((2,), float(dist.get_rank())))
            self.register_buffer("buffer", torch.full((2,), float(dist.get_rank() + 1)))

        def forward(self, x):
            return self.shared(x) * self.buffer + self.own(x) + self.own_buffer

    model = fill(Partly())
    DDP._set_params_and_buffers_to_ignore_for_model(model, ["own.weight", "own.bias", "own_buffer"])
    ddp = DDP(model)
    figures = train(ddp, lambda step: ddp(batch(step)).square().mean())
    figures["parameters"] = values(model.shared.parameters())
    figures["own"] = of_all_ranks([*model.own.parameters(), model.own_buffer, model.buffer])
    return figures


@scenario
def sparse_gradients():
    class Words(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(10, 3, sparse=True)
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, words):
            return self.layer(self.table(words))

    ddp = DDP(fill(Words()))
    rank = dist.get_rank()
    return train(ddp, lambda step: ddp(torch.tensor([rank, rank + 1, 7, 7, step])).square().mean())


@scenario
def mixed_types():
    class Mixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.single = torch.nn.Linear(4, 3)
            self.double_ = torch.nn.Linear(3, 2).double()

        def forward(self, x):
            return self.double_(self.single(x).double())

    ddp = DDP(fill(Mixed()))
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x).tanh())


@scenario
def shared_parameters():
    ddp = DDP(fill(Tied()))
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def shared_parameters_find_unused():
    ddp = DDP(fill(Tied()), find_unused_parameters=True)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def frozen_before_wrapping():
    model = fill(Net())
    model.first.requires_grad_(False)
    ddp = DDP(model)
    figures = train(ddp, lambda step: ddp(batch(step)).square().mean())
    figures["frozen"] = of_all_ranks(model.first.parameters())
    return figures


@scenario
def frozen_after_wrapping():
    model = fill(Net())
    ddp = DDP(model, find_unused_parameters=True)
    first = train(ddp, lambda step: ddp(batch(step)).square().mean(), range(2))
    model.first.requires_grad_(False)
    second = train(ddp, lambda step: ddp(batch(step)).square().mean(), range(2, 4))
    return {"losses": first["losses"] + second["losses"], "parameters": values(model.parameters())}


@scenario
def several_forwards():
    ddp = DDP(fill(Net()))
    return train(ddp, lambda step: ddp(batch(step)).square().mean() + ddp(batch(step, 1)).abs().mean())


def gradients(model):
    return of_all_ranks([parameter.grad for parameter in model.parameters()])


@scenario
def several_forwards_then_backwards():
    """The first backward pass exchanges the gradients; the second adds those of this rank."""
    model = fill(Net())
    ddp = DDP(model)
    first, second = ddp(batch(0)).square().mean(), ddp(batch(0, 1)).square().mean()
    first.backward()
    figures = {"first": gradients(model)}
    second.backward()
    figures["second"] = gradients(model)
    return figures


@scenario
def second_backward():
    """Of the same graph: adds the gradients of this rank."""
    model = fill(Net())
    ddp = DDP(model)
    loss = ddp(batch(0)).square().mean()
    loss.backward(retain_graph=True)
    figures = {"first": gradients(model)}
    loss.backward()
    figures["second"] = gradients(model)
    return figures


@scenario
def batches_of_different_size():
    """Rank 1 has none."""
    ddp = DDP(fill(Net()))
    rows = (3, 0, 1, 2)[dist.get_rank()]
    return train(ddp, lambda step: ddp(batch(step)[:rows]).square().sum())


@scenario
def double_backward():
    """A penalty on the gradient of the output with respect to the input."""
    ddp = DDP(fill(Net()))

    def loss_of(step):
        x = batch(step).requires_grad_()
        y = ddp(x)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return y.square().mean() + slope.square().mean()

    return train(ddp, loss_of)


@scenario
def penalty_on_gradients():
    """Of the parameters, on this rank's own gradients."""
    ddp = DDP(fill(Net()))

    def loss_of(step):
        loss = ddp(batch(step)).square().mean()
        own = torch.autograd.grad(loss, list(ddp.parameters()), create_graph=True)
        return loss + sum(gradient.square().sum() for gradient in own)

    return train(ddp, loss_of)


class Segments(torch.nn.Module):
    """Recomputes the last layer during the backward pass, so that its gradients are the first ones."""

    def __init__(self, times):
        super().__init__()
        self.times = times
        self.first = torch.nn.Linear(4, 5)
        self.second = torch.nn.Linear(5, 5)

    def forward(self, x):
        x = self.first(x).tanh()
        for _ in range(self.times):
            x = checkpoint(self.second, x, use_reentrant=True)
        return x


@scenario
def checkpointed_segment():
    ddp = DDP(fill(Segments(1)))
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def checkpointed_twice_static_graph():
    ddp = DDP(fill(Segments(2)), static_graph=True)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def outputs_of_any_structure():
    class Structured(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(4))

        def forward(self, x):
            a, b, c, d = (layer(x) for layer in self.layers)
            return a, {"b": b, "more": [c, (d, None)]}

    ddp = DDP(fill(Structured()), find_unused_parameters=True)

    def loss_of(step):
        a, rest = ddp(batch(step))
        c, (d, _) = rest["more"]
        return (a * rest["b"] + c * d).square().mean()

    return train(ddp, loss_of)


class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(self.layer(x))


def normed_training(**options):
    model = fill(Normed())
    ddp = DDP(model, **options)
    figures = train(ddp, lambda step: (ddp(batch(step)) - 1).square().mean())
    figures["buffers"] = of_all_ranks(model.buffers())
    return model, ddp, figures


@scenario
def buffers():
    return normed_training()[2]


@scenario
def buffers_of_each_rank():
    return normed_training(broadcast_buffers=False)[2]


@scenario
def eval_mode():
    """Rank 0's: PyTorch's other ranks evaluate with its statistics, ours with their own."""
    model, ddp, figures = normed_training()
    model.eval()
    with torch.no_grad():
        output = ddp(filled(3, 4, seed=7))
    dist.broadcast(output, 0)
    figures["output"] = values([output])
    model.train()
    more = train(ddp, lambda step: (ddp(batch(step)) - 1).square().mean())
    figures["more_losses"] = more["losses"]
    return figures


@scenario
def autocast():
    ddp = DDP(fill(Net()))

    def loss_of(step):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return ddp(batch(step)).float().square().mean()

    return train(ddp, loss_of)


@scenario
def gan_pair():
    """Two wrapped models, of which one trains through the other."""
    generator = DDP(fill(Net(4, 4)))
    judge = DDP(fill(Net(4, 1)))
    of_generator, of_judge = list(generator.parameters()), list(judge.parameters())
    losses = []
    for step in range(STEPS):
        noise = batch(step)

        def judged():
            fake = generator(noise).detach()
            return (judge(batch(step, 1)) - 1).square().mean() + judge(fake).square().mean()

        losses.append(mean_over_ranks(train_step(of_judge, judged)))
        loss = train_step(of_generator, lambda: (judge(generator(noise)) - 1).square().mean())
        losses.append(mean_over_ranks(loss))
    return {"losses": losses, "generator": values(of_generator), "judge": values(of_judge)}


@scenario
def re_wrapped():
    """The second wrapper while the first exists, the third after it is gone."""
    model = fill(Net())
    losses = []
    for step in range(3):
        ddp = DDP(model)
        losses += train(ddp, lambda step: ddp(batch(step)).square().mean(), range(step, step + 2))["losses"]
        if step != 0:
            del ddp
        else:
            first = ddp
        if step == 1:
            del first
    return {"losses": losses, "parameters": values(model.parameters())}


@scenario
def exception_between_forward_and_backward():
    ddp = DDP(fill(Net()))

    def loss_of(step):
        with contextlib.suppress(RuntimeError):
            ddp(batch(step, 1))
            raise RuntimeError("between forward and backward")
        return ddp(batch(step)).square().mean()

    return train(ddp, loss_of)


@scenario
def ignored_output():
    """A forward whose result the loss does not use, with parameters that none uses."""
    ddp = DDP(fill(Heads()), find_unused_parameters=True)

    def loss_of(step):
        ddp(batch(step, 1), [1])
        return ddp(batch(step), [0, 1]).square().mean()

    return train(ddp, loss_of)


@scenario_of_2
def static_graph_several_forwards():
    ddp = DDP(fill(Net()), static_graph=True)
    return train(ddp, lambda step: ddp(batch(step)).square().mean() + ddp(batch(step, 1)).abs().mean())


@scenario
def static_graph_different_across_ranks():
    ddp = DDP(fill(Heads()), static_graph=True)
    used = [dist.get_rank() % 2]
    return train(ddp, lambda step: ddp(batch(step), used).square().mean())


class SharedUnused(torch.nn.Module):
    """Two layers that forward does not use, with one bias."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 2)
        self.second = torch.nn.Linear(4, 2)
        self.second.bias = self.first.bias
        self.used = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.used(x)


def shared_unused_training(**options):
    ddp = DDP(fill(SharedUnused()), **options)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario
def shared_unused_parameters():
    return shared_unused_training(find_unused_parameters=True)


@scenario
def shared_unused_parameters_static_graph():
    return shared_unused_training(static_graph=True)


@scenario
def output_without_gradient():
    class Detached(Net):
        def forward(self, x):
            y = super().forward(x)
            return y, y.detach()

    ddp = DDP(fill(Detached()), find_unused_parameters=True)

    def loss_of(step):
        y, weights = ddp(batch(step))
        return (y * weights).mean()

    return train(ddp, loss_of)


class Undefined(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return None


@scenario
def undefined_gradients():
    """Of the first layer, as its output goes through a function without derivative."""

    class Cut(Net):
        def forward(self, x):
            return self.second(Undefined.apply(self.first(x)))

    ddp = DDP(fill(Cut()))
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


@scenario_of_2
def empty_parameter():
    """A layer without outputs."""
    model = fill(Net())
    model.none = torch.nn.Linear(5, 0)
    ddp = DDP(model, find_unused_parameters=True)
    return train(ddp, lambda step: ddp(batch(step)).square().mean())


def close(found, expected):
    largest = max((abs(value) for value in expected), default=0)
    return len(found) == len(expected) and all(
        abs(a - b) <= 1e-6 * max(largest, 1) for a, b in zip(found, expected)
    )


def rank_main(rank, world_size, store, result):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)
    recorded = {}
    for name, function in SCENARIOS.items():
        figures = function()
        everyones = [None] * world_size
        dist.all_gather_object(everyones, figures)
        for key, found in figures.items():
            if not close(found, everyones[0][key]):
                raise SystemExit(f"{name}: {key} differs between the ranks")
        recorded[name] = {
            key: [float(f"{value:.{DIGITS}g}") for value in found] for key, found in figures.items()
        }
    if rank == 0:
        with open(result, "w") as file:
            json.dump(recorded, file)
    dist.destroy_process_group()


def record():
    by_world_size = {}
    with tempfile.TemporaryDirectory() as folder:
        for world_size in WORLD_SIZES:
            store, result = os.path.join(folder, f"store{world_size}"), os.path.join(folder, f"{world_size}.json")
            torch.multiprocessing.spawn(rank_main, (world_size, store, result), nprocs=world_size)
            with open(result) as file:
                by_world_size[world_size] = json.load(file)
    return {name: {str(size): by_world_size[size][name] for size in WORLD_SIZES} for name in SCENARIOS}


def write(path, versions, figures):
    lines = []
    for name, sizes in figures.items():
        rows = [f'   "{size}": {json.dumps(of, separators=(",", ":"))}' for size, of in sizes.items()]
        lines.append(f'  "{name}": {{\n' + ",\n".join(rows) + "\n  }")
    with open(path, "w") as file:
        file.write('{\n "recorded_with": ' + json.dumps(versions) + ',\n "scenarios": {\n')
        file.write(",\n".join(lines) + "\n }\n}\n")


def main(arguments):
    also = arguments[:1] == ["--also"]
    if len(arguments) != 1 + also:
        raise SystemExit(__doc__)
    path = arguments[-1]
    me = f"torch {torch.__version__.split('+')[0]}, Python {platform.python_version()}"
    figures = record()
    versions = [me]
    if also:
        with open(path) as file:
            before = json.load(file)
        rough = ("autocast", "fp16_compression")  # their rounding differs between versions
        for name, sizes in before["scenarios"].items():
            for size, of in sizes.items():
                for key, expected in of.items():
                    if name in rough or name not in figures:
                        continue
                    if not close(figures[name][size][key], expected):
                        raise SystemExit(f"{name} on {size} ranks: {key} differs from {before['recorded_with']}")
        versions = sorted({*before["recorded_with"], me})
        figures = before["scenarios"]
    write(path, versions, figures)


if __name__ == "__main__":
    main(sys.argv[1:])
