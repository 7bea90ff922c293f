"""The work of build/bin/trainer in PyTorch's Python, in the usual way: a Dataset that decodes and
resizes sample by sample, a DataLoader, DistributedDataParallel, autocast for bf16. Prints "first step" after that
step, and at the end a line of JSON: the seconds of each step, and those of a validation.

Ranks come from RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT if they are set (mpirun hpcboot exec).
"""
import argparse
import gzip
import json
import os
import struct
import time

import torch
import torch.distributed as dist
from PIL import Image
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler
from torchvision import models, transforms

MEAN, DEVIATION = 0.1307, 0.3081


class MnistNet(nn.Module):
    """trainer/models/mnistnet.cpp"""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * 7 * 7, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.adaptive_avg_pool2d(self.conv2(x).relu(), 7)
        return self.fc2(self.fc1(x.flatten(1)).relu())


def make_model(name):
    if name == "mnistnet":
        return MnistNet()
    model = models.resnet50(num_classes=10)
    model.conv1 = nn.Conv2d(1, 64, 7, 2, 3, bias=False)
    return model


def read_idx(folder, name):
    path = os.path.join(folder, name)
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")
    with opened as file:
        dimensions = struct.unpack(">xxxB", file.read(4))[0]
        sizes = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).view(*sizes)


class Mnist(Dataset):
    def __init__(self, folder, part, image_size, limit=None):
        self.images = read_idx(folder, f"{part}-images-idx3-ubyte")[:limit]
        self.labels = read_idx(folder, f"{part}-labels-idx1-ubyte")[:limit]
        self.transform = transforms.Compose([
            transforms.Resize(image_size),
            transforms.ToTensor(),
            transforms.Normalize((MEAN,), (DEVIATION,)),
        ])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = Image.fromarray(self.images[index].numpy(), mode="L")
        return self.transform(image), int(self.labels[index])


def validate(model, loader, forward, ranks):
    """Seconds of a pass over all images without gradients: mean loss and accuracy, of all ranks."""
    begin = time.perf_counter()
    model.eval()
    sums = torch.zeros(3)
    with torch.no_grad():
        for images, labels in loader:
            output = forward(images)
            loss = nn.functional.cross_entropy(output, labels, reduction="sum")
            sums += torch.tensor([loss.item(), (output.argmax(1) == labels).sum().item(), len(labels)])
    if ranks > 1:
        dist.all_reduce(sums)
    if not torch.isfinite(sums).all():
        raise SystemExit("the loss is not finite")
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--image-size", type=int, required=True)
    parser.add_argument("--batch-size", type=int, required=True, help="global")
    parser.add_argument("--limit-samples", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--workers", type=int, default=1, help="default 1, as one trainer thread prepares batches")
    o = parser.parse_args()

    torch.set_num_threads(o.threads)
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(1234)
    model = make_model(o.model)
    if ranks > 1:
        model = DistributedDataParallel(model)

    def batches_of(data):
        sampler = DistributedSampler(data, ranks, int(os.environ.get("RANK", 0)), seed=1234)
        return DataLoader(data, o.batch_size // ranks, sampler=sampler, num_workers=o.workers)

    def forward(images):
        with torch.autocast("cpu", torch.bfloat16, enabled=o.precision == "bf16"):
            return model(images)

    loader = batches_of(Mnist(o.data, "train", o.image_size, o.limit_samples))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model.train()
    seconds = []
    begin = time.perf_counter()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        if not torch.isfinite(loss):
            raise SystemExit("the loss is not finite")
        now = time.perf_counter()
        seconds.append(now - begin)
        begin = now
        if len(seconds) == 1 and os.environ.get("RANK", "0") == "0":
            print("first step", flush=True)
    validation = validate(model, batches_of(Mnist(o.data, "t10k", o.image_size)), forward, ranks)
    if os.environ.get("RANK", "0") == "0":
        print(json.dumps({"steps": seconds, "validation": validation}), flush=True)
    if ranks > 1:
        dist.barrier()


if __name__ == "__main__":
    main()
