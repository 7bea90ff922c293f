"""The work of build/bench/sharding in PyTorch: a step with DistributedDataParallel, with
ZeroRedundancyOptimizer (ZeRO-1), and with FSDP2's fully_shard (ZeRO-2 and 3), in turn. Prints its table.
    mpirun -np 2 hpcboot exec -- python3 bench/peers/sharding_peer.py STEPS MODEL
"""
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torchvision.models.resnet import Bottleneck

from peer import make_model

WARM_UP = 2
SHAPES = {"mnistnet": (28, 32), "resnet50": (64, 4)}  # pixels, images for each rank


class Training:
    def __init__(self, name, zero):
        torch.manual_seed(1)
        self.model = make_model(name)
        if zero >= 2:
            mesh = init_device_mesh("cpu", (dist.get_world_size(),))
            for module in self.model.modules():
                if isinstance(module, Bottleneck):  # as the units of trainer/models/resnet.cpp
                    fully_shard(module, mesh=mesh, reshard_after_forward=zero == 3)
            fully_shard(self.model, mesh=mesh, reshard_after_forward=zero == 3)
        else:
            self.model = DistributedDataParallel(self.model)
        if zero == 1:
            self.optimizer = ZeroRedundancyOptimizer(self.model.parameters(), torch.optim.Adam, lr=1e-3)
        else:
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self, images, labels):
        """Seconds of the whole step, and of the optimizer's part."""
        begin = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(self.model(images), labels).backward()
        update = time.perf_counter()
        self.optimizer.step()
        end = time.perf_counter()
        return end - begin, end - update


def main():
    steps, name = int(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    trainings = [Training(name, zero) for zero in range(4)]
    size, batch = SHAPES[name]
    images, labels = torch.randn(batch, 1, size, size), torch.randint(10, (batch,))
    found = [[] for _ in trainings]
    for step in range(-WARM_UP, steps):
        for one, of_step in zip(trainings, found):
            seconds = one.step(images, labels)
            if step >= 0:
                of_step.append(seconds)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks, median of {steps} steps, Adam, PyTorch {torch.__version__}")
        reference = statistics.median(whole for whole, _ in found[0])
        for zero, of_step in enumerate(found):
            whole, update = (statistics.median(part) for part in zip(*of_step))
            way = f"ZeRO-{zero}" if zero else "DDP"
            print(f"{name:9} {way:7} {1e3 * whole:9.1f} ms {1e3 * update:9.1f} ms {whole / reference:8.2f}")
    dist.destroy_process_group()


main()
