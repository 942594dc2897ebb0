#!/usr/bin/env python3
"""Step time against a budget for the arena: the GPT-2 of vs_torch.py on one rank, one thread.

The floor is the smallest arena that `--recompute budget` finds when it is asked for what no plan can go
below, the ceiling that of keeping everything. At budgets between, the run trains, and its arena is held
against the budget and against what a dry run promised. Runs take turns over several rounds, and a time is shown as its ratio to keeping everything in
the same round. The policies without a budget stand beside it, and PyTorch's activation_memory_budget
for the same model, where ${ZERO_BENCH_ENV:-~/.cache/zero-bench} has torch (vs_torch.py makes it).

`--bounds` plans more models instead, and trains nothing: arenas of mini (that GPT-2), GPT-2 of 124M
parameters and GPT-3 (1024 ranks), at every stage and policy and at one budget, halfway between keeping everything and
the smallest of the policies. Each is its lower bound, or the program ends with an error.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

from measure import ROOT, WORK, measured, parser_of, text_file, tool

MINI = dict(layers=6, width=384, heads=6, vocab=256, positions=256)
MODELS = {
    "mini": (MINI, 8, 256),
    "124M": (dict(layers=12, width=768, heads=12, vocab=50257, positions=1024), 4, 1024),
    "GPT-3": (dict(layers=96, width=12288, heads=96, vocab=50257, positions=2048), 1, 2048),
}
BATCH = 8
POLICIES = ["none", "every-block", "min-cut"]


def model_file(name, shape):
    path = WORK / f"{name}.mlir"
    WORK.mkdir(parents=True, exist_ok=True)
    flags = [word for key, value in shape.items() for word in ("--" + key, value)]
    measured([tool("zero-model"), "gpt2", *flags, "-o", path])
    return path


def planned(model, batch, *flags):
    """The report of a dry run, or the bytes that its refusal names."""
    report = WORK / "report.json"
    command = [tool("zero-run"), model, "--micro-batch", batch, "--dry-run", "--report", report, *flags]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode == 0:
        return json.loads(report.read_text())
    bytes_named = re.search(r"a rank \(--memory-budget\), got (\d+)", run.stderr)
    return int(bytes_named[1]) if bytes_named else sys.exit(run.stderr)


def within(model, batch, budget, *flags):
    return planned(model, batch, "--recompute", "budget", "--memory-budget", budget, *flags)


def met(result):
    if isinstance(result, int):
        sys.exit(f"error: a budget is refused, for {result} bytes")
    return result


def smallest(model, batch):
    """The lowest budget that is met, beginning from the one below which no plan exists."""
    budget = within(model, batch, 1)
    print(f"no plan takes less than {budget} bytes", flush=True)
    while isinstance(result := within(model, batch, budget), int):
        budget = result
    return result["arena_bytes"]


def trained(model, data, steps, *flags):
    log, report = WORK / "log.jsonl", WORK / "report.json"
    measured([tool("zero-run"), model, "--micro-batch", BATCH, "--steps", steps, "--data", data,
              "--lr", "3e-4", "--clip", "1", "--log", log, "--report", report, *flags])
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return (statistics.median(line["seconds"] for line in lines[2:]),
            [line["loss"] for line in lines], json.loads(report.read_text()))


def show_bounds():
    print("| model | runs again | stage 0 | stage 1 | stage 2 | stage 3 |\n|---|---|---|---|---|---|")
    for name, (shape, batch, _) in MODELS.items():
        model, ranks = model_file(name, shape), 1024 if name == "GPT-3" else 2
        arenas = {}
        for policy in POLICIES + ["budget"]:
            for stage in range(4):
                flags = ["--ranks", ranks, "--stage", stage]
                if policy == "budget":
                    found = [arenas[other, stage] for other in POLICIES]
                    result = within(model, batch, (min(found) + max(found)) // 2, *flags)
                else:
                    result = planned(model, batch, *flags, "--recompute", policy)
                report = met(result)
                arena = arenas[policy, stage] = report["arena_bytes"]
                if arena != report["arena_lower_bound_bytes"]:
                    sys.exit(f"error: {name}, stage {stage}, {policy}: {arena} bytes, and the lower "
                             f"bound is {report['arena_lower_bound_bytes']}")
            sizes = " | ".join(f"{arenas[policy, stage] / 2**20:,.1f}" for stage in range(4))
            print(f"| {name} | {policy} | {sizes} |", flush=True)


def torch_python():
    folder = pathlib.Path(os.environ.get("ZERO_BENCH_ENV", pathlib.Path.home() / ".cache/zero-bench"))
    python = folder / "bin" / "python"
    there = python.exists() and subprocess.run([python, "-c", "import torch, transformers"],
                                               stderr=subprocess.DEVNULL).returncode == 0
    return python if there else None


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6, help="steps of a run, at least 3")
    parser.add_argument("--points", type=int, default=5, help="budgets from floor to ceiling")
    parser.add_argument("--bounds", action="store_true", help="plan more models, and train nothing")
    args = parser.parse_args()
    if args.bounds:
        return show_bounds()

    data = text_file("tokens.txt", 1 << 20)
    model = model_file("mini", MINI)
    ceiling = planned(model, BATCH)["arena_bytes"]
    floor = smallest(model, BATCH)
    budgets = [floor + (ceiling - floor) * i // (args.points - 1) for i in range(args.points)]
    rows = [(f"budget {b / 2**20:.1f} MiB", b, ["--recompute", "budget", "--memory-budget", b])
            for b in budgets]
    promised = {b: met(within(model, BATCH, b))["arena_bytes"] for b in budgets}
    rows += [(policy, None, ["--recompute", policy]) for policy in POLICIES[1:]]
    ratios, reports, first = {name: [] for name, _, _ in rows}, {}, None
    for number in range(args.rounds):
        seconds, losses, _ = trained(model, data, args.steps)
        first = first or losses
        for name, budget, flags in rows:
            taken, again, report = trained(model, data, args.steps, *flags)
            if again != first:
                sys.exit(f"error: {name} trains other losses")
            if budget and not promised[budget] == report["arena_bytes"] <= budget:
                sys.exit(f"error: {name} takes {report['arena_bytes']} bytes, and was to take "
                         f"{promised[budget]}")
            ratios[name].append(taken / seconds)
            reports[name] = report
        print(f"round {number + 1} of {args.rounds}: keeping all {seconds:.3f} s a step", flush=True)
    print(f"\n{'':22}{'arena MiB':>10}{'operations':>12}{'time':>8}")
    for name, _, _ in rows:
        report = reports[name]
        print(f"{name:22}{report['arena_bytes'] / 2**20:10.1f}"
              f"{report['recompute']['flops_ratio']:12.3f}{statistics.median(ratios[name]):8.3f}")

    python = torch_python()
    if not python:
        return print("\nPyTorch is not installed: see vs_torch.py")
    print(f"\n{'PyTorch':22}{'kept MiB':>10}{'':12}{'time':>8}")
    base = None
    for budget in [1.0, 0.75, 0.5, 0.25, 0.0]:
        output, _, _ = measured([python, ROOT / "bench/torch_budget.py", "--steps", args.steps,
                                 "--budget", budget])
        result = json.loads(output.splitlines()[-1])
        base = base or result["seconds"]
        print(f"budget {budget:<15}{result['kept_bytes'] / 2**20:10.1f}{'':12}"
              f"{result['seconds'] / base:8.3f}", flush=True)


if __name__ == "__main__":
    main()
