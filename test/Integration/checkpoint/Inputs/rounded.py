"""rounded.py EXACT ROUNDED…: holds each rounded file against the exact one, value by value."""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__")
    return {name: (entry["dtype"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def bf16(value):
    """To nearest, ties to even; weights of a small model are no NaN."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


exact = read(sys.argv[1])
for path in sys.argv[2:]:
    rounded = read(path)
    assert rounded.keys() == exact.keys()
    for name, (dtype, data) in rounded.items():
        values = [value for (value,) in struct.iter_unpack("<f", exact[name][1])]
        narrow = {"F16": lambda value: struct.pack("<e", value), "BF16": bf16}[dtype]
        assert b"".join(map(narrow, values)) == data, name
    print(path, dtype, "each rounded")
