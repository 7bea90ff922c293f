"""The limits of a CPU, for compare.py: FLOP/s of oneDNN's matrix product and of its convolutions, and the work of a model."""
import torch
from torch import nn

from gpu_limits import seconds_of
from peer import make_model

# Channels and pixels of the 3 x 3 convolutions of ResNet50 on images of 128 x 128 pixels.
LAYERS = ((64, 32), (128, 16), (256, 8), (512, 4))
BATCH = 32
SIZE = 2048


def peaks(threads, precision):
    """FLOP/s: what -> the best that oneDNN reaches in it."""
    torch.set_num_threads(threads)
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    device = torch.device("cpu")
    with torch.no_grad():
        a, b = (torch.randn(SIZE, SIZE).to_mkldnn(kind) for _ in range(2))
        product = 2 * SIZE**3 / seconds_of(lambda: torch._C._nn.mkldnn_linear(a, b), device)
        convolution = 0
        for channels, pixels in LAYERS:
            layer = nn.Conv2d(channels, channels, 3, padding=1, bias=False).to(kind, memory_format=torch.channels_last)
            images = torch.randn(BATCH, channels, pixels, pixels).to(kind, memory_format=torch.channels_last)
            flop = 2 * BATCH * (channels * pixels) ** 2 * 9
            convolution = max(convolution, flop / seconds_of(lambda: layer(images), device))
    return {"matrix product": product, "convolution": convolution}


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
