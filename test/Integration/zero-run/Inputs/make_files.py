"""Weights and batches for the model tiny, good and bad: make_files.py FOLDER"""
import json
import struct
import sys

folder = sys.argv[1]


def write(name, tensors, keep=None, header_length=None):
    """A safetensors file of {name: (dtype, shape, bytes)}, perhaps cut off behind `keep` bytes."""
    header, data = {}, b""
    for tensor, (dtype, shape, values) in tensors.items():
        header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    length = len(text) if header_length is None else header_length
    with open(f"{folder}/{name}.safetensors", "wb") as file:
        file.write((struct.pack("<Q", length) + text + data)[:keep])


def floats(*shape, value=0.25):
    count = 1
    for extent in shape:
        count *= extent
    return ("F32", list(shape), struct.pack(f"<{count}f", *[value] * count))


def integers(shape, values):
    return ("I32", shape, struct.pack(f"<{len(values)}i", *values))


weights = {"wte": floats(5, 4), "ln.w": floats(4), "ln.b": floats(4), "fc.w": floats(4, 6), "fc.b": floats(6),
           "pr.w": floats(6, 4), "pr.b": floats(4), "extra": floats(3, 2)}
write("weights", weights)
write("missing", {name: value for name, value in weights.items() if name != "fc.w"})
write("reshaped", weights | {"fc.w": floats(6, 4)})
write("cut", weights, keep=300)
write("header", weights, header_length=2**63)
write("nan", weights | {"pr.b": floats(4, value=float("nan"))})

# One step and micro-step of two rows of three tokens.
row = [0, 1, 2, 3, 4, 0]


def batches(name, tokens=row, labels=row, shape=(1, 1, 2, 3)):
    write(name, {"tokens": integers(list(shape), tokens), "labels": integers(list(shape), labels)})


batches("batches")
batches("bad-token", tokens=[0, 1, 5, 3, 4, 0])
batches("bad-label", labels=[0, 1, 2, -7, 4, 0])
batches("four-rows", tokens=row * 2, labels=row * 2, shape=(1, 1, 4, 3))
batches("no-label", tokens=row * 2, labels=[-100] * 6 + row, shape=(2, 1, 2, 3))
write("no-tokens", {"labels": integers([1, 1, 2, 3], row)})

# Two steps of twelve rows of three numbers.
write("numbers", {"x": ("F32", [2, 1, 12, 3], struct.pack("<72f", *range(72)))})
