#!/usr/bin/env python3
"""Planning a GPT-3 for 1024 ranks at stage 3: seconds and peak memory of `zero-run --dry-run` at 48,
96 and 192 layers.

Doubling the layers should about double the time, and must leave the gather and reduce buffers as they
are (M4): a difference there ends the script with exit code 1.
"""
import json
import sys

from measure import WORK, measured, parser_of, tool

SHAPE = dict(model_type="gpt2", n_embd=12288, n_head=96, n_positions=2048, vocab_size=50257,
             attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)


def plan(layers, repeats):
    WORK.mkdir(parents=True, exist_ok=True)
    config, report = WORK / f"gpt3-{layers}.json", WORK / f"gpt3-{layers}-report.json"
    config.write_text(json.dumps(dict(SHAPE, n_layer=layers)))
    runs = [measured([tool("zero-run"), config, "--micro-batch", 1, "--seq-len", 2048, "--ranks", 1024,
                      "--stage", 3, "--dry-run", "--report", report])[1:] for _ in range(repeats)]
    return min(runs)[0], max(peak for _, peak in runs), json.loads(report.read_text())


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=[48, 96, 192])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, of which the fastest counts")
    args = parser.parse_args()
    gib = 1 / (1 << 30)
    print(f"{'layers':>6}{'parameters':>16}{'seconds':>9}{'ratio':>7}{'peak GiB':>10}{'ratio':>7}"
          f"{'bucket bytes':>14}{'arena GiB a rank':>18}")
    before, buckets = None, set()
    for layers in args.layers:
        seconds, peak, report = plan(layers, args.repeats)
        ratios = (f"{seconds / before[0]:.2f}", f"{peak / before[1]:.2f}") if before else ("", "")
        print(f"{layers:6}{report['parameters']:16}{seconds:9.1f}{ratios[0]:>7}{peak * gib:10.2f}"
              f"{ratios[1]:>7}{report['bucket_bytes']:14}{report['arena_bytes'] * gib:18.1f}",
              flush=True)
        before = seconds, peak
        buckets.add(report["bucket_bytes"])
    if len(buckets) > 1:
        sys.exit(f"error: bucket bytes depend on the number of layers (M4): {sorted(buckets)}")


if __name__ == "__main__":
    main()
