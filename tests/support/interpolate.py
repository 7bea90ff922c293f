"""Usage: interpolate.py ROWS COLS SIZE < BYTES > FLOATS

Resizes grey images with torch.nn.functional.interpolate and normalises them as the data loader
does: the reference of image_samples_test. Exit code 77 if this Python has no torch.
"""

import sys

try:
    import numpy
    import torch
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

rows, cols, size = (int(word) for word in sys.argv[1:])
pixels = numpy.frombuffer(sys.stdin.buffer.read(), dtype=numpy.uint8)
images = torch.from_numpy(pixels.copy()).reshape(-1, 1, rows, cols).to(torch.float32) / 255
resized = torch.nn.functional.interpolate(images, size=(size, size), mode="bilinear",
                                          align_corners=False)
sys.stdout.buffer.write(((resized - 0.1307) / 0.3081).numpy().tobytes())
