"""Runs vernier with the fake backend and watches what becomes of it.

    VERNIER=path/to/vernier VERNIER_FAKE_DIR=folder/of/the/plug-in python3 -m unittest

What the fake backend can be told to do is in tests/fake_backend/behaviour.h.
"""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

VERNIER = os.environ.get("VERNIER", "vernier")
FAKE_DIR = os.environ.get("VERNIER_FAKE_DIR", ".")

# Nothing here may take longer, on however slow a machine.
PATIENCE_S = 60


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """A protobuf field: a varint or length-delimited."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def identity_model(names, dims, tokens=()):
    """ONNX with an Identity node for each name: float32 `name` to `name_out`; a text is a dynamic
    dimension. Those of `tokens` are int64 without the last dimension."""
    def kind(name):
        shape = b"".join(field(1, field(2 if isinstance(d, str) else 1, d))
                         for d in (dims[:-1] if name in tokens else dims))
        return field(2, field(1, field(1, 7 if name in tokens else 1) + field(2, shape)))

    names = [*names, *tokens]
    nodes = b"".join(field(1, field(1, n) + field(2, n + "_out") + field(4, "Identity"))
                     for n in names)
    inputs = b"".join(field(11, field(1, n) + kind(n)) for n in names)
    outputs = b"".join(field(12, field(1, n + "_out") + kind(n)) for n in names)
    graph = nodes + field(2, "faults") + inputs + outputs
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def is_sanitized():
    """Whether vernier was built with AddressSanitizer or ThreadSanitizer."""
    program = pathlib.Path(VERNIER).read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def workers_of(parent):
    """Process ids of the workers of a vernier process."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            ppid = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        if ppid == parent and b"worker" in words:
            found.append(int(entry.name))
    return found


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_until(condition, what, timeout=PATIENCE_S):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s in vain: {what}")
        time.sleep(0.005)


class Ended:
    """How a run ended: exit code, both streams, lines of stderr with their times, peak memory."""

    def __init__(self, code, out, lines, seconds, max_rss):
        self.code = code
        self.out = out
        self.lines = lines
        self.err = "".join(text for _, text in lines)
        self.seconds = seconds
        self.max_rss = max_rss

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.2f} s\n{self.out[-3000:]}\n{self.err[-2000:]}"


class Run:
    """A vernier process that is going on."""

    def __init__(self, arguments, behaviour, note, **options):
        self.note = note
        note.unlink(missing_ok=True)
        environment = dict(os.environ, VERNIER_FAKE=f"{behaviour} note={note}")
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            [VERNIER, "run", *map(str, arguments), "--backend-dir", FAKE_DIR],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, **options)
        self.out = []
        self.lines = []
        self.readers = [threading.Thread(target=self.read_out), threading.Thread(target=self.read_err)]
        for reader in self.readers:
            reader.start()

    def read_out(self):
        for line in self.process.stdout:
            self.out.append(line.decode(errors="replace"))

    def read_err(self):
        for line in self.process.stderr:
            # A flood need not be kept, only counted.
            if len(self.lines) < 10_000:
                self.lines.append((time.monotonic_ns(), line.decode(errors="replace")))

    def wait_for_stage(self, count=1):
        """Until the fake backend has come to its stage so many times."""
        def reached():
            return self.note.exists() and len(self.note.read_text().splitlines()) >= count
        wait_until(reached, f"the fake backend to come to its stage {count} times")

    def death_ns(self):
        """When the fake backend came to its stage, in nanoseconds of the monotonic clock."""
        return int(self.note.read_text().split()[-1])

    def end(self):
        end = time.monotonic() + PATIENCE_S
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("vernier did not end\n" + "".join(self.out[-40:]))
            time.sleep(0.002)
        seconds = time.monotonic() - self.start
        self.process.returncode = os.waitstatus_to_exitcode(status)
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return Ended(self.process.returncode, "".join(self.out), self.lines, seconds,
                     usage.ru_maxrss * 1024)


class FaultTest(unittest.TestCase):
    """A folder of its own, a model, and helpers to run vernier."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="vernier-faults-")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.notes = self.folder / "notes"
        self.notes.mkdir()
        self.model = self.write_model("model.onnx", ["x"], [2, 3])

    def write_model(self, name, inputs, dims, tokens=()):
        path = self.folder / name
        path.write_bytes(identity_model(inputs, dims, tokens))
        return path

    def begin(self, *arguments, behaviour="", model=None, **options):
        return Run([model or self.model, *arguments], behaviour, self.notes / "note", **options)

    def run_pair(self, *arguments, behaviour="", model=None, **options):
        """The runners `good` (identity) and `bad` (fake)."""
        return self.begin("--runner", "good=identity", "--runner", "bad=fake", *arguments,
                          behaviour=behaviour, model=model, **options).end()

    def assert_failed_line(self, ended, *words, runner="bad"):
        """One line on stderr that names the runner and says every word."""
        for time_ns, line in ended.lines:
            if line.startswith(f"[!] {runner} ") and all(word in line for word in words):
                return time_ns
        raise AssertionError(f"no line on stderr names {runner} and says {words}\n{ended}")

    def saved_iterations(self, path):
        """Iterations by runner in a saved JSON, which must load in vernier, too."""
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        loaded = subprocess.run([VERNIER, "run", "--load-outputs", str(path)],
                                capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertIn(loaded.returncode, (0, 4), loaded.stdout + loaded.stderr)
        return {name: len(iterations) for name, iterations in document["lst"]}

    def assert_gone(self, pids):
        for pid in pids:
            wait_until(lambda pid=pid: not alive(pid), f"worker {pid} should end", timeout=5)


def interrupt(run, number=signal.SIGINT):
    run.process.send_signal(number)
    return time.monotonic()
