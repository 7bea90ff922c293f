"""The limits of a GPU, for bench/gpu: products of large matrices, and a copy. usage: gpu_limits.py cuda|cpu"""
import sys
import time

import torch

TYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
TIMES = 10


def seconds_of(work, device):
    for _ in range(3):
        work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(TIMES):
        work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / TIMES


def main():
    device = torch.device(sys.argv[1])
    size, count = (8192, 2**30) if device.type == "cuda" else (256, 2**20)
    for name, kind in TYPES.items():
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
        print(f"matrix product {size}^3 {name}: {2 * size**3 / seconds_of(lambda: a @ b, device) / 1e12:.1f} TFLOP/s")
    a = torch.empty(count, dtype=torch.uint8, device=device)
    b = torch.empty_like(a)
    rate = 2 * count / seconds_of(lambda: b.copy_(a), device)
    print(f"copy within memory, read and written: {rate / 1e9:.0f} GB/s")


if __name__ == "__main__":
    main()
