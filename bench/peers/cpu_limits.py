"""What compare.py needs to say how near a step comes to a CPU's limits: oneDNN's matrix product, and the work of a model."""
import torch
from torch import nn

from gpu_limits import seconds_of
from peer import make_model

SIZE = 2048


def matrix_product(threads, precision):
    """FLOP/s of oneDNN's product of two matrices of SIZE x SIZE."""
    torch.set_num_threads(threads)
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(SIZE, SIZE).to_mkldnn(kind) for _ in range(2))
    with torch.no_grad():
        return 2 * SIZE**3 / seconds_of(lambda: torch._C._nn.mkldnn_linear(a, b), torch.device("cpu"))


def flop_per_image(name, pixels):
    """FLOP of a step's convolutions and products for one image: the backward pass has twice those of the forward pass."""
    model = make_model(name).eval()
    total = 0

    def count(layer, _, output):
        nonlocal total
        weights = layer.weight[0].numel()  # each is multiplied once for each output
        total += 2 * weights * output[0].numel()

    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            layer.register_forward_hook(count)
    with torch.no_grad():
        model(torch.zeros(1, 1, pixels, pixels))
    return 3 * total
