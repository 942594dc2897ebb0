#!/usr/bin/env python3
"""Holds the pages to what they say: pages.py SOURCE BIN LLVM_BIN.

- Every ```sh block is run, those of a page in order in one folder in which the tree's top lies as links.
  Lines that begin with `./dev` or `git clone` are what brought us here: their subcommand must exist.
- The lines of a ```mlir or ```text block right behind a ```sh block must occur in that block's output, in this
  order; `…` stands for lines, or for the rest of a line, left out.
- Links and paths lead somewhere, and the files that the table of laws names carry the law's label.
- docs/generated is what ./dev docs makes.
"""
import filecmp
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BIN, LLVM_BIN = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), SOURCE / "bench/README.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:lib|include|tools|test|docs|examples|bench|cmake)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
faults = []


def fault(page, message):
    faults.append(f"{page.relative_to(SOURCE)}: error: {message}")


def is_own(line):
    return line.startswith(("./dev", "git clone", "cd zero"))


def run(page, block, folder):
    commands = "\n".join(line for line in block.splitlines() if not is_own(line))
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment,
                          text=True, capture_output=True)
    if done.returncode != 0:
        fault(page, f"exit code {done.returncode} of\n{commands}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_quote(page, quoted, output):
    lines = iter(line.strip() for line in output.splitlines())
    for line in quoted.splitlines():
        wanted = line.strip()
        begins = wanted.endswith("…")
        wanted = wanted.rstrip("… ")
        if wanted and not any(got.startswith(wanted) if begins else got == wanted for got in lines):
            return fault(page, f"expects this line of the output, in this order:\n{wanted}\n"
                               f"the output is\n{output}")


def check_commands(page, subcommands):
    blocks = list(FENCE.finditer(page.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        for entry in SOURCE.iterdir():
            if not entry.name.startswith((".", "build")):
                (pathlib.Path(folder) / entry.name).symlink_to(entry)
        before, output = None, ""
        for block in blocks:
            language, text = block.groups()
            if language == "sh":
                for line in filter(lambda line: line.startswith("./dev"), text.splitlines()):
                    if line.split()[1] not in subcommands:
                        fault(page, f"expects a subcommand of ./dev, got '{line}'")
                output, before = run(page, text, folder), block.end()
            elif language in ("mlir", "text") and before is not None:
                between = page.read_text()[before:block.start()]
                if not between.strip():
                    check_quote(page, text, output)


def check_links(page):
    text = page.read_text()
    for target in LINK.findall(text):
        if not (page.parent / target).exists():
            fault(page, f"link to {target}, which is not there")
    for path in PATH.findall(text):
        if not (SOURCE / path).exists():
            fault(page, f"names {path}, which is not there")


def check_laws(page):
    rows = re.findall(r"^\| ([A-Z]\d) \| (.*?) \| (.*?) \|$", page.read_text(), re.MULTILINE)
    labels = re.findall(r"^- \*\*\(([A-Z]\d)\)\*\*", page.read_text(), re.MULTILINE)
    if sorted(labels) != sorted(label for label, _, _ in rows):
        fault(page, "expects one row a law in the table")
    for label, *cells in rows:
        for cell in cells:
            for path in re.findall(r"`([^`]+)`", cell):
                file = SOURCE / path
                if file.exists() and not re.search(rf"(\b|_){label}(\b|_)", file.read_text()):
                    fault(page, f"expects the label {label} in {path}")


def check_generated():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, MLIR_DIR=str(LLVM_BIN.parent / "lib/cmake/mlir"))
        subprocess.run([SOURCE / "docs/generate.sh", folder], check=True, env=environment)
        committed = SOURCE / "docs/generated"
        for name in sorted({p.name for p in [*pathlib.Path(folder).iterdir(), *committed.glob("*")]}):
            ours, theirs = committed / name, pathlib.Path(folder) / name
            if not ours.exists() or not theirs.exists() or not filecmp.cmp(ours, theirs, shallow=False):
                fault(ours, "is not what ./dev docs makes: run it, and commit the page")


def main():
    text = subprocess.run([SOURCE / "dev", "help"], check=True, text=True, capture_output=True).stdout
    subcommands = re.findall(r"^  (\w+)  ", text, re.MULTILINE)
    for page in PAGES:
        check_links(page)
        check_commands(page, subcommands)
    check_laws(SOURCE / "docs/laws.md")
    check_generated()
    print("\n".join(faults) or f"{len(PAGES)} pages hold")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
