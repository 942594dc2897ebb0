"""What the scripts of this folder share: where things lie, and a process's time and memory."""
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "bin"
WORK = ROOT / "build" / "bench"


def tool(name):
    path = BIN / name
    if not path.exists():
        sys.exit(f"error: {path} is not there: run ./dev build first")
    return str(path)


def measured(command):
    """Runs a command to its end: (its standard output, wall seconds, peak resident bytes)."""
    begin = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"error: exit code {child.returncode} of {' '.join(map(str, command))}")
    return output, time.perf_counter() - begin, usage.ru_maxrss * 1024


def text_file(name, count):
    """A file of `count` bytes from a fixed generator: a byte is a token."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / name
    if not path.exists() or path.stat().st_size != count:
        state, values = 1, bytearray(count)
        for i in range(count):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            values[i] = state >> 23
        path.write_bytes(values)
    return path
