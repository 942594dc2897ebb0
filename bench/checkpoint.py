#!/usr/bin/env python3
"""Measures `zero-plan checkpoint` on public graphs: bench/checkpoint.py FOLDER [ZERO_PLAN].

FOLDER holds the CSV files of Checkmate's and Moccasin's graphs, which are published under the GPL
and not part of this project. Prints a row for each graph and budget: cost ratio, lower bound,
status, seconds, and the best ratio known before.
"""
import pathlib
import subprocess
import sys

KNOWN = {
    "VGG16_256_train": {".9": 1.019677},
    "fcn_8_vgg_32_train": {".9": 1.000294, ".8": 1.001361, ".7": 1.008915},
    "ResNet50_256_train": {".9": 1.001085, ".8": 1.002786, ".6": 1.009626, ".4": 1.022395,
                           ".3": 1.036446, ".2": 1.064276, ".1081": 1.2026},
    "random_layered_n100": {".9": 1.007892, ".8": 1.022965},
    "random_layered_n250": {".9": 1.009039, ".8": 1.042606},
}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    folder = pathlib.Path(sys.argv[1])
    tool = sys.argv[2] if len(sys.argv) > 2 else str(
        pathlib.Path(__file__).resolve().parent.parent / "build/bin/zero-plan")
    print("| graph, budget | cost ratio | bound | status | seconds | known before |")
    print("|---|---|---|---|---|---|")
    for graph, budgets in KNOWN.items():
        for budget, known in budgets.items():
            run = subprocess.run([tool, "checkpoint", str(folder / f"{graph}.csv"), "--budget",
                                  "0" + budget], capture_output=True, text=True)
            fields = dict(line.split(None, 1) for line in run.stdout.splitlines()
                          if len(line.split(None, 1)) == 2 and not line.startswith("base"))
            if "ratio" not in fields:
                sys.exit(run.stderr.strip())
            print(f"| {graph} {budget} | {fields['ratio']} | {fields['bound']} | "
                  f"{fields['status']} | {fields['seconds']} | {known:.6f} |", flush=True)


if __name__ == "__main__":
    main()
