#!/usr/bin/env python3
"""The arena planner on public instances, their copies, and generated files.

    bench/arena.py --instances DIR [--plan ZERO_PLAN] [--quick] [--long] [--large-copies]

DIR holds minimalloc's and idealloc's CSV files (test/Planning/instances has those that are small).
Prints one row a group: the goal, our slowest run and the mean, how many runs met the goal, the
worst height over the lower bound, and what others take, or the whole process's memory at its peak.
Each plan is checked by zero-plan itself.
Seconds are CPU time: that of the whole process, user and system, or the planner's own by the clock
where that is less; on one thread the planner's CPU time is below both.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

from measure import BIN, parser_of, ran, tool

CHALLENGING = "ACDFHJ"  # of minimalloc's eleven; all are solved at 1048576
ROTATIONS = 24
COPIES = 24
LARGE_COPIES = 40
# Seconds: minimalloc's measured on a 2-core EPYC, idealloc's as published.
OTHERS = {"A": "minimalloc 4.6 s", "C": "minimalloc 0.6 s", "D": "minimalloc 2.4 s",
          "F": "minimalloc 4.4 s", "H": "minimalloc 1.5 s", "J": "minimalloc 0.8 s",
          "all": "minimalloc 14.3 s", "G_1": "minimalloc 1.06 s", "resnet50": "minimalloc 0.23 s",
          "S_1": "idealloc 1.0132 in 5.3 s, minimalloc nothing", "zero3_L8": "minimalloc 0.010 s",
          "zero3_L32": "minimalloc 0.35 s", "zero3_L96": "minimalloc 16.3 s",
          "tight": "open before"}


def read(path):
    with open(path) as file:
        lines = [line for line in file.read().split("\n") if line]
    return [tuple(map(int, line.split(",")[:4])) for line in lines[1:]]


def write(rows, path):
    with open(path, "w") as file:
        file.write("id,lower,upper,size\n")
        file.writelines(f"{i},{lower},{upper},{size}\n" for i, lower, upper, size in rows)


def shuffled(rows, seed):
    """Other ids, in another order: ties fall differently."""
    rng = random.Random(seed)
    ids = [row[0] for row in rows]
    rng.shuffle(ids)
    rows = [(i, *row[1:]) for i, row in zip(ids, rows)]
    rng.shuffle(rows)
    return rows


def copied(rows, seed, shrink_only):
    """3 % dropped, sizes jittered by up to 3 %, every other one mirrored in time. Where sizes only
    shrink, a capacity that was enough is so still."""
    rng = random.Random(seed)
    end = max(row[2] for row in rows)
    result = []
    for i, lower, upper, size in rows:
        if rng.random() < 0.03:
            continue
        factor = 1 - 0.03 * rng.random() if shrink_only else 0.97 + 0.06 * rng.random()
        if seed % 2:
            lower, upper = end - upper, end - lower
        result.append((i, lower, upper, max(1, int(size * factor))))
    return shuffled(result, seed)


def generated(count, seed):
    """A long chain of ops: three results a step, nine of ten of them short-lived."""
    rng = random.Random(seed)
    for i in range(count):
        length = 1 + int(rng.expovariate(1 / 8 if rng.random() < 0.9 else 1 / 300))
        size = rng.choice([1, 2, 3, 4, 6, 8, 12, 16]) << rng.randrange(10, 18)
        yield i, i // 3, i // 3 + length, size


def scattered(count, seed, lives):
    """Rows in no order, ids neither, sizes odd: of other generators than ours. `mixed` lives are
    short but for 3 %, which last thousands of steps; `even` ones last 50 to 500 steps."""
    rng = random.Random(seed)
    steps = count if lives == "mixed" else 4 * count
    for i in range(count):
        lower = rng.randrange(steps)
        if lives == "even":
            length = rng.randrange(50, 501)
        elif rng.random() < 0.97:
            length = 1 + int(rng.expovariate(1 / 6))
        else:
            length = rng.randrange(1000, 20000)
        # 7919 is a prime, and no divisor of the counts: each id comes once.
        yield i * 7919 % count, lower, lower + length, rng.randrange(1, 1 << 20) | 1


class Bench:
    def __init__(self, plan, instances, folder):
        self.plan, self.instances, self.folder = plan, instances, folder
        print("| instances | goal | slowest | mean | met | worst height ÷ bound | others |")
        print("|---|---|---|---|---|---|---|", flush=True)

    def file(self, name):
        path = os.path.join(self.instances, name + ".csv")
        return path if os.path.exists(path) else None

    def run(self, path, *flags):
        _, out, _, cpu, peak = ran([self.plan, "arena", path, *flags], stderr=subprocess.DEVNULL)
        value = dict(re.findall(r"^(\w[\w ]*?) +([\w.]+)$", out, re.M))
        if "status" not in value:
            sys.exit(f"{path}: no plan: {out}")
        value["cpu"], value["bytes"] = min(cpu, float(value["seconds"])), peak
        return value

    def row(self, label, goal, runs, met, ratio_goal=None, others=""):
        """`runs` is a list of results, `met(result)` whether the height is low enough."""
        ratios = [float(run["ratio"]) for run in runs]
        good = sum(met(run) and run["cpu"] <= goal for run in runs)
        self.print(label, goal, [run["cpu"] for run in runs], f"{good} of {len(runs)}",
                   f"{max(ratios):.6f}", ratio_goal, others)

    def sums(self, label, goal, rounds, others=""):
        """`rounds` is a list of lists: what each took in all."""
        sums = [sum(run["cpu"] for run in runs) for runs in rounds]
        good = sum(total <= goal for total in sums)
        self.print(label, goal, sums, f"{good} of {len(sums)}", "", None, others)

    @staticmethod
    def print(label, goal, seconds, met, ratio, ratio_goal, others):
        goal_text = f"{goal:g} s" + (f", {ratio_goal}" if ratio_goal else "")
        mean = sum(seconds) / len(seconds)
        print(f"| {label} | {goal_text} | {max(seconds):.3f} s | {mean:.3f} s | {met} | {ratio} "
              f"| {others} |", flush=True)


def fits(run):
    return run["status"] in ("optimal", "feasible")


def copies_of_large_files(bench, scratch, count):
    close = lambda run: float(run["ratio"]) <= 1.001
    for name in ("S_1", "G_1", "resnet50", "zero3_L96"):
        if path := bench.file(name):
            runs = []
            for seed in range(count):
                write(copied(read(path), seed, shrink_only=False), scratch)
                runs.append(bench.run(scratch, "--seconds", 5))
            bench.row(f"{name}, mirrored, thinned, jittered", 5.2, runs, close, "1.001")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--instances", required=True)
    parser.add_argument("--plan", default=str(BIN / "zero-plan"))
    parser.add_argument("--quick", action="store_true", help="three copies of each, no large files")
    parser.add_argument("--long", action="store_true",
                        help="also D and J at their bounds, J at 998400")
    parser.add_argument("--large-copies", action="store_true",
                        help="only the copies of large files")
    options = parser.parse_args()
    rotations = 3 if options.quick else ROTATIONS
    copies = 3 if options.quick else COPIES
    large_copies = 3 if options.quick else LARGE_COPIES
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(tool(options.plan), options.instances, folder)
        scratch = os.path.join(folder, "copy.csv")
        if options.large_copies:
            return copies_of_large_files(bench, scratch, large_copies)
        small = [(name, bench.file(name + ".1048576")) for name in CHALLENGING]
        small = [(name, path) for name, path in small if path]

        runs = []
        for name, path in small:
            run = bench.run(path, "--capacity", 1048576, "--seconds", 30)
            bench.row(f"{name} at 1048576", 0.3, [run], fits, others=OTHERS[name])
            runs.append(run)
        if runs:
            bench.sums(f"these {len(runs)} together", 0.6, [runs], OTHERS["all"])
        rounds = []
        for seed in range(rotations):
            rounds.append([])
            for _, path in small:
                write(shuffled(read(path), seed), scratch)
                rounds[-1].append(bench.run(scratch, "--capacity", 1048576, "--seconds", 30))
        if small:
            bench.row(f"the same in {rotations} other orders", 0.5, sum(rounds, []), fits)
            bench.sums("each of these orders together", 0.6, rounds)
        runs = []
        for _, path in small:
            for seed in range(copies):
                write(copied(read(path), seed, shrink_only=True), scratch)
                runs.append(bench.run(scratch, "--capacity", 1048576, "--seconds", 30))
        if small:
            bench.row("mirrored, 3 % dropped, sizes jittered", 1, runs, fits)

        tight = [("C", 1039360, 0.1)]
        if options.long:
            tight += [("D", 986112, 40), ("J", 998400, 20), ("J", 989184, 120)]
        for name, capacity, goal in tight:
            if path := bench.file(name + ".1048576"):
                run = bench.run(path, "--capacity", capacity, "--seconds", 4 * goal + 1)
                bench.row(f"{name} at {capacity}", goal, [run], fits, others=OTHERS["tight"])

        optimal = lambda run: run["status"] == "optimal"
        for name, goal in [("G_1", 0.02), ("resnet50", 0.02), ("S_1", 0.2), ("zero3_L8", 0.002),
                           ("zero3_L32", 0.015), ("zero3_L96", 0.04)]:
            if path := bench.file(name):
                bench.row(name, goal, [bench.run(path)], optimal, "the bound", OTHERS[name])
        copies_of_large_files(bench, scratch, large_copies)
        if not options.quick:
            for count, goal in [(90_000, 0.5), (1_000_000, 8)]:
                for label, rows in [("generated", generated(count, 1)),
                                    ("generated (another seed)", generated(count, 2)),
                                    ("scattered (mixed)", scattered(count, 1, "mixed")),
                                    ("scattered (even)", scattered(count, 1, "even"))]:
                    write(rows, scratch)
                    run = bench.run(scratch, "--seconds", 0.001)  # the first plan, and best fit
                    bench.row(f"{count:,} {label} buffers, first plan", goal, [run], fits,
                              others=f"{run['bytes'] / count:.0f} bytes a buffer")


if __name__ == "__main__":
    main()
