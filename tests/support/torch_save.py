"""Writes files with torch.save() for tests/unit/pt_data_test.cpp, and reads ours.

usage: torch_save.py save FILE     a data set of 5 + 3 images, 2 x 3 pixels of value i, labels i
       torch_save.py load FILE     checks a file of test::CountingSet(37) and (11), 1 x 3 x 4
       torch_save.py views FILE    several arrays of the same int32 elements
       torch_save.py odd FOLDER    files that are not data sets
Exit code 77: a package is missing; the last line on stdout says which.
"""
import collections
import sys

try:
    import torch
except ImportError as cause:
    print(cause)
    sys.exit(77)


def images(count):
    return torch.arange(count, dtype=torch.uint8).reshape(-1, 1, 1).repeat(1, 2, 3)


def save(path):
    # Users also save views and unusual strides.
    train = torch.cat([images(5), images(5)], 0)[:5].transpose(1, 2).contiguous().transpose(1, 2)
    test = (images(3).float() / 255).unsqueeze(1)
    torch.save({"train/images": train, "train/labels": torch.arange(5),
                "test": {"images": test, "labels": torch.arange(3, dtype=torch.int32)},
                "made by": "a test", "none": collections.OrderedDict(), "version": 3}, path)


def load(path):
    try:
        tensors = torch.load(path, weights_only=True)
    except TypeError:  # before PyTorch 1.13
        tensors = torch.load(path)
    for name, count in (("train", 37), ("test", 11)):
        expected = (torch.arange(count).reshape(-1, 1) + torch.arange(12)).to(torch.uint8)
        assert torch.equal(tensors[name + "/images"], expected.reshape(count, 1, 3, 4)), name
        assert torch.equal(tensors[name + "/labels"], torch.arange(count) % 10), name


def views(path):
    x = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    torch.save({"whole": x, "transposed": x.t(), "column": x[:, 1], "row": x[1],
                "turned": torch.arange(24, dtype=torch.int32).reshape(2, 3, 4).permute(2, 0, 1)}, path)


def odd(folder):
    torch.save([1, 2], folder + "/list.pt")
    torch.save(torch.zeros(3), folder + "/tensor.pt")
    torch.save({"train/images": torch.zeros(4, 2, 2), "labels": torch.arange(4)}, folder + "/no_labels.pt")
    torch.save({"train/images": torch.zeros(1).expand(1 << 30, 2, 2), "train/labels": torch.arange(4)},
               folder + "/expanded.pt")
    torch.save({"train/images": torch.zeros(4, 2, 2, dtype=torch.complex64), "train/labels": torch.arange(4)},
               folder + "/complex.pt")
    ordered = collections.OrderedDict({"train/images": torch.zeros(4, 2, 2)})
    torch.save(ordered, folder + "/one_ordered.pt")
    torch.save({"epoch": 3, "empty": collections.OrderedDict(), "model": torch.nn.Linear(2, 2).state_dict()},
               folder + "/checkpoint.pt")
    plain = {"train/images": torch.zeros(4, 2, 2), "train/labels": torch.arange(4)}
    torch.save(plain, folder + "/legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(plain, folder + "/protocol.pt", pickle_protocol=4)
    torch.save({name: tensor.numpy() for name, tensor in plain.items()}, folder + "/numpy.pt")
    torch.save({**plain, "images": torch.nn.Parameter(torch.zeros(2))}, folder + "/parameter.pt")
    torch.save({**plain, "classes": [["a"]]}, folder + "/one_item.pt")


{"save": save, "load": load, "views": views, "odd": odd}[sys.argv[1]](sys.argv[2])
