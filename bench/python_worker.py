#!/usr/bin/env python3
"""How fast workers are: start, round trip of an empty feed, a large tensor through identity.

    VENV/bin/python bench/python_worker.py [--megabytes N] [--rounds N] [--vernier PROGRAM]

Needs NumPy. The worker runs in the same interpreter; this file is its parent, in the place of
vernier, so that the figures are the worker's alone.
"""

import argparse
import fcntl
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "libexec" / "vernier"))

import numpy as np  # noqa: E402

from vernier_worker import runner, tensors, wire  # noqa: E402

GOALS = {"start": "<= 120 ms", "round trip": "<= 0.3 ms", "native round trip": "<= 0.05 ms",
         "tensor": ">= 2 GB/s"}
# An input without tensors is answered with one number; a large one is handed on, or made anew.
IDENTITY = """import numpy as np
def infer(feed):
    if "new" in feed:
        return {"x": feed["new"].copy()}
    return feed or {"none": np.zeros(1)}
"""


class Worker:
    """A worker and the connection to it."""

    def __init__(self, plugin=None, vernier=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        words = [sys.executable, str(ROOT / "libexec/vernier/worker.py"), str(theirs.fileno())]
        if plugin is not None:
            words = [str(vernier), "worker", str(theirs.fileno()), str(os.getpid())]
        begin = time.perf_counter()
        self.process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        theirs.close()
        self.channel = wire.Channel(ours.detach())
        request = wire.Writer()
        request.u64(0 if plugin is None else 1)
        if plugin is not None:
            request.text(str(plugin))
        request.u64(0)  # options
        self.call(wire.LOAD, request)
        self.start_seconds = time.perf_counter() - begin

    def call(self, kind, request, memory=None):
        self.channel.send(kind, request.finish(), memory)
        kind, body, memory = self.channel.receive()
        while kind == wire.LOG:
            kind, body, memory = self.channel.receive()
        if int.from_bytes(body[:4], sys.byteorder) != wire.OK:
            reader = wire.Reader(body)
            reader.at = 4
            sys.exit(reader.text())
        return memory

    def open(self, script, inputs=()):
        """`inputs` are (name, code of the type, dims), which the identity plug-in takes."""
        request = wire.Writer()
        request.u64(0)
        request.text("")
        request.u64(0)
        request.text("")
        runner.write_infos(inputs, request)
        request.u64(0)
        request.u64(1)
        request.text("script")
        request.text(script)
        self.call(wire.OPEN, request)

    def seconds_of(self, feed, rounds):
        description, memory = tensors.encode(feed, "input")
        seconds = []
        for _ in range(rounds):
            request = wire.Writer()
            request.u64(0)
            request.raw(description)
            begin = time.perf_counter()
            answered = self.call(wire.RUN, request, memory)
            seconds.append(time.perf_counter() - begin)
            if answered is not None:
                self.give_back(answered)
        return seconds

    def give_back(self, memory):
        """As vernier does with outputs that have been read."""
        request = wire.Writer()
        request.u64(1)
        request.u64(os.fstat(memory).st_ino)
        is_lent = fcntl.fcntl(memory, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE == 0
        os.close(memory)
        if is_lent:
            self.channel.send(wire.TAKE_BACK, request.finish())

    def close(self):
        self.channel.socket.close()
        self.process.wait()


def as_line(name, values, unit, goal):
    return (f"{name:28} {statistics.median(values):8.3f} {unit:5} "
            f"[{min(values):.3f} - {max(values):.3f}]   goal {goal or 'none'}")


def as_json(name, values, unit, goal):
    return json.dumps({"what": name, "values": values, "unit": unit, "goal": goal})


def measure_native(options, array, say):
    """The same of `vernier worker` with the identity plug-in, where they have been built."""
    program = pathlib.Path(options.vernier).resolve()
    plugin = program.parents[1] / "lib/vernier/backends/libvernier_backend_identity.so"
    if not plugin.exists():
        sys.stderr.write(f"native worker: not measured, '{plugin}' has not been built\n")
        return
    starts = []
    for _ in range(options.rounds):
        worker = Worker(plugin, program)
        starts.append(worker.start_seconds * 1e3)
        worker.close()
    say("native: start", starts, "ms", GOALS["start"])
    worker = Worker(plugin, program)
    worker.open("", [("x", tensors.CODES["float64"], [-1])])
    trips = [s * 1e3 for s in worker.seconds_of([("x", array[:0])], 5000)]
    say("native: empty feed", trips, "ms", GOALS["native round trip"])
    speeds = [array.nbytes / s / 1e9 for s in worker.seconds_of([("x", array)], options.rounds)]
    say(f"native: {options.megabytes} MB", speeds, "GB/s", "")
    worker.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--vernier", default=str(ROOT / "build/release/bin/vernier"))
    parser.add_argument("--json", action="store_true", help="one object for each figure")
    options = parser.parse_args()
    form = as_json if options.json else as_line

    def say(*figure):
        print(form(*figure), flush=True)

    starts = []
    for _ in range(options.rounds):
        worker = Worker()
        starts.append(worker.start_seconds * 1e3)
        worker.close()
    say("start, without frameworks", starts, "ms", GOALS["start"])
    worker = Worker()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(IDENTITY)
        script.flush()
        worker.open(script.name)
        trips = [s * 1e3 for s in worker.seconds_of([], 2000)]
        say("round trip of an empty feed", trips, "ms", GOALS["round trip"])
        array = np.random.default_rng(1).random(options.megabytes * 10**6 // 8)
        speeds = [array.nbytes / s / 1e9 for s in worker.seconds_of([("x", array)], options.rounds)]
        say(f"{options.megabytes} MB through identity", speeds, "GB/s", GOALS["tensor"])
        seconds = worker.seconds_of([("new", array)], options.rounds)
        # With a copy by the script itself.
        say(f"{options.megabytes} MB, made anew", [array.nbytes / s / 1e9 for s in seconds], "GB/s",
            GOALS["tensor"])
    worker.close()
    measure_native(options, array, say)
    if options.json:
        return
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, "
          f"Python {sys.version.split()[0]}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
