"""Reference values from PyTorch and torchvision for tests/unit/torch_reference_test.cpp and model_outputs_test.cpp.

usage: torch_reference.py sampler [DATASET_SIZE WORLD_SIZE SEED EPOCH]...   (one rank's indices per line)
       torch_reference.py model NAME CHANNELS SIZE SAMPLES FILE             (a dict of tensors)
       torch_reference.py sequences NAME WIDTH SOURCE TARGET SAMPLES FILE   (a dict of tensors)
       torch_reference.py record FILE                                       (writes tests/golden/models/outputs.json)
Exit code 77: a package is missing; the last line on stdout says which.

Weights and images come from a formula, as in tests/support/formula_values.hpp, not from random numbers.
"""
import json
import platform
import sys

try:
    import torch
except ImportError as cause:
    print(cause)
    sys.exit(77)

CLASSES = 10
VITS = {  # which torchvision does not name: width, heads, width of the MLP
    "vit_s_16": (384, 6, 1536),
    "vit_ti_16": (192, 3, 768),
}
RECORDED = ("resnet18", "vit_b_16", "vit_ti_16")


def sampler(dataset_size, world_size, seed, epoch):
    from torch.utils.data.distributed import DistributedSampler

    for rank in range(world_size):
        one = DistributedSampler(range(dataset_size), world_size, rank, seed=seed)
        one.set_epoch(epoch)
        print(*one)


def formula(shape, name):
    """Numbers from -1 to 1 that look random."""
    index = torch.arange(torch.Size(shape).numel())
    index = (31 * index * index + 17 * index + sum(name.encode())) % 10007
    return (index.double() / 10007 * 2 - 1).reshape(shape)


def fill(name, tensor):
    if tensor.dim() == 0:  # a number of batches
        return
    values = formula(tensor.shape, name)
    if tensor.dim() == 1:
        scale = name.endswith("weight") or name.endswith("running_var")
        tensor.copy_(0.1 * values + (1 if scale else 0))
    else:
        inputs = tensor.numel() / tensor.size(0)
        tensor.copy_(values * (1 if tensor.size(0) == 1 else (3 / inputs) ** 0.5))


def make(name, channels, size):
    """In fp64: in fp32, gradients behind batch norms of so few numbers depend on the version's kernels."""
    try:
        import torchvision
    except ImportError as cause:
        print(cause)
        sys.exit(77)
    if name in VITS:
        width, heads, mlp = VITS[name]
        model = torchvision.models.VisionTransformer(size, 16, 12, heads, width, mlp, num_classes=CLASSES)
    else:
        size_of_images = {"image_size": size} if name.startswith("vit") else {}
        model = getattr(torchvision.models, name)(num_classes=CLASSES, **size_of_images)
    if channels != 3 and name.startswith("vit"):
        model.conv_proj = torch.nn.Conv2d(channels, model.hidden_dim, 16, 16)
    elif channels != 3:
        model.conv1 = torch.nn.Conv2d(channels, 64, 7, 2, 3, bias=False)
    model.double()
    with torch.no_grad():
        for key, tensor in model.state_dict().items():
            fill(key, tensor)
    return model


TRANSFORMERS = {  # heads, layers of the encoder and of the decoder
    "transformer": (8, 6),
    "transformer_small": (4, 2),
}


def positions(length, width):
    """The encoding of the paper: sines at even places, cosines at odd ones."""
    angles = torch.arange(length).double()[:, None] / 10000 ** (torch.arange(0, width, 2).double() / width)
    encoding = torch.empty(length, width, dtype=torch.float64)
    encoding[:, 0::2], encoding[:, 1::2] = angles.sin(), angles.cos()[:, : width // 2]
    return encoding


def make_transformer(name, width, source, target, samples):
    """A model, and a function that runs it on sources and targets by formula."""
    heads, layers = TRANSFORMERS[name]
    model = torch.nn.Transformer(width, heads, layers, layers, 4 * width, dropout=0, batch_first=True).double()
    with torch.no_grad():
        for key, tensor in model.state_dict().items():
            fill(key, tensor)
    sources, seen = formula((samples, source, width), "source"), formula((samples, target, width), "seen")
    mask = torch.nn.Transformer.generate_square_subsequent_mask(target).double()

    def forward():
        return model(sources + positions(source, width), seen + positions(target, width), tgt_mask=mask)

    return model, forward


def sequences(name, width, source, target, samples, path):
    model, forward = make_transformer(name, width, source, target, samples)
    targets = formula((samples, target, width), "target")
    write_reference(model, forward, lambda output: torch.nn.functional.mse_loss(output, targets), path)


def sample(tensor):
    """About 4096 elements of a tensor, from all of its rows and columns."""
    return tensor.flatten()[:: tensor.numel() // 4096 | 1].clone()


def reference(name, channels, size, samples, path):
    model = make(name, channels, size)
    images = formula((samples, channels, size, size), "images")
    labels = torch.arange(samples) * 3 % CLASSES
    loss = torch.nn.functional.cross_entropy
    write_reference(model, lambda: model(images), lambda output: loss(output, labels), path)


def write_reference(model, forward, loss, path):
    tensors = {"shape." + k: torch.tensor(v.shape, dtype=torch.int64) for k, v in model.state_dict().items()}
    model.eval()
    with torch.no_grad():
        tensors["eval_output"] = forward()
    model.train()
    output = forward()
    loss(output).backward()
    tensors["train_output"] = output.detach()
    for key, parameter in model.named_parameters():
        tensors["gradient." + key] = sample(parameter.grad)
        tensors["gradient_norm." + key] = parameter.grad.norm()
    tensors.update(("buffer." + k, v) for k, v in model.named_buffers())
    torch.save(tensors, path)


def outputs(name, channels, size, samples):
    model = make(name, channels, size).eval()
    with torch.no_grad():
        values = model(formula((samples, channels, size, size), "images")).flatten().tolist()
    shape = {"channels": channels, "image_size": size, "samples": samples}
    return {**shape, "outputs": [float(f"{value:.9g}") for value in values]}


def sequence_outputs(name, width, source, target, samples):
    model, forward = make_transformer(name, width, source, target, samples)
    model.eval()
    with torch.no_grad():
        values = forward().flatten().tolist()
    shape = {"width": width, "source": source, "target": target, "samples": samples}
    return {**shape, "outputs": [float(f"{value:.9g}") for value in values]}


def record(path):
    models = {name: outputs(name, channels=3, size=32, samples=2) for name in RECORDED}
    models.update((name, sequence_outputs(name, width=16, source=2, target=3, samples=1)) for name in TRANSFORMERS)
    import torchvision

    versions = {"torch": torch.__version__, "torchvision": torchvision.__version__}
    versions = {name: version.split("+")[0] for name, version in versions.items()}
    about = {"recorded_by": "tests/support/torch_reference.py record", **versions, "Python": platform.python_version()}
    with open(path, "w") as file:
        file.write(json.dumps(about, indent=1)[:-2] + ',\n "models": {\n')
        file.write(",\n".join(f'  "{name}": {json.dumps(of)}' for name, of in models.items()) + "\n }\n}\n")


if sys.argv[1] == "sampler":
    numbers = list(map(int, sys.argv[2:]))
    for start in range(0, len(numbers), 4):
        sampler(*numbers[start : start + 4])
elif sys.argv[1] == "model":
    reference(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6])
elif sys.argv[1] == "sequences":
    sequences(sys.argv[2], *map(int, sys.argv[3:7]), sys.argv[7])
else:
    record(sys.argv[2])
