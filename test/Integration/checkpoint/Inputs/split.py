"""split.py FILE FOLDER: the tensors of a file as a Hugging Face folder of two files and an index."""
import json
import os
import struct
import sys

with open(sys.argv[1], "rb") as file:
    length = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(length))
    data = file.read()
header.pop("__metadata__")
os.mkdir(sys.argv[2])
names = sorted(header)
weight_map = {}
for part, members in enumerate([names[: len(names) // 2], names[len(names) // 2 :]], start=1):
    entries, content = {}, b""
    for name in members:
        begin, end = header[name]["data_offsets"]
        entries[name] = header[name] | {"data_offsets": [len(content), len(content) + end - begin]}
        content += data[begin:end]
        weight_map[name] = f"model-{part:05}-of-00002.safetensors"
    text = json.dumps(entries).encode()
    with open(f"{sys.argv[2]}/model-{part:05}-of-00002.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + content)
with open(sys.argv[2] + "/model.safetensors.index.json", "w") as file:
    json.dump({"metadata": {"total_size": len(data)}, "weight_map": weight_map}, file, indent=1)
