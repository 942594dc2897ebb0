"""What the scripts of this folder share: their flags, where things lie, a process's time and memory."""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys

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


# A process begins with the most bytes that its parent ever had: a small one starts the command.
LAUNCHER = """
import os, sys, time
begin = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
wall = time.perf_counter() - begin
os.write(int(sys.argv[1]), f"{os.waitstatus_to_exitcode(status)} {wall} "
         f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss * 1024}".encode())
"""


def ran(command, stderr=None):
    """Runs a command to its end: (its exit code, standard output, wall and CPU seconds, peak
    resident bytes)."""
    words = [str(word) for word in command]
    reader, writer = os.pipe()
    try:
        output = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, str(writer), *words],
                                stdout=subprocess.PIPE, stderr=stderr, text=True,
                                pass_fds=[writer]).stdout
        os.set_blocking(reader, False)
        code, wall, cpu, peak = os.read(reader, 200).split()
    except BlockingIOError:
        sys.exit(f"error: {' '.join(words)} did not start")
    finally:
        os.close(reader)
        os.close(writer)
    return int(code), output, float(wall), float(cpu), int(peak)


def measured(command):
    """Runs a command that succeeds: (its standard output, wall seconds, peak resident bytes)."""
    code, output, wall, _, peak = ran(command)
    if code != 0:
        sys.exit(f"error: exit code {code} of {' '.join(map(str, command))}")
    return output, wall, peak


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
