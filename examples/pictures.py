#!/usr/bin/env python3
"""Pictures of 12 by 12 for conv.mlir: pictures.py FILE [--steps 200] [--batch 32] [--seed 1].

Writes `pictures` [step, micro-step 1, batch, 12, 12, 1] and `labels` [step, 1, batch] as safetensors.
Classes: 0 a horizontal bar, 1 a vertical bar, 2 a cross, 3 the outline of a square; somewhere in the
picture, brighter than noise of up to a half. The same seed gives the same file on every machine: the
Mersenne Twister's random() alone is asked, and nothing beyond the standard library is needed.
"""
import argparse
import json
import random
import struct

SIZE, CLASSES = 12, 4


def picture(rng, label):
    below = lambda n: int(rng.random() * n)
    pixels = [[rng.random() * 0.5 for _ in range(SIZE)] for _ in range(SIZE)]
    side = 4 + below(4)  # 4 to 7 pixels
    top, left = below(SIZE - side + 1), below(SIZE - side + 1)
    middle = side // 2
    ends = (0, side - 1)
    for i in range(side):
        for j in range(side):
            drawn = (label == 0 and i == middle, label == 1 and j == middle,
                     label == 2 and (i == middle or j == middle), label == 3 and (i in ends or j in ends))
            if any(drawn):
                pixels[top + i][left + j] += 0.75
    return [value for row in pixels for value in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32, help="pictures of a step, over all ranks")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    labels = [int(rng.random() * CLASSES) for _ in range(options.steps * options.batch)]
    values = [value for label in labels for value in picture(rng, label)]
    shape = [options.steps, 1, options.batch]
    pictures = struct.pack(f"<{len(values)}f", *values)
    classes = struct.pack(f"<{len(labels)}i", *labels)
    header = json.dumps({
        "pictures": {"dtype": "F32", "shape": shape + [SIZE, SIZE, 1],
                     "data_offsets": [0, len(pictures)]},
        "labels": {"dtype": "I32", "shape": shape,
                   "data_offsets": [len(pictures), len(pictures) + len(classes)]},
    }).encode()
    header += b" " * (-len(header) % 8)
    with open(options.file, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + pictures + classes)


if __name__ == "__main__":
    main()
