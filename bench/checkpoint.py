#!/usr/bin/env python3
"""Measures `zero-plan checkpoint` on public graphs: bench/checkpoint.py [FOLDER [ZERO_PLAN]].

FOLDER holds the CSV files of Checkmate's and Moccasin's graphs, which are published under the GPL
and not part of this project; without a folder they are left out. Prints a row for each graph and
budget: cost ratio, lower bound, status, seconds, and the best ratio known before; then joint graphs of
transformers, generated.
Seconds are those of the planner's processor time. `--transformer BLOCKS` writes such a graph.
`--random NODES --seed SEED` writes a random layered graph, and `--minute [ZERO_PLAN]` plans those of
500 and 1000 nodes, seeds 1 to 5, at .8 of the peak: as usual, and with `--seconds 60`.
`--sweep FOLDER [ZERO_PLAN]` plans 20 budgets from floor to peak of every graph instead, and counts
how they end; it fails where cost rises with the budget, a peak passes it, or the budget below the
floor is not refused.
Where bench-mincut is built beside ZERO_PLAN, the minimum cuts of the transformers follow.
"""
import math
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

from measure import BIN, parser_of, tool

KNOWN = {
    "VGG16_256_train": {".9": 1.019677},
    "fcn_8_vgg_32_train": {".9": 1.000294, ".8": 1.001361, ".7": 1.008915},
    "ResNet50_256_train": {".9": 1.001085, ".8": 1.002786, ".6": 1.009626, ".4": 1.022395,
                           ".3": 1.036446, ".2": 1.064276, ".11": 1.1977, ".1081": 1.2026},
    "random_layered_n100": {".9": 1.007892, ".8": 1.022965},
    "random_layered_n250": {".9": 1.009039, ".8": 1.042606},
}

ZERO_PLAN = str(BIN / "zero-plan")
TRANSFORMERS = {82: [".5"], 312: [".5", ".3"], 3125: [".5", ".3"]}


def transformer(blocks, hidden=1024, tokens=2048, heads=16):
    """The joint graph of a transformer: forward blocks of 14 nodes, backward ones of 18."""
    rows = []

    def add(cost, size, backward, *inputs):
        rows.append((len(rows), max(1, cost), size, backward, sorted(set(inputs))))
        return len(rows) - 1

    h, t = hidden, tokens  # costs in operations, values of 2 bytes, weight gradients of 4
    unit, product, scores = 2 * h * t, 2 * h * h * t, 2 * h * t * t

    def weight(inner):
        return 4 * h * inner

    x, saved = add(t * h, unit, 0), []
    for _ in range(blocks):
        norm1 = add(8 * t * h, unit, 0, x)
        q, k, v = (add(product, unit, 0, norm1) for _ in range(3))
        dots = add(scores, 2 * heads * t * t, 0, q, k)
        soft = add(5 * heads * t * t, 2 * heads * t * t, 0, dots)
        mixed = add(scores, unit, 0, soft, v)
        out = add(product, unit, 0, mixed)
        y = add(t * h, unit, 0, x, out)
        norm2 = add(8 * t * h, unit, 0, y)
        up = add(4 * product, 4 * unit, 0, norm2)
        act = add(8 * 4 * t * h, 4 * unit, 0, up)
        down = add(4 * product, unit, 0, act)
        z = add(t * h, unit, 0, y, down)
        saved.append((x, norm1, q, k, v, soft, mixed, y, norm2, up, act))
        x = z
    g = add(t * h, unit, 1, x)
    for x, norm1, q, k, v, soft, mixed, y, norm2, up, act in reversed(saved):
        add(4 * product, weight(4 * h), 1, g, act)
        dact = add(4 * product, 4 * unit, 1, g)
        dup = add(8 * 4 * t * h, 4 * unit, 1, dact, up)
        add(4 * product, weight(4 * h), 1, dup, norm2)
        dnorm2 = add(4 * product, unit, 1, dup)
        dy = add(12 * t * h, unit, 1, dnorm2, y, g)
        add(product, weight(h), 1, dy, mixed)
        dmixed = add(product, unit, 1, dy)
        dsoft = add(scores, 2 * heads * t * t, 1, dmixed, v)
        dv = add(scores, unit, 1, dmixed, soft)
        ddots = add(5 * heads * t * t, 2 * heads * t * t, 1, dsoft, soft)
        dq = add(scores, unit, 1, ddots, k)
        dk = add(scores, unit, 1, ddots, q)
        for grad in (dq, dk, dv):
            add(product, weight(h), 1, grad, norm1)
        dnorm1 = add(3 * product, unit, 1, dq, dk, dv)
        g = add(12 * t * h, unit, 1, dnorm1, x, dy)
    return rows


def random_layered(size, seed):
    """A graph like Moccasin's random layered ones, with as many edges, layers and as large peaks.

    Layers of random widths; every value is read in the next layer, and some further down; the last
    node reads the last layer. The order favours nodes whose inputs came last.
    """
    draw = random.Random(seed)
    degree = max(1.0, math.log2(size / 20))
    width = max(1, round(.65 * size ** .5))
    layers, layer_of = [[0]], [0]
    while len(layer_of) < size - 1:
        count = min(draw.randint(1, 2 * width - 1), size - 1 - len(layer_of))
        layers.append(list(range(len(layer_of), len(layer_of) + count)))
        layer_of += [len(layers) - 1] * count
    inputs = [[] for _ in range(size)]
    for above, layer in zip(layers, layers[1:]):
        for node in layer:
            wanted = max(1, round(draw.uniform(.2, 1.8) * degree))
            inputs[node] = draw.sample(above, min(wanted, len(above)))
        for value in above:
            if not any(value in inputs[node] for node in layer):
                inputs[draw.choice(layer)].append(value)
        for node in layer:
            value = draw.randrange(layer[0])
            if draw.random() < .15 * degree and value not in inputs[node]:
                inputs[node].append(value)
    inputs[-1] = layers[-1]

    readers, missing = [[] for _ in range(size)], [len(values) for values in inputs]
    for node, values in enumerate(inputs):
        for value in values:
            readers[value].append(node)
    ready, order = [0], []
    while ready:
        order.append(ready.pop(max(draw.randrange(len(ready)) for _ in range(2))))
        for reader in readers[order[-1]]:
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    place = {node: index for index, node in enumerate(order)}

    rows = []
    for index, node in enumerate(order):
        mean, spread = (400, 130) if draw.random() < .35 else (100, 60)
        size_of = 10 * max(1, abs(round(draw.gauss(mean, spread))))
        rows.append((index, draw.randrange(1000) if index else 0, size_of, 0,
                     sorted(place[value] for value in inputs[node])))
    return rows


def csv(rows):
    lines = [f"{id},{cost},{size},{backward},{' '.join(map(str, inputs))}"
             for id, cost, size, backward, inputs in rows]
    return "\n".join(["id,cost,bytes,backward,inputs"] + lines) + "\n"


def timed(planner, path, budget, *flags):
    """What zero-plan did, and user seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([planner, "checkpoint", str(path), "--budget", budget, *flags],
                         capture_output=True, text=True)
    return run, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def planned(planner, path, budget, *flags):
    """What zero-plan prints, by its first word, and user seconds."""
    run, seconds = timed(planner, path, "0" + budget, *flags)
    fields = dict(line.split(None, 1) for line in run.stdout.splitlines()
                  if len(line.split(None, 1)) == 2 and not line.startswith("base"))
    if "ratio" not in fields:
        sys.exit(run.stderr.strip())
    return fields, seconds


def measure(planner, name, path, budget, known):
    fields, seconds = planned(planner, path, budget)
    print(f"| {name} {budget} | {fields['ratio']} | {fields['bound']} | {fields['status']} | "
          f"{seconds:.2f} | {known} |", flush=True)


def sweep(planner, path):
    """Twenty budgets from floor to peak: the row to print."""
    def over(*budgets):
        run, seconds = timed(planner, path, ",".join(map(str, budgets)))
        return [line.split() for line in run.stdout.splitlines()], run.stderr, seconds

    rows, _, _ = over("1.0", "1.0")
    peak, floor = int(rows[0][2]), int(rows[1][1])
    _, message, _ = over(floor - 1)
    if f"expects a budget of at least {floor} bytes, which node" not in message:
        sys.exit(f"{path}: expects a budget below the floor to be refused, got {message.strip()}")
    rows, message, seconds = over(*(floor + (peak - floor) * k // 19 for k in range(20)))
    ends, last = dict.fromkeys(("optimal", "feasible", "infeasible", "unknown"), 0), None
    if len(rows) != 23:
        sys.exit(message.strip())
    for budget, used, ratio, _, status in rows[3:]:
        ends[status] += 1
        if used == "-":
            continue
        if int(used) > int(budget) or (last is not None and float(ratio) > last):
            sys.exit(f"{path}: expects peaks within, and costs that never rise, at {budget}")
        last = float(ratio)
    return f"| {path.stem} | {' | '.join(map(str, ends.values()))} | {seconds:.1f} |"


def against_a_minute(planner):
    print("| nodes, seed | cost ratio | bound | seconds | with --seconds 60 | seconds | above it |")
    print("|---|---|---|---|---|---|---|")
    for size in (500, 1000):
        for seed in range(1, 6):
            with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
                file.write(csv(random_layered(size, seed)))
                file.flush()
                usual, seconds = planned(planner, file.name, ".8")
                long, most = planned(planner, file.name, ".8", "--seconds", "60")
            above = float(usual["ratio"]) / float(long["ratio"]) - 1
            print(f"| {size}, {seed} | {usual['ratio']} | {usual['bound']} | {seconds:.2f} | "
                  f"{long['ratio']} | {most:.1f} | {above:.2%} |", flush=True)


def minimum_cut(planner, path):
    program = pathlib.Path(planner).parent / "bench-mincut"
    if not program.exists():
        return []
    run = subprocess.run([program, path], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr.strip())
    fields = dict(line.split() for line in run.stdout.splitlines())
    return [f"| transformer of {fields['nodes']} nodes | {fields['saved']} | {fields['seconds']} | "
            f"{fields['push-relabel']} |"]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("plan", nargs="?", default=ZERO_PLAN, metavar="ZERO_PLAN")
    parser.add_argument("--sweep", action="store_true", help="20 budgets of every graph in FOLDER")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--minute", nargs="?", const=ZERO_PLAN, metavar="ZERO_PLAN")
    modes.add_argument("--transformer", type=int, metavar="BLOCKS")
    modes.add_argument("--random", type=int, metavar="NODES", help="at least 3; needs --seed")
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()
    if (args.random is None) != (args.seed is None) or (args.random or 3) < 3:
        parser.error("expects --random NODES --seed SEED, NODES at least 3")
    if args.sweep and args.folder is None:
        parser.error("expects --sweep FOLDER")
    if args.transformer is not None:
        sys.stdout.write(csv(transformer(args.transformer)))
        return
    if args.random is not None:
        sys.stdout.write(csv(random_layered(args.random, args.seed)))
        return
    if args.minute:
        against_a_minute(tool(args.minute))
        return
    folder, planner = args.folder, tool(args.plan)
    if args.sweep:
        print("| graph | optimal | feasible | infeasible | unknown | seconds |")
        print("|---|---|---|---|---|---|")
        for graph in KNOWN:
            print(sweep(planner, folder / f"{graph}.csv"), flush=True)
        return
    print("| graph, budget | cost ratio | bound | status | seconds | known before |")
    print("|---|---|---|---|---|---|")
    for graph, budgets in KNOWN.items() if folder else []:
        for budget, known in budgets.items():
            measure(planner, graph, folder / f"{graph}.csv", budget, f"{known:.6f}")
    cuts = []
    for blocks, budgets in TRANSFORMERS.items():
        rows = transformer(blocks)
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(csv(rows))
            file.flush()
            for budget in budgets:
                measure(planner, f"transformer of {len(rows)} nodes", file.name, budget, "")
            cuts += minimum_cut(planner, file.name)
    if cuts:
        print("\n| minimum cut | values saved | seconds | push-relabel |\n|---|---|---|---|")
        print("\n".join(cuts))


if __name__ == "__main__":
    main()
