"""curve.py LOG --below LOSS: the mean of the last 20 losses. curve.py LOG --near OTHER: each loss within 1e-5."""
import json
import sys

losses = lambda path: [json.loads(line)["loss"] for line in open(path)]
path, check, against = sys.argv[1:]
curve = losses(path)
if check == "--below":
    mean = sum(curve[-20:]) / 20
    sys.exit(not (len(curve) >= 20 and mean < float(against)) and f"{path}: ends at a loss of {mean}")
other = losses(against)
far = [i for i, (a, b) in enumerate(zip(curve, other)) if abs(a - b) > 1e-5]
sys.exit((len(curve) != len(other) or bool(far)) and f"{path}: differs from {against} at steps {far}")
