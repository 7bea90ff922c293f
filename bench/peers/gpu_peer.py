"""The work of the trainer, or of bench/transformer.cpp, in PyTorch's Python on one GPU, for bench/gpu. All images are
on the GPU from the start and are resized there, unless --workers asks for a DataLoader, which resizes on the CPU.
Prints a line of JSON: images (tokens) per second in the second epoch, or without the first steps, and the last loss.
"""
import argparse
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

import peer

WARM_UP = 5  # steps of the Transformer that are not timed
WIDTH, HEADS, LENGTH, WORDS = 768, 12, 1024, 50304


class Block(nn.Module):
    """bench/transformer.cpp"""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.view(*x.shape[:2], HEADS, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, 2))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, text):
        order = torch.arange(text.shape[1], device=text.device)
        return self.head(self.norm(self.blocks(self.words(text) + self.places(order))))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--model", required=True, choices=["mnistnet", "resnet50", "transformer"])
    parser.add_argument("--precision", default="fp32", choices=["fp32", "tf32", "bf16", "fp16"])
    parser.add_argument("--data", help="folder with MNIST's files")
    parser.add_argument("--image-size", type=int, default=28)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--limit-samples", type=int, default=60000)
    parser.add_argument("--steps", type=int, default=30, help="of the Transformer")
    parser.add_argument("--layers", type=int, default=12, help="of the Transformer")
    parser.add_argument("--compile", choices=["default", "reduce-overhead", "max-autotune"])
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--workers", type=int, help="load with a DataLoader with this many processes")
    return parser.parse_args()


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class Training:
    def __init__(self, o, model, optimizer):
        self.device = torch.device(o.device)
        if o.channels_last:
            model = model.to(memory_format=torch.channels_last)
        self.model = model.to(self.device)
        self.optimizer = optimizer(self.model.parameters(), lr=1e-4)
        self.forward = torch.compile(self.model, mode=o.compile, dynamic=False) if o.compile else self.model
        self.format = torch.channels_last if o.channels_last else torch.contiguous_format
        self.type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(o.precision)
        self.scaler = torch.amp.GradScaler(enabled=o.precision == "fp16")

    def step(self, inputs, labels):
        self.optimizer.zero_grad()
        with torch.autocast(self.device.type, self.type, enabled=self.type is not None):
            scores = self.forward(inputs)
            loss = nn.functional.cross_entropy(scores.flatten(0, -2), labels.flatten())
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()


def batches_on_gpu(o, training):
    pixels = peer.read_idx(o.data, "train-images-idx3-ubyte")[:o.limit_samples].to(training.device)
    labels = peer.read_idx(o.data, "train-labels-idx1-ubyte")[:o.limit_samples].long().to(training.device)

    def batches():
        order = torch.randperm(len(labels), device=training.device)
        for part in order.split(o.batch_size):
            images = pixels[part].unsqueeze(1).float().div_(255).sub_(peer.MEAN).div_(peer.DEVIATION)
            if o.image_size != images.shape[-1]:
                images = nn.functional.interpolate(images, size=o.image_size, mode="bilinear", align_corners=False)
            yield images.contiguous(memory_format=training.format), labels[part]

    return batches, len(labels)


def batches_of_loader(o, training):
    data = peer.Mnist(o.data, o.image_size, o.limit_samples)
    loader = DataLoader(data, o.batch_size, shuffle=True, num_workers=o.workers, pin_memory=True,
                        persistent_workers=o.workers > 0)

    def batches():
        for images, labels in loader:
            images = images.to(training.device, non_blocking=True, memory_format=training.format)
            yield images, labels.to(training.device, non_blocking=True)

    return batches, len(data)


def train_images(o):
    training = Training(o, peer.make_model(o.model), torch.optim.Adam)
    batches, count = (batches_on_gpu if o.workers is None else batches_of_loader)(o, training)
    seconds = []
    for _ in range(2):
        wait(training.device)
        begin = time.perf_counter()
        for images, labels in batches():
            loss = training.step(images, labels)
        wait(training.device)
        seconds.append(time.perf_counter() - begin)
    return count / seconds[-1], loss


def train_text(o):
    training = Training(o, Transformer(o.layers), torch.optim.AdamW)
    text = torch.randint(WORDS, (o.batch_size, LENGTH + 1), device=training.device)
    shown, following = text[:, :-1].contiguous(), text[:, 1:].contiguous()
    for step in range(WARM_UP + o.steps):
        if step == WARM_UP:
            wait(training.device)
            begin = time.perf_counter()
        loss = training.step(shown, following)
    wait(training.device)
    return o.steps * shown.numel() / (time.perf_counter() - begin), loss


def main():
    o = arguments()
    torch.manual_seed(1234)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = o.precision == "tf32"
    rate, loss = (train_text if o.model == "transformer" else train_images)(o)
    print(json.dumps({"rate": rate, "loss": float(loss)}), flush=True)


main()
