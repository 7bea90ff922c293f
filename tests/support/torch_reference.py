"""Reference values from PyTorch and torchvision for tests/unit/torch_reference_test.cpp.

usage: torch_reference.py sampler [DATASET_SIZE WORLD_SIZE SEED EPOCH]...   (one rank's indices per line)
       torch_reference.py resnet50 FILE                                     (a dict of tensors)
Exit code 77: a package is missing; the last line on stdout says which.
"""
import sys

try:
    import torch
except ImportError as cause:
    print(cause)
    sys.exit(77)


def sampler(dataset_size, world_size, seed, epoch):
    from torch.utils.data.distributed import DistributedSampler

    for rank in range(world_size):
        one = DistributedSampler(range(dataset_size), world_size, rank, seed=seed)
        one.set_epoch(epoch)
        print(*one)


def resnet50(path):
    try:
        from torchvision.models import resnet50 as make
    except ImportError as cause:
        print(cause)
        sys.exit(77)
    torch.manual_seed(1)
    model = make(num_classes=10)
    model.conv1 = torch.nn.Conv2d(1, 64, 7, 2, 3, bias=False)
    # In float32 the gradients after batch norms of so few numbers depend on the version's kernels.
    model.double()
    images = torch.randn(4, 1, 64, 64).double()
    labels = torch.tensor([0, 3, 9, 3])
    tensors = {"images": images, "labels": labels}
    tensors.update(("state." + k, v.clone()) for k, v in model.state_dict().items())

    model.eval()
    with torch.no_grad():
        tensors["eval_output"] = model(images)
    model.train()
    output = model(images)
    torch.nn.functional.cross_entropy(output, labels).backward()
    tensors["train_output"] = output.detach()
    tensors.update(("gradient." + k, p.grad) for k, p in model.named_parameters())
    tensors.update(("state_after." + k, v) for k, v in model.state_dict().items())
    torch.save(tensors, path)


if sys.argv[1] == "sampler":
    numbers = list(map(int, sys.argv[2:]))
    for start in range(0, len(numbers), 4):
        sampler(*numbers[start : start + 4])
else:
    resnet50(sys.argv[2])
