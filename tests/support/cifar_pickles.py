"""Usage: cifar_pickles.py FOLDER. Writes the batches of a small CIFAR-10 and CIFAR-100 as Python 3 and NumPy pickle them, for
tests/unit/cifar_pickle_test.cpp. Exit code 77 without NumPy."""

import pickle
import sys

try:
    import numpy
except ImportError:
    sys.exit(77)

folder = sys.argv[1]
at = numpy.arange(3072)
# As cifar_pixels() of tests/support/cifar_files.hpp.
images = numpy.stack([(n * 7 + at + at // 256).astype(numpy.uint8) for n in range(6)])


def write(name, value, protocol=2):
    with open(f"{folder}/{name}", "wb") as file:
        pickle.dump(value, file, protocol)


labels = [3, 0, 9, 1, 2, 3]
ten = {"data": images, "labels": labels, "batch_label": "one"}
write("text_keys", ten)
write("bytes_keys", {key.encode(): value for key, value in ten.items()})
write("by_column", {**ten, "data": numpy.asfortranarray(images)})
write("protocol_1", ten, 1)
write("hundred", {"data": images, "fine_labels": [99, 0, 10, 50, 7, 8], "coarse_labels": [0] * 6}, 2)
write("protocol_0", ten, 0)
write("protocol_4", ten, 4)
write("floats", {**ten, "data": images.astype(numpy.float32)})
write("flat", {**ten, "data": images.reshape(-1)})
write("grey", {**ten, "data": images[:, :1024].copy()})
write("too_few_labels", {**ten, "labels": labels[:-1]})
write("label_10", {**ten, "labels": [*labels[:-1], 10]})
write("label_huge", {**ten, "labels": [*labels[:-1], 2**70]})
write("label_text", {**ten, "labels": [*labels[:-1], "3"]})
write("array_of_labels", {**ten, "labels": numpy.array(labels)})
write("no_labels", {"data": images})
write("no_data", {"labels": labels})
write("list", [images, labels])
