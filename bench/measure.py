"""What the scripts of this folder share: their flags, where things lie, a process's time and memory."""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "bin"
WORK = ROOT / "build" / "bench"


def parser_of(doc):
    """A parser whose --help prints the script's docstring; it refuses flags that it does not know."""
    return argparse.ArgumentParser(description=doc, allow_abbrev=False,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def tool(name):
    """The path of a built tool, given by its name or as a path of its own."""
    path = BIN / name if name == os.path.basename(name) else pathlib.Path(name)
    if not path.is_file():
        sys.exit(f"error: {path} is not there: run ./dev build first")
    return str(path)


def expect_modules(doc, *names):
    """Ends with a message where Python lacks one of these; --help is answered all the same."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing and {"-h", "--help"} & set(sys.argv[1:]):
        print(doc.strip())
        sys.exit()
    if missing:
        sys.exit(f"error: Python has no {' and no '.join(missing)}: vs_torch.py makes an environment "
                 "that has, and recompute.py uses it")


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
