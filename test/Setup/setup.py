#!/usr/bin/env python3
"""What a newcomer meets first: setup.py SOURCE.

`./dev setup` runs against stand-ins for Debian's tools, which note what they are asked for; CMake runs
without MLIR, with a wrong LLVM, and with a folder that holds none.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()

STAND_INS = {
    # One file a package that is installed; `sources` lists what can be had.
    "dpkg-query": 'test -e "$STATE/${!#}" && echo -n installed',
    "apt-cache": 'grep -qx "$2" "$STATE/sources" && echo "$2 | 1 | main"',
    "apt-get": 'echo "apt-get $*" >> "$STATE/log"\n'
               'for word in "$@"; do case $word in install | -*) ;; *) touch "$STATE/$word" ;; esac; done',
    "sudo": 'echo sudo >> "$STATE/log"; exec "$@"',
    "id": 'echo "$USER_ID"',
}
PACKAGES = ["clang-22", "libclang-rt-22-dev", "lld-22", "llvm-22-dev", "llvm-22-tools",
            "libmlir-22-dev", "mlir-22-tools", "cmake", "ninja-build", "ccache", "libboost-dev",
            "libgtest-dev", "libopenmpi-dev", "openmpi-bin", "python3"]
# Whose headers a line `#include <folder/…>` or `"folder/…"` may be of: a package, or the C library's.
HEADERS = {"llvm": "llvm-22-dev", "mlir": "libmlir-22-dev", "boost": "libboost-dev",
           "fuzzer": "libclang-rt-22-dev", "gtest": "libgtest-dev", "sys": None, "net": None,
           "netinet": None, "arpa": None}


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.state = pathlib.Path(self.folder.name) / "state"
        self.tools = pathlib.Path(self.folder.name) / "bin"
        self.state.mkdir()
        self.tools.mkdir()
        for name, text in STAND_INS.items():
            (self.tools / name).write_text(f"#!/bin/bash\n{text}\n")
            (self.tools / name).chmod(0o755)
        self.offer(PACKAGES)

    def offer(self, packages):
        (self.state / "sources").write_text("".join(name + "\n" for name in packages))

    def dev(self, *arguments, user=0):
        environment = dict(os.environ, PATH=f"{self.tools}:{os.environ['PATH']}", STATE=str(self.state),
                           USER_ID=str(user))
        environment.pop("MLIR_DIR", None)
        return subprocess.run([SOURCE / "dev", *arguments], env=environment, text=True,
                              capture_output=True)

    def log(self):
        path = self.state / "log"
        return path.read_text().splitlines() if path.exists() else []

    def test_installs_what_is_missing_and_then_nothing(self):
        (self.state / "cmake").touch()
        done = self.dev("setup")
        self.assertEqual(done.returncode, 0, done.stderr)
        missing = [name for name in PACKAGES if name != "cmake"]
        self.assertIn("==> installing from Debian's packages: " + " ".join(missing), done.stdout)
        self.assertEqual(self.log(), ["apt-get install -y -qq --no-install-recommends " +
                                      " ".join(missing)])
        again = self.dev("setup", user=1000)
        self.assertEqual(again.stdout, "==> all packages are installed\n")
        self.assertEqual(len(self.log()), 1)

    def test_has_a_package_for_all_that_is_included(self):
        folders = {}
        for path in [path for room in ("include", "lib", "tools", "examples", "test", "bench")
                     for path in (SOURCE / room).rglob("*") if path.suffix in (".h", ".cpp")]:
            for folder in re.findall(r'^#include [<"](\w+)/', path.read_text(), re.MULTILINE):
                folders.setdefault(folder, path)
        own = {path.name for room in ("include", "lib", "test", "tools") for path in (SOURCE / room).rglob("*")
               if path.is_dir()}
        for folder, path in folders.items():
            if folder not in own:
                self.assertIn(folder, HEADERS, f"{path} includes a library that ./dev doesn't install")
                self.assertIn(HEADERS[folder], [*PACKAGES, None])

    def test_asks_for_root_where_it_is_not(self):
        done = self.dev("setup", user=1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(through sudo)", done.stdout)
        self.assertEqual(self.log()[0], "sudo")

    def test_says_which_source_is_lacking(self):
        self.offer(name for name in PACKAGES if "mlir" not in name)
        done = self.dev("setup")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: no package source has libmlir-22-dev mlir-22-tools\n", done.stderr)
        self.assertIn("bookworm-security", done.stderr)
        self.assertEqual(self.log(), ["apt-get update -qq"])

    def test_explains_itself(self):
        done = self.dev()
        self.assertEqual(done.returncode, 0)
        for command in ("train", "test", "setup", "build", "bench", "format", "docs", "clean"):
            self.assertIn(f"\n  {command} ", done.stdout)

    def test_refuses_what_it_does_not_know(self):
        done = self.dev("tests")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dev: error: unknown command 'tests'", done.stderr)
        done = self.dev("clean", "all")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dev: error: clean takes no argument, got 'all'", done.stderr)


class Configure(unittest.TestCase):
    def configure(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja",
                                   "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
                                   *flags], text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        return " ".join(done.stderr.split())

    def test_without_mlir(self):
        self.assertIn("MLIR 22 was not found: install libmlir-22-dev and mlir-22-tools, or set MLIR_DIR",
                      self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON"))

    def test_without_boost(self):
        self.assertIn("was not found: install libboost-dev",
                      self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"))

    def test_with_another_llvm(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "MLIRConfig.cmake").write_text(
                "set(LLVM_VERSION_MAJOR 19)\nset(LLVM_VERSION 19.1.7)\n")
            self.assertIn("Zero needs LLVM 22, and MLIR_DIR leads to LLVM 19.1.7: install libmlir-22-dev",
                          self.configure(f"-DMLIR_DIR={folder}"))

    def test_with_a_folder_without_mlir(self):
        self.assertIn("MLIR_DIR is /nonexistent, which holds no MLIRConfig.cmake",
                      self.configure("-DMLIR_DIR=/nonexistent"))


if __name__ == "__main__":
    unittest.main()
