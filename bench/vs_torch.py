#!/usr/bin/env python3
"""Zero's step against PyTorch's DistributedDataParallel: a GPT-2 of 6 layers and width 384, batch
8 x 256 on each of 2 ranks, one thread a rank, f32, AdamW, clipping.

The two take turns for several rounds, so that a machine that slows down slows both. A step's time is
the median over a run's steps without the first two; shown is the median over the rounds, and the
median of the ratios of neighbours. Memory is what a rank takes above the process before it built its
model: for PyTorch as torch_ddp.py says, for Zero the peak resident size of the process (compiler, code
and all ranks) less that of `zero-run --help`, over the ranks; beside it the arena, which is all that
training itself touches.

PyTorch is taken from ${ZERO_BENCH_ENV:-~/.cache/zero-bench}, a Python environment that is made, and
filled from PyPI (5 GB), where it is missing.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys

from measure import ROOT, WORK, measured, parser_of, text_file, tool

PACKAGES = ["torch==2.13.*", "transformers==5.24.*", "safetensors", "numpy"]
MODEL = dict(layers=6, width=384, heads=6, vocab=256)
RANKS, BATCH, SEQ_LEN = 2, 8, 256


def torch_python():
    folder = pathlib.Path(os.environ.get("ZERO_BENCH_ENV", pathlib.Path.home() / ".cache/zero-bench"))
    python = folder / "bin" / "python"
    has_all = python.exists() and subprocess.run(
        [python, "-c", "import torch, transformers"], stderr=subprocess.DEVNULL).returncode == 0
    if not has_all:
        print(f"==> installing {', '.join(PACKAGES)} into {folder} (5 GB)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def run_torch(python, data, steps):
    shape = [word for key, value in MODEL.items() for word in ("--" + key, value)]
    output, _, _ = measured([python, ROOT / "bench/torch_ddp.py", *shape, "--ranks", RANKS, "--batch",
                             BATCH, "--seq-len", SEQ_LEN, "--steps", steps, "--data", data])
    result = json.loads(output.splitlines()[-1])
    return result["seconds"], result["peak_bytes"]


def run_zero(model, stage, data, steps, baseline, extra=()):
    log, report = WORK / "log.jsonl", WORK / "report.json"
    output, _, peak = measured(
        [tool("zero-run"), model, "--micro-batch", BATCH, "--ranks", RANKS, "--stage", stage,
         "--optimizer", "adamw", "--lr", "3e-4", "--beta2", "0.95", "--weight-decay", "0.1", "--clip",
         "1", "--steps", steps, "--data", data, "--log", log, "--report", report, *extra])
    seconds = [json.loads(line)["seconds"] for line in log.read_text().splitlines()]
    arena = json.loads(report.read_text())["arena_bytes"]
    return statistics.median(seconds[2:]), (peak - baseline) / RANKS, arena, output


def ratios(ours, theirs):
    each = sorted(a / b for a, b in zip(ours, theirs))
    return f"{statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f})"


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10, help="steps of a run, at least 3")
    parser.add_argument("--stages", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--profile", type=int, metavar="STAGE",
                        help="only show where the time of Zero's step goes, at this stage")
    args = parser.parse_args()

    data = text_file("tokens.txt", 1 << 20)
    model = WORK / "mini.mlir"
    shape = [word for key, value in MODEL.items() for word in ("--" + key, value)]
    measured([tool("zero-model"), "gpt2", *shape, "--positions", SEQ_LEN, "-o", model])
    _, _, baseline = measured([tool("zero-run"), "--help"])
    if args.profile is not None:
        print(run_zero(model, args.profile, data, args.steps, baseline, ["--profile"])[3])
        return

    python = torch_python()
    theirs, ours = [], {stage: [] for stage in args.stages}
    for number in range(args.rounds):
        theirs.append(run_torch(python, data, args.steps))
        for stage in args.stages:
            ours[stage].append(run_zero(model, stage, data, args.steps, baseline)[:3])
        print(f"round {number + 1} of {args.rounds}: PyTorch {theirs[-1][0]:.3f} s, Zero " +
              ", ".join(f"{ours[s][-1][0]:.3f} s at stage {s}" for s in args.stages), flush=True)

    torch_seconds, torch_bytes = zip(*theirs)
    median, mib = statistics.median, 1 / (1 << 20)
    print(f"\n{'':10}{'step s':>8}{'of DDP':>22}{'MiB a rank':>12}{'of DDP':>22}{'arena MiB':>11}")
    print(f"{'DDP':10}{median(torch_seconds):8.3f}{'':22}{median(torch_bytes) * mib:12.0f}")
    for stage, rows in ours.items():
        seconds, peaks, arenas = zip(*rows)
        print(f"stage {stage}   {median(seconds):8.3f}{ratios(seconds, torch_seconds):>22}"
              f"{median(peaks) * mib:12.0f}{ratios(peaks, torch_bytes):>22}{arenas[0] * mib:11.0f}")


if __name__ == "__main__":
    main()
