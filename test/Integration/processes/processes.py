#!/usr/bin/env python3
"""zero-run with a process a rank: processes.py SOURCE BIN [MPIRUN].

Jobs over TCP are started here as torchrun starts them; those over MPI by MPIRUN, and skipped without it.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, BIN = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MPIRUN = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
MODELS, GOLDEN = SOURCE / "test/Integration/models", SOURCE / "test/Integration/golden"
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "SLURM_", "RANK", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
TRANSPORTS = ["tcp", *(["mpi"] if MPIRUN else [])]
PATIENCE = 30  # seconds for a whole job


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def torchrun(rank, ranks, port):
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port)}


def slurm(rank, ranks, port):
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(ranks), "SLURM_NODELIST": "localhost,other",
            "SLURM_JOB_ID": str(port)}


class Job:
    """One zero-run a rank. `arguments` is one list for all ranks, or one list a rank."""

    def __init__(self, folder, transport, ranks, arguments, variables=torchrun):
        each = arguments if isinstance(arguments[0], list) else [arguments] * ranks
        commands = [[str(BIN / "zero-run"), *map(str, one)] for one in each]
        self.begin, self.ended = time.monotonic(), None
        options = dict(cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if transport == "mpi":
            line = [MPIRUN, "--oversubscribe", "--allow-run-as-root"]
            for rank, command in enumerate(commands):
                line += ([":"] if rank else []) + ["-n", "1", *command]
            self.processes = [subprocess.Popen(line, env=ENVIRONMENT, **options)]
        else:
            port = free_port()
            self.processes = [subprocess.Popen(command, env={**ENVIRONMENT, **variables(rank, ranks, port)},
                                               **options) for rank, command in enumerate(commands)]
        self.transport = transport

    def pid(self, rank):
        if self.transport == "tcp":
            return self.processes[rank].pid
        parent = self.processes[0].pid
        for child in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            if f"OMPI_COMM_WORLD_RANK={rank}\0" in pathlib.Path(f"/proc/{child}/environ").read_text():
                return int(child)
        raise AssertionError(f"no process of rank {rank}")

    def wait(self):
        """(the ranks' exit codes, all standard output, all of standard error without mpirun's words)"""
        outs, errs, codes = [], [], []
        for process in self.processes:
            try:
                out, err = process.communicate(timeout=PATIENCE - (time.monotonic() - self.begin))
            except subprocess.TimeoutExpired:
                for other in self.processes:
                    other.kill()
                raise
            outs.append(out), errs.append(err), codes.append(process.returncode)
        self.ended = time.monotonic()
        err = "".join(line for line in "".join(errs).splitlines(keepends=True)
                      if line.startswith("zero-run") or ": error: " in line or ": warning: " in line)
        return codes, "".join(outs), err


class Processes(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        shutil.copy(MODELS / "tiny.mlir", self.folder)
        (self.folder / "tokens.txt").write_bytes(bytes([0, 1, 2, 3, 4, 2, 1]) * 40)
        self.endless = ["tiny.mlir", "--micro-batch", 2, "--stage", 3, "--data", "tokens.txt", "--steps",
                        100000000, "--lr", "1e-5", "--log", "log.jsonl"]

    def alone(self, *arguments):
        return subprocess.run([BIN / "zero-run", *map(str, arguments)], cwd=self.folder, env=ENVIRONMENT,
                              text=True, capture_output=True)

    def run_job(self, transport, ranks, arguments, **options):
        return Job(self.folder, transport, ranks, arguments, **options).wait()

    def losses(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return [(record["step"], record["loss"], record["grad_norm"]) for record in map(json.loads, lines)]

    def until_steps_are_taken(self, job):
        log = self.folder / "log.jsonl"
        while not log.exists() or log.stat().st_size == 0:
            self.assertIsNone(job.processes[0].poll(), "the job ended early")
            self.assertLess(time.monotonic() - job.begin, PATIENCE)
            time.sleep(0.02)

    def expect_same_bits(self, ranks, arguments, transport, **options):
        done = self.alone(*arguments, "--ranks", ranks, "--save", "threads.safetensors", "--log",
                          "threads.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        codes, out, err = self.run_job(transport, ranks, [*arguments, "--save", "processes.safetensors",
                                                          "--log", "processes.jsonl"], **options)
        self.assertEqual(set(codes), {0}, err)
        self.assertEqual((self.folder / "processes.safetensors").read_bytes(),
                         (self.folder / "threads.safetensors").read_bytes())
        self.assertEqual(self.losses("processes.jsonl"), self.losses("threads.jsonl"))
        # One rank speaks, and says what the one process of threads says.
        self.assertEqual(out.count("parameters "), 1)
        self.assertEqual(err, done.stderr)

    def test_N1_tiny_has_the_bits_of_threads(self):
        for transport, stage in zip(TRANSPORTS, (3, 0)):
            with self.subTest(transport=transport, stage=stage):
                self.expect_same_bits(
                    3, ["tiny.mlir", "--micro-batch", 2, "--accumulate", 2, "--stage", stage, "--bucket-bytes",
                        64, "--data", GOLDEN / "tiny/batches.safetensors", "--weights",
                        GOLDEN / "tiny/model.safetensors", "--lr", "1e-2", "--clip", 1], transport)

    def test_N1_gpt2_has_the_bits_of_threads(self):
        for transport, stage, dtype in [("tcp", 3, "bf16"), ("mpi", 1, "bf16")]:
            if transport not in TRANSPORTS:
                continue
            with self.subTest(transport=transport, dtype=dtype):
                self.expect_same_bits(
                    3, [GOLDEN / "gpt2/config.json", "--micro-batch", 4, "--seq-len", 32, "--stage", stage,
                        "--bucket-bytes", 4096, "--data", GOLDEN / "gpt2/batches.safetensors", "--weights",
                        GOLDEN / "gpt2/model.safetensors", "--lr", "1e-3", "--clip", 1, "--steps", 6,
                        "--dtype", dtype], transport)

    def test_N1_slurm_gives_rank_and_size(self):
        self.expect_same_bits(2, ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 3],
                              "tcp", variables=slurm)

    def test_a_shell_of_slurm_runs_threads(self):
        done = subprocess.run([BIN / "zero-run", "tiny.mlir", "--micro-batch", "2", "--ranks", "2", "--data",
                               "tokens.txt", "--steps", "1"], cwd=self.folder, text=True, capture_output=True,
                              env={**ENVIRONMENT, "SLURM_PROCID": "0", "SLURM_NTASKS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ranks          2,", done.stdout)

    def test_F2_a_killed_rank_is_named(self):
        for transport, killed in [("tcp", 1), ("tcp", 0), ("mpi", 1)]:
            if transport not in TRANSPORTS:
                continue
            with self.subTest(transport=transport, killed=killed):
                (self.folder / "log.jsonl").unlink(missing_ok=True)
                job = Job(self.folder, transport, 3, self.endless)
                self.until_steps_are_taken(job)
                pid = job.pid(killed)
                os.kill(pid, signal.SIGKILL)
                killed_at = time.monotonic()
                codes, _, err = job.wait()
                self.assertLess(job.ended - killed_at, 10)
                self.assertNotIn(0, codes)
                self.assertIn(f"zero-run: error: rank {1 if killed == 0 else 0}: lost rank {killed} "
                              f"(process {pid} on ", err)
                self.assertEqual(err.count("error:"), 1, err)

    def test_F2_a_rank_that_stands_still_is_named(self):
        job = Job(self.folder, "tcp", 3, [*self.endless, "--rank-timeout", 2])
        self.until_steps_are_taken(job)
        os.kill(job.pid(1), signal.SIGSTOP)
        # The stopped process can't end by itself.
        for rank in (0, 2):
            self.assertEqual(job.processes[rank].wait(timeout=PATIENCE), 1)
        os.kill(job.pid(1), signal.SIGKILL)
        _, _, err = job.wait()
        # Stopped in the middle of its sends, rank 1 may have served one peer and not the other: that
        # one is a collective ahead, and misses both.
        self.assertRegex(err, r"expects (rank 1|ranks (0 and 1|1 and 2)) to take part in a collective, "
                              r"and waited 2 s in vain \(--rank-timeout\)")

    def test_a_signal_to_one_rank_ends_all_after_the_step(self):
        job = Job(self.folder, "tcp", 2, [*self.endless, "--save", "weights.safetensors"])
        self.until_steps_are_taken(job)
        os.kill(job.pid(1), signal.SIGTERM)
        codes, out, err = job.wait()
        self.assertEqual(codes, [130, 130], err)
        self.assertIn("weights are in weights.safetensors", out)
        self.assertTrue((self.folder / "weights.safetensors").exists())

    def expect_refused(self, transport, arguments, message, code):
        """By exactly this one line, on all ranks."""
        codes, out, err = self.run_job(transport, len(arguments), arguments)
        self.assertEqual(set(codes), {code}, err)
        self.assertEqual(err, message + "\n")
        self.assertEqual(out, "")

    def test_S3_ranks_with_different_flags_are_refused(self):
        common = ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 3]
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                self.expect_refused(transport, [[*common, "--lr", "1e-3"], [*common, "--lr", "1e-3"],
                                                [*common, "--lr", "2e-3"]],
                                    "zero-run: error: rank 2 was started with --lr 2e-3, rank 0 with --lr 1e-3",
                                    2)
        self.expect_refused("tcp", [common, [*common, "--seed", 7]],
                            "zero-run: error: rank 1 was started with --seed 7, rank 0 without --seed", 2)
        self.expect_refused("tcp", [[*common, "--save", "w.safetensors"], common],
                            "zero-run: error: rank 1 was started without --save, rank 0 with --save "
                            "w.safetensors", 2)
        # What only rank 0 acts on may differ.
        codes, _, err = self.run_job("tcp", 2, [[*common, "--log", "l.jsonl"], [*common, "--profile"]])
        self.assertEqual(codes, [0, 0], err)

    def test_S3_ranks_with_different_models_or_data_are_refused(self):
        text = (self.folder / "tiny.mlir").read_text()
        (self.folder / "other").mkdir()
        (self.folder / "other/tiny.mlir").write_text(text + "\n")
        (self.folder / "other/tokens.txt").write_bytes(bytes([0, 1, 2, 3]))
        common = ["--micro-batch", 2, "--steps", 1, "--data"]
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                _, _, err = self.run_job(transport, 2, [["tiny.mlir", *common, "tokens.txt"],
                                                        ["other/tiny.mlir", *common, "tokens.txt"]])
                self.assertRegex(err, r"^zero-run: error: rank 1 read tiny.mlir \(\d+ bytes, hash [0-9a-f]+\), "
                                      r"rank 0 tiny.mlir \(\d+ bytes, hash [0-9a-f]+\)\n$")
        _, _, err = self.run_job("tcp", 2, [["tiny.mlir", *common, "tokens.txt"],
                                            ["tiny.mlir", *common, "other/tokens.txt"]])
        self.assertRegex(err, r"^zero-run: error: rank 1 was started with --data tokens.txt \(4 bytes, hash "
                              r"[0-9a-f]+\), rank 0 with --data tokens.txt \(280 bytes, hash [0-9a-f]+\)\n$")

    def test_N1_ranks_on_unlike_processors_use_what_all_have(self):
        better = ["--instruction-set", "avx2"]
        if self.alone("tiny.mlir", "--micro-batch", 2, "--dry-run", *better).returncode != 0:
            self.skipTest("this processor has no more than the baseline")
        least = ["--instruction-set", "baseline"]
        arguments = [GOLDEN / "gpt2/config.json", "--micro-batch", 4, "--seq-len", 32, "--data",
                     GOLDEN / "gpt2/batches.safetensors", "--lr", "1e-3", "--steps", 2]
        done = self.alone(*arguments, *least, "--ranks", 3, "--save", "least.safetensors", "--checkpoint-dir", "D")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.alone(*arguments[:-1], 3, *better, "--ranks", 3, "--resume", "D/step-00000002")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(", with instruction-set avx2 (was baseline), steps 3 (was 2)\n", done.stderr)
        done = self.alone(*arguments, *better, "--ranks", 3, "--save", "better.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = (self.folder / "least.safetensors").read_bytes()
        self.assertNotEqual((self.folder / "better.safetensors").read_bytes(), expected)
        codes, _, err = self.run_job("tcp", 3, [[*arguments, *its, "--save", "w.safetensors"]
                                                for its in (better, least, better)])
        self.assertEqual(codes, [0, 0, 0], err)
        self.assertEqual(err, "zero-run: warning: expects all ranks to have one instruction set, got rank 1 to have "
                              "baseline and rank 0 to have avx2; all compute with baseline\n")
        self.assertEqual((self.folder / "w.safetensors").read_bytes(), expected)

    def test_F1_ranks_are_as_many_as_were_launched(self):
        arguments = ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 1, "--ranks", 3]
        for transport in TRANSPORTS:
            source = "WORLD_SIZE" if transport == "tcp" else "OMPI_COMM_WORLD_SIZE"
            with self.subTest(transport=transport):
                self.expect_refused(transport, [arguments] * 2,
                                    "zero-run: error: expects --ranks to be absent, or the 2 processes that "
                                    f"were launched ({source}), got 3", 2)

    def test_F1_what_one_rank_finds_wrong_ends_all(self):
        common = ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 1]
        self.expect_refused("tcp", [common, [*common, "--lr", "fast"]],
                            "zero-run: error: rank 1: expects --lr to be a finite number, got fast", 2)
        wrong = [*common, "--save", "absent/w.safetensors"]  # rank 0 saves
        self.expect_refused("tcp", [wrong, wrong], "rank 0: " + self.alone(*wrong).stderr.strip(), 1)
        # What all find wrong is said once, and as ever.
        self.expect_refused("tcp", [["absent.mlir", *common[1:]]] * 3,
                            "absent.mlir: error: cannot be read: No such file or directory", 1)
        _, _, err = self.run_job("tcp", 2, [common, ["absent.mlir", *common[1:]]])
        self.assertRegex(err, r"^zero-run: error: rank 1 read absent.mlir, rank 0 tiny.mlir \(")

    def test_plans_are_made_once(self):
        codes, out, err = self.run_job("tcp", 2, ["tiny.mlir", "--micro-batch", 2, "--dry-run"])
        self.assertEqual((codes, out.count("ranks          2,")), ([0, 0], 1), err)
        # Any number of ranks can be planned for, whoever started this.
        _, out, _ = self.run_job("tcp", 2, ["tiny.mlir", "--micro-batch", 2, "--dry-run", "--ranks", 64])
        self.assertEqual(out.count("ranks          64,"), 1)

    def test_F1_a_timeout_is_a_number_of_seconds(self):
        for wrong in ("0", "soon"):
            done = self.alone("tiny.mlir", "--micro-batch", 2, "--dry-run", "--rank-timeout", wrong)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, rf"^zero-run: error: expects --rank-timeout .*, got {wrong}\n$")

    def test_buffers_of_messages_are_reported(self):
        arguments = ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 1, "--report", "r.json"]
        codes, out, err = self.run_job("tcp", 2, arguments)
        self.assertEqual(codes, [0, 0], err)
        self.assertIn("\nmessages       8.00 MiB a rank", out)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["message_bytes"], 8 << 20)
        self.alone(*arguments)
        self.assertNotIn("message_bytes", json.loads((self.folder / "r.json").read_text()))

    def checkpointing(self, folder, *more):
        return ["tiny.mlir", "--micro-batch", 2, "--stage", 3, "--bucket-bytes", 64, "--data", "tokens.txt",
                "--checkpoint-dir", folder, "--checkpoint-every", 2, *more]

    def checkpoint(self, path):
        return {file.name: file.read_bytes() for file in (self.folder / path).iterdir()}

    def test_F2_processes_write_the_checkpoints_of_threads(self):
        arguments = ["--steps", 5, "--end-after", 3]
        done = self.alone(*self.checkpointing("T", *arguments), "--ranks", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                codes, _, err = self.run_job(transport, 3, self.checkpointing(transport, *arguments))
                self.assertEqual(set(codes), {0}, err)
                for step in ("step-00000002", "step-00000003"):
                    self.assertEqual(self.checkpoint(f"{transport}/{step}"), self.checkpoint(f"T/{step}"))
        # Each goes on from the other's, and both end on the same.
        resumed = ["--steps", 5, "--resume", "auto"]
        codes, _, err = self.run_job("tcp", 3, self.checkpointing("T", *resumed))
        self.assertEqual(set(codes), {0}, err)
        done = self.alone(*self.checkpointing("tcp", *resumed), "--ranks", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.checkpoint("tcp/step-00000005"), self.checkpoint("T/step-00000005"))

    def test_F2_a_killed_job_goes_on(self):
        job = Job(self.folder, "tcp", 3, self.checkpointing("D", "--steps", 100000000, "--log", "log.jsonl"))
        self.until_steps_are_taken(job)
        while not list((self.folder / "D").glob("step-*")):
            self.assertLess(time.monotonic() - job.begin, PATIENCE)
        os.kill(job.pid(2), signal.SIGKILL)
        job.wait()
        steps = max(int(path.name[5:]) for path in (self.folder / "D").glob("step-*")) + 3
        codes, out, err = self.run_job("tcp", 3, self.checkpointing("D", "--steps", steps, "--resume", "auto"))
        self.assertEqual(set(codes), {0}, err)
        done = self.alone(*self.checkpointing("W", "--steps", steps), "--ranks", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        last = f"step-{steps:08}"
        self.assertEqual(self.checkpoint("D/" + last), self.checkpoint("W/" + last))
        self.assertEqual(sorted(path.name for path in (self.folder / "D").iterdir() if path.name[0] == "."),
                         [".lock"])

    def test_F1_processes_refuse_a_checkpoint_together(self):
        for transport in TRANSPORTS:
            shutil.rmtree(self.folder / "D", ignore_errors=True)
            self.alone(*self.checkpointing("D", "--steps", 4), "--ranks", 2)
            again = [self.checkpointing("D", "--steps", 6)] * 2
            self.expect_refused(transport, again, "D: error: expects --resume auto (or one of the checkpoints there, the "
                                "newest of which is D/step-00000004), or a folder without, got a new run", 1)
            # The second file is for the second process to check.
            path = self.folder / "D/step-00000004/rank-00001.safetensors"
            content = bytearray(path.read_bytes())
            content[-1] ^= 1
            path.write_bytes(content)
            _, _, err = self.run_job(transport, 2, self.checkpointing("E", "--steps", 6, "--resume",
                                                                      "D/step-00000004"))
            self.assertRegex(err, r"^D/step-00000004/rank-00001.safetensors: error: expects tensor '.*' to have "
                                  r"checksum [0-9a-f]+, got [0-9a-f]+ \(was the file changed\?\)\n$")
            # With auto all take the one before.
            codes, out, err = self.run_job(transport, 2, self.checkpointing("D", "--steps", 6, "--resume", "auto"))
            self.assertEqual(set(codes), {0}, err)
            self.assertEqual(err.count("set aside as .damaged-step-00000004"), 1, err)
            self.assertIn("step 3/6", out)

    def test_F1_the_reference_is_one_process(self):
        arguments = ["tiny.mlir", "--micro-batch", 2, "--data", "tokens.txt", "--steps", 1, "--reference"]
        self.expect_refused("tcp", [arguments] * 2,
                            "zero-run: error: expects --reference in one process, got 2", 2)

    def test_F1_variables_that_contradict(self):
        done = subprocess.run([BIN / "zero-run", "tiny.mlir"], cwd=self.folder, text=True, capture_output=True,
                              env={**ENVIRONMENT, "RANK": "2", "WORLD_SIZE": "2"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "zero-run: error: expects RANK below WORLD_SIZE, got 2 and 2\n"))

    def test_F1_mpi_that_is_not_there(self):
        # A copy finds no module beside it.
        shutil.copy(BIN / "zero-run", self.folder / "lonely")
        done = subprocess.run(["./lonely", "tiny.mlir", "--micro-batch", "2", "--data", "tokens.txt", "--steps",
                               "1"], cwd=self.folder, text=True, capture_output=True,
                              env={**ENVIRONMENT, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("zero-run: error: started by an MPI launcher (OMPI_COMM_WORLD_SIZE): expects "
                      "libzero-mpi.so, which is built where MPI is found (libopenmpi-dev)", done.stderr)


if __name__ == "__main__":
    if not MPIRUN:
        print("skipped: the jobs over MPI, since no MPI was found")
    unittest.main(argv=sys.argv[:1])
