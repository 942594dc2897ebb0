"""Kills a run at random moments, resumes it each time, and holds its end against an unbroken one:

    kill.py KILLS SEED COMMAND…

Of three kills one comes at a random moment of starting and resuming, one as soon as a checkpoint is
being written behind some more steps, one some milliseconds behind that. Only behind the last kill the
number of steps is settled: so no run comes to its end too early, on however slow a machine.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

kills, seed = int(sys.argv[1]), int(sys.argv[2])
command = sys.argv[3:] + ["--checkpoint-every", "2", "--keep", "2", "--resume", "auto"]
draw = random.Random(seed)


def start(name, steps):
    outputs = ["--checkpoint-dir", name, "--save", name + ".safetensors", "--log", name + ".jsonl"]
    with open(name + ".out", "w") as out:
        return subprocess.Popen(command + outputs + ["--steps", str(steps)], stdout=out, stderr=out)


def fail(message, name="broken"):
    sys.exit(message + ":\n" + open(name + ".out").read())


def end(name, steps):
    if start(name, steps).wait(timeout=120) != 0:
        fail("the run failed", name)


def entries(prefix):
    try:
        return sorted(entry for entry in os.listdir("broken") if entry.startswith(prefix))
    except FileNotFoundError:
        return []


def newest():
    names = entries("step-")
    return int(names[-1][5:]) if names else 0


def wait(process, reached):
    deadline = time.monotonic() + 60
    while not reached():
        if process.poll() is not None:
            fail("the run ended before its kill")
        if time.monotonic() > deadline:
            fail("the run did not get on")


began = time.monotonic()
end("broken", 2)
loading = time.monotonic() - began
inside, reached = 0, []
for kill in range(kills):
    before = newest()
    process = start("broken", 10**9)
    if kill % 3 == 0:
        moment = time.monotonic() + draw.uniform(0, loading)
        wait(process, lambda: time.monotonic() >= moment or newest() > before)
    else:
        target = before + draw.randrange(2, 10)
        wait(process, lambda: newest() >= target)
        if kill % 3 == 1:
            wait(process, lambda: entries(".tmp-"))
            time.sleep(draw.uniform(0, 0.001))
        else:
            time.sleep(draw.uniform(0, 0.01))
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        fail("the run ended before its kill")
    inside += len(entries(".tmp-"))
    reached.append(newest())
    if "damaged" in open("broken.out").read():
        fail("a kill left a damaged checkpoint")
if reached != sorted(reached):
    sys.exit(f"a checkpoint was lost: {reached}")
steps = newest() + 5
end("broken", steps)
end("whole", steps)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def log(name):
    lines = [json.loads(line) for line in open(name + ".jsonl")]
    for line in lines:
        del line["seconds"], line["tokens_per_second"]
    return lines


last = f"step-{steps:08}"
for name in sorted(os.listdir("whole/" + last)):
    if read(f"whole/{last}/{name}") != read(f"broken/{last}/{name}"):
        sys.exit(f"{last}/{name} differs")
if read("whole.safetensors") != read("broken.safetensors"):
    sys.exit("the weights differ")
if log("whole") != log("broken") or len(log("whole")) != steps:
    sys.exit("the logs differ")
if entries(".tmp-") or entries(".old-") or len(entries("step-")) != 2:
    sys.exit("left over: " + " ".join(os.listdir("broken")))
if inside == 0:
    sys.exit("no kill met a checkpoint being written")
print(f"{kills} kills in {steps} steps, {inside} while a checkpoint was written; the same bytes")
